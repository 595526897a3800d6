import {
  canonicalQuantity,
  checkDns1123Subdomain,
  deepEqual,
  type FieldError,
  fieldError,
  formatTime,
  type JsonObject,
  type KubeObject,
  parseQuantity,
  quantityFormatText,
  type Resource,
  type ResourceDefinition,
  validateImmutable,
} from '../../machinery/index.ts';
import { canonicalizeResources, setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn, wideColumn } from '../common/printing.ts';
import { invalid, notSupported, validateEnum } from '../common/validation.ts';
import { formatAccessModes, validateAccessModes, validateVolumeMode } from './access-modes.ts';
import { storageClassAnnotation } from './persistent-volume-claim.ts';
import { defaultStorageVolume } from './pod-defaults.ts';
import type { Volume } from './pod-types.ts';

export interface PersistentVolume extends KubeObject {
  spec: PersistentVolumeSpec;
  status?: { phase?: string; reason?: string; message?: string; lastPhaseTransitionTime?: string };
}

export interface PersistentVolumeSpec {
  capacity?: Record<string, string>;
  accessModes?: string[];
  claimRef?: { namespace?: string; name?: string; uid?: string; [field: string]: unknown };
  persistentVolumeReclaimPolicy?: string;
  storageClassName?: string;
  mountOptions?: string[];
  volumeMode?: string;
  nodeAffinity?: JsonObject;
  volumeAttributesClassName?: string;
  hostPath?: { path: string; type?: string };
  csi?: { driver: string; volumeHandle: string; [field: string]: unknown };
  nfs?: { server: string; path: string; readOnly?: boolean };
  local?: { path: string; fsType?: string };
  [source: string]: unknown;
}

const notSources = new Set([
  'capacity',
  'accessModes',
  'claimRef',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'mountOptions',
  'volumeMode',
  'nodeAffinity',
  'volumeAttributesClassName',
]);

function sourcesOf(spec: PersistentVolumeSpec): Record<string, unknown> {
  return Object.fromEntries(Object.entries(spec).filter(([key, value]) => !notSources.has(key) && value !== undefined));
}

function validate(volume: PersistentVolume): FieldError[] {
  const spec = volume.spec;
  const errors: FieldError[] = [];
  const modes = spec.accessModes ?? [];
  if (modes.length === 0) errors.push(fieldError.required('spec.accessModes'));
  errors.push(...validateAccessModes(modes, 'spec.accessModes'));
  const capacity = spec.capacity ?? {};
  const names = Object.keys(capacity);
  if (names.length === 0) errors.push(fieldError.required('spec.capacity'));
  if (capacity['storage'] === undefined || names.length > 1) {
    errors.push(notSupported('spec.capacity', spec.capacity ?? null, ['storage']));
  }
  for (const name of names) {
    const quantity = parseQuantity(capacity[name]);
    const path = `spec.capacity[${name}]`;
    if (!quantity) errors.push(fieldError.invalid(path, capacity[name], quantityFormatText));
    else if (quantity.nanos <= 0n) {
      errors.push(fieldError.invalid(path, canonicalQuantity(capacity[name]), 'must be greater than zero'));
    }
  }
  const policies = ['Delete', 'Recycle', 'Retain'];
  errors.push(...validateEnum(spec.persistentVolumeReclaimPolicy, policies, 'spec.persistentVolumeReclaimPolicy'));
  const sources = Object.keys(sourcesOf(spec));
  if (sources.length === 0) errors.push(fieldError.required('spec', 'must specify a volume type'));
  for (const extra of sources.slice(1)) {
    errors.push(fieldError.forbidden(`spec.${extra}`, 'may not specify more than 1 volume type'));
  }
  if (spec.local && !spec.nodeAffinity) {
    errors.push(fieldError.required('spec.nodeAffinity', 'Local volume requires node affinity'));
  }
  if (spec.hostPath && !spec.hostPath.path) errors.push(fieldError.required('spec.hostPath.path'));
  if (spec.csi) {
    if (!spec.csi.driver) errors.push(fieldError.required('spec.csi.driver'));
    if (!spec.csi.volumeHandle) errors.push(fieldError.required('spec.csi.volumeHandle'));
  }
  if (spec.storageClassName) {
    errors.push(
      ...invalid('spec.storageClassName', spec.storageClassName, checkDns1123Subdomain(spec.storageClassName)),
    );
  }
  errors.push(...validateVolumeMode(spec.volumeMode, 'spec.volumeMode'));
  return errors;
}

