import {
  checkDns1123Subdomain,
  deepEqual,
  type FieldError,
  fieldError,
  type JsonObject,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn } from '../common/printing.ts';
import { invalid } from '../common/validation.ts';
import { validateDriverName } from './storage-class.ts';

export interface VolumeAttachment extends KubeObject {
  spec: {
    attacher: string;
    nodeName: string;
    source: { persistentVolumeName?: string; inlineVolumeSpec?: JsonObject };
  };
  status?: {
    attached?: boolean;
    attachmentMetadata?: Record<string, string>;
    attachError?: JsonObject;
    detachError?: JsonObject;
  };
}

function validate({ spec }: VolumeAttachment): FieldError[] {
  const errors = validateDriverName(spec.attacher, 'spec.attacher');
  const { persistentVolumeName, inlineVolumeSpec } = spec.source ?? {};
  const text = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  if (persistentVolumeName === undefined && !inlineVolumeSpec) errors.push(fieldError.required('spec.source', text));
  if (persistentVolumeName !== undefined && inlineVolumeSpec) errors.push(fieldError.forbidden('spec.source', text));
  if (persistentVolumeName === '') {
    const detail = 'must specify non empty persistentVolumeName';
    errors.push(fieldError.required('spec.source.persistentVolumeName', detail));
  }
  errors.push(...invalid('spec.nodeName', spec.nodeName ?? '', checkDns1123Subdomain(spec.nodeName ?? '')));
  return errors;
}

export const volumeAttachmentDefinition: ResourceDefinition = defineBuiltin<VolumeAttachment>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'VolumeAttachment',
  plural: 'volumeattachments',
  namespaced: false,
  component: 'io.k8s.api.storage.v1.VolumeAttachment',
  conditionalUpdatesOnly: true,
  hasStatus: true,
  noGeneration: true,
  columns: [
    nameColumn,
    { ...column('Attacher'), format: 'name' },
    column('PV'),
    column('Node'),
    column('Attached', 'boolean'),
    ageColumn,
  ],
  row: (attachment, nowMs) => [
    attachment.metadata.name ?? '',
    attachment.spec.attacher ?? '',
    attachment.spec.source?.persistentVolumeName ?? '',
    attachment.spec.nodeName ?? '',
    attachment.status?.attached ?? false,
    age(attachment, nowMs),
  ],
  applyDefaults(attachment) {
    setDefault(attachment, 'spec', { attacher: '', nodeName: '', source: {} });
    setDefault(setDefault(attachment, 'status', {}), 'attached', false);
  },
  prepareForCreate(attachment) {
    attachment.status = { attached: false };
  },
  validateCreate: validate,
  validateUpdate: (attachment, old) =>
    deepEqual(attachment.spec, old.spec) ? [] : [fieldError.invalid('spec', attachment.spec, 'field is immutable')],
});

export const VolumeAttachments: Resource<VolumeAttachment> = resourceOf<VolumeAttachment>(volumeAttachmentDefinition);
