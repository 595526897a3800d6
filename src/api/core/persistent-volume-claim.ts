import {
  type Condition,
  checkDns1123Subdomain,
  clone,
  compareQuantities,
  deepEqual,
  type FieldError,
  fieldError,
  type JsonObject,
  type KubeObject,
  type LabelSelectorObject,
  parseQuantity,
  quantityFormatText,
  type Resource,
  type ResourceDefinition,
  validateImmutable,
  validateLabelSelector,
} from '../../machinery/index.ts';
import { canonicalizeRequirements, canonicalizeResources, setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn, wideColumn } from '../common/printing.ts';
import { invalid, validateEnum } from '../common/validation.ts';
import { accessModeNames, formatAccessModes, validateAccessModes, validateVolumeMode } from './access-modes.ts';

export interface PersistentVolumeClaim extends KubeObject {
  spec: PersistentVolumeClaimSpec;
  status?: {
    phase?: string;
    accessModes?: string[];
    capacity?: Record<string, string>;
    conditions?: Condition[];
    currentVolumeAttributesClassName?: string;
  };
}

export interface PersistentVolumeClaimSpec {
  accessModes?: string[];
  selector?: LabelSelectorObject;
  resources?: { limits?: Record<string, string>; requests?: Record<string, string> };
  volumeName?: string;
  storageClassName?: string;
  volumeMode?: string;
  dataSource?: JsonObject;
  dataSourceRef?: JsonObject;
  volumeAttributesClassName?: string;
}

/** Annotation from before storageClassName existed; it still takes precedence. */
export const storageClassAnnotation = 'volume.beta.kubernetes.io/storage-class';

export function defaultClaimSpec(spec: PersistentVolumeClaimSpec): void {
  setDefault(spec, 'volumeMode', 'Filesystem');
  setDefault(spec, 'resources', {});
  canonicalizeRequirements(spec.resources);
}

export function validateClaimSpec(spec: PersistentVolumeClaimSpec, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const modes = spec.accessModes ?? [];
  if (modes.length === 0) errors.push(fieldError.required(`${path}.accessModes`, 'at least 1 access mode is required'));
  errors.push(...validateLabelSelector(spec.selector, `${path}.selector`));
  errors.push(...validateAccessModes(modes, `${path}.accessModes`));
  const storage = spec.resources?.requests?.['storage'];
  const storagePath = `${path}.resources[storage]`;
  if (storage === undefined) errors.push(fieldError.required(storagePath));
  else {
    const quantity = parseQuantity(storage);
    if (!quantity) errors.push(fieldError.invalid(storagePath, storage, quantityFormatText));
    else if (quantity.nanos <= 0n) {
      errors.push(fieldError.invalid(storagePath, storage, 'must be greater than zero'));
    } else if (quantity.nanos % 1_000_000_000n !== 0n) {
      errors.push(fieldError.invalid(storagePath, storage, 'must be an integer'));
    }
  }
  for (const field of ['storageClassName', 'volumeAttributesClassName'] as const) {
    const name = spec[field];
    if (name) errors.push(...invalid(`${path}.${field}`, name, checkDns1123Subdomain(name)));
  }
  errors.push(...validateVolumeMode(spec.volumeMode, `${path}.volumeMode`));
  return errors;
}

function validateUpdate(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] {
  const errors = validateClaimSpec(claim.spec, 'spec');
  const spec = clone(claim.spec);
  const oldSpec = clone(old.spec);
  // The binder sets the volume once.
  if (!oldSpec.volumeName && spec.volumeName) oldSpec.volumeName = spec.volumeName;
  // A claim that waited for a default class may get one later.
  if (oldSpec.storageClassName === undefined && spec.storageClassName) oldSpec.storageClassName = spec.storageClassName;
  if (claim.status?.phase === 'Bound') {
    const size = oldSpec.resources?.requests?.['storage'];
    if (spec.resources?.requests && size !== undefined) spec.resources.requests['storage'] = size;
    if (oldSpec.volumeAttributesClassName === undefined) delete spec.volumeAttributesClassName;
    else spec.volumeAttributesClassName = oldSpec.volumeAttributesClassName;
  }
  if (!deepEqual(spec, oldSpec)) {
    errors.push(
      fieldError.forbidden(
        'spec',
        'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n',
      ),
    );
  }
  const newSize = claim.spec.resources?.requests?.['storage'];
  const oldSize = old.spec.resources?.requests?.['storage'];
  const granted = old.status?.capacity?.['storage'];
  if (compareQuantities(newSize, oldSize) < 0 && compareQuantities(newSize, granted) <= 0) {
    errors.push(fieldError.forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity'));
  }
  errors.push(...validateImmutable(claim.spec.volumeMode, old.spec.volumeMode, 'volumeMode'));
  return errors;
}

export const persistentVolumeClaimDefinition: ResourceDefinition = defineBuiltin<PersistentVolumeClaim>({
  group: '',
  version: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  shortNames: ['pvc'],
  namespaced: true,
  component: 'io.k8s.api.core.v1.PersistentVolumeClaim',
  hasStatus: true,
  noGeneration: true,
  columns: [
    nameColumn,
    column('Status'),
    column('Volume'),
    column('Capacity'),
    column('Access Modes'),
    column('StorageClass'),
    column('VolumeAttributesClass'),
    ageColumn,
    wideColumn('VolumeMode'),
  ],
  row(claim, nowMs) {
    const { spec, status = {}, metadata } = claim;
    const bound = Boolean(spec.volumeName);
    return [
      metadata.name ?? '',
      metadata.deletionTimestamp ? 'Terminating' : (status.phase ?? ''),
      spec.volumeName ?? '',
      bound ? (status.capacity?.['storage'] ?? '0') : '',
      bound ? formatAccessModes(status.accessModes) : '',
      metadata.annotations?.[storageClassAnnotation] ?? spec.storageClassName ?? '',
      spec.volumeAttributesClassName ?? '<unset>',
      age(claim, nowMs),
      spec.volumeMode ?? '<unset>',
    ];
  },
  applyDefaults(claim) {
    setDefault(claim, 'spec', {});
    defaultClaimSpec(claim.spec);
    setDefault(setDefault(claim, 'status', {}), 'phase', 'Pending');
    canonicalizeResources(claim.status?.capacity);
  },
  prepareForCreate(claim) {
    claim.status = { phase: 'Pending' };
    const { dataSource, dataSourceRef } = claim.spec;
    if (dataSource && !dataSourceRef) claim.spec.dataSourceRef = clone(dataSource);
    else if (dataSourceRef && !dataSource && dataSourceRef['namespace'] === undefined) {
      claim.spec.dataSource = clone(dataSourceRef);
    }
  },
  validateCreate: (claim) => validateClaimSpec(claim.spec, 'spec'),
  validateUpdate,
  validateStatusUpdate: (claim) =>
    (claim.status?.accessModes ?? []).flatMap((mode) => validateEnum(mode, accessModeNames, 'status.accessModes')),
});

export const PersistentVolumeClaims: Resource<PersistentVolumeClaim> = resourceOf<PersistentVolumeClaim>(
  persistentVolumeClaimDefinition,
);