function validateUpdate(volume: PersistentVolume, old: PersistentVolume): FieldError[] {
  const errors = validate(volume);
  if (!deepEqual(sourcesOf(volume.spec), sourcesOf(old.spec))) {
    const text = 'spec.persistentvolumesource is immutable after creation\n';
    errors.push(fieldError.forbidden('spec.persistentvolumesource', text));
  }
  errors.push(...validateImmutable(volume.spec.volumeMode, old.spec.volumeMode, 'volumeMode'));
  if (old.spec.nodeAffinity !== undefined) {
    errors.push(...validateImmutable(volume.spec.nodeAffinity, old.spec.nodeAffinity, 'nodeAffinity'));
  }
  return errors;
}

export const persistentVolumeDefinition: ResourceDefinition = defineBuiltin<PersistentVolume>({
  group: '',
  version: 'v1',
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  shortNames: ['pv'],
  namespaced: false,
  component: 'io.k8s.api.core.v1.PersistentVolume',
  hasStatus: true,
  noGeneration: true,
  columns: [
    nameColumn,
    column('Capacity'),
    column('Access Modes'),
    column('Reclaim Policy'),
    column('Status'),
    column('Claim'),
    column('StorageClass'),
    column('VolumeAttributesClass'),
    column('Reason'),
    ageColumn,
    wideColumn('VolumeMode'),
  ],
  row(volume, nowMs) {
    const { spec, status = {}, metadata } = volume;
    const claim = spec.claimRef;
    return [
      metadata.name ?? '',
      spec.capacity?.['storage'] ?? '0',
      formatAccessModes(spec.accessModes),
      spec.persistentVolumeReclaimPolicy ?? '',
      metadata.deletionTimestamp ? 'Terminating' : (status.phase ?? ''),
      claim ? `${claim.namespace ?? ''}/${claim.name ?? ''}` : '',
      metadata.annotations?.[storageClassAnnotation] ?? spec.storageClassName ?? '',
      spec.volumeAttributesClassName ?? '<unset>',
      status.reason ?? '',
      age(volume, nowMs),
      spec.volumeMode ?? '<unset>',
    ];
  },
  selectableFields: { name: (volume) => volume.metadata.name ?? '' },
  applyDefaults(volume) {
    setDefault(volume, 'spec', {});
    setDefault(volume.spec, 'persistentVolumeReclaimPolicy', 'Retain');
    setDefault(volume.spec, 'volumeMode', 'Filesystem');
    if (volume.spec.hostPath) setDefault(volume.spec.hostPath, 'type', '');
    defaultStorageVolume(volume.spec as Pick<Volume, 'iscsi' | 'rbd' | 'azureDisk' | 'scaleIO'>);
    canonicalizeResources(volume.spec.capacity);
    setDefault(setDefault(volume, 'status', {}), 'phase', 'Pending');
  },
  prepareForCreate(volume, context) {
    volume.status = { phase: 'Pending', lastPhaseTransitionTime: formatTime(context.nowMs) };
  },
  prepareForStatusUpdate(volume, old, context) {
    if (volume.status && volume.status.phase !== old.status?.phase) {
      volume.status.lastPhaseTransitionTime = formatTime(context.nowMs);
    }
  },
  validateCreate: validate,
  validateUpdate,
});

export const PersistentVolumes: Resource<PersistentVolume> = resourceOf<PersistentVolume>(persistentVolumeDefinition);
