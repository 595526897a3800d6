import {
  checkDns1123Subdomain,
  checkQualifiedName,
  deepEqual,
  type FieldError,
  fieldError,
  type JsonObject,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
  validateImmutable,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn } from '../common/printing.ts';
import { invalid, validateEnum, validateRequiredEnum } from '../common/validation.ts';

export interface StorageClass extends KubeObject {
  provisioner?: string;
  parameters?: Record<string, string>;
  reclaimPolicy?: string;
  mountOptions?: string[];
  allowVolumeExpansion?: boolean;
  volumeBindingMode?: string;
  allowedTopologies?: JsonObject[];
}

/** Tells whether claims without a class get this class. */
export function isDefaultStorageClass(object: StorageClass): boolean {
  const annotations = object.metadata.annotations ?? {};
  return (
    annotations['storageclass.kubernetes.io/is-default-class'] === 'true' ||
    annotations['storageclass.beta.kubernetes.io/is-default-class'] === 'true'
  );
}

/** Names of provisioners follow the rules of label keys, in any case. */
export function validateProvisioner(name: string | undefined, path: string): FieldError[] {
  if (!name) return [fieldError.required(path, '')];
  return invalid(path, name, checkQualifiedName(name.toLowerCase()));
}

/** Names of CSI drivers are domain names of at most 63 characters, in any case. */
export function validateDriverName(name: string | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!name) errors.push(fieldError.required(path));
  else if (name.length > 63) errors.push(fieldError.tooLong(path, name, 63));
  errors.push(...invalid(path, name ?? '', checkDns1123Subdomain((name ?? '').toLowerCase())));
  return errors;
}

function validateParameters(parameters: Record<string, string> | undefined): FieldError[] {
  const errors: FieldError[] = [];
  const keys = Object.keys(parameters ?? {});
  if (keys.length > 512) errors.push(fieldError.tooLong('parameters', '', 512));
  let size = 0;
  for (const key of keys) {
    if (key === '') errors.push(fieldError.invalid('parameters', key, 'field can not be empty.'));
    size += key.length + (parameters?.[key]?.length ?? 0);
  }
  if (size > 256 * 1024) errors.push(fieldError.tooLong('parameters', '', 256 * 1024));
  return errors;
}

function validate(object: StorageClass): FieldError[] {
  return [
    ...validateProvisioner(object.provisioner, 'provisioner'),
    ...validateParameters(object.parameters),
    ...validateEnum(object.reclaimPolicy, ['Delete', 'Retain'], 'reclaimPolicy'),
    ...validateRequiredEnum(object.volumeBindingMode, ['Immediate', 'WaitForFirstConsumer'], 'volumeBindingMode'),
  ];
}

function validateUpdate(object: StorageClass, old: StorageClass): FieldError[] {
  const errors: FieldError[] = [];
  if (!deepEqual(object.parameters ?? {}, old.parameters ?? {})) {
    errors.push(fieldError.forbidden('parameters', 'updates to parameters are forbidden.'));
  }
  if (object.provisioner !== old.provisioner) {
    errors.push(fieldError.forbidden('provisioner', 'updates to provisioner are forbidden.'));
  }
  if (object.reclaimPolicy !== old.reclaimPolicy) {
    errors.push(fieldError.forbidden('reclaimPolicy', 'updates to reclaimPolicy are forbidden.'));
  }
  errors.push(...validateImmutable(object.volumeBindingMode, old.volumeBindingMode, 'volumeBindingMode'));
  return errors;
}

export const storageClassDefinition: ResourceDefinition = defineBuiltin<StorageClass>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'StorageClass',
  plural: 'storageclasses',
  shortNames: ['sc'],
  namespaced: false,
  component: 'io.k8s.api.storage.v1.StorageClass',
  noGeneration: true,
  columns: [
    nameColumn,
    column('Provisioner'),
    column('ReclaimPolicy'),
    column('VolumeBindingMode'),
    column('AllowVolumeExpansion'),
    ageColumn,
  ],
  row: (object, nowMs) => [
    `${object.metadata.name ?? ''}${isDefaultStorageClass(object) ? ' (default)' : ''}`,
    object.provisioner ?? '',
    object.reclaimPolicy ?? 'Delete',
    object.volumeBindingMode ?? 'Immediate',
    object.allowVolumeExpansion ?? false,
    age(object, nowMs),
  ],
  applyDefaults(object) {
    setDefault(object, 'reclaimPolicy', 'Delete');
    setDefault(object, 'volumeBindingMode', 'Immediate');
  },
  validateCreate: validate,
  validateUpdate: (object, old) => [...validate(object), ...validateUpdate(object, old)],
});

export const StorageClasses: Resource<StorageClass> = resourceOf<StorageClass>(storageClassDefinition);
