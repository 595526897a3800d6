import {
  canonicalQuantity,
  checkDns1123Subdomain,
  type FieldError,
  type KubeObject,
  type LabelSelectorObject,
  type Resource,
  type ResourceDefinition,
  validateImmutable,
  validateLabelSelector,
} from '../../machinery/index.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { createdAtColumns, createdAtRow } from '../common/printing.ts';
import { invalid, validateNonNegativeQuantity } from '../common/validation.ts';

export interface CsiStorageCapacity extends KubeObject {
  storageClassName: string;
  nodeTopology?: LabelSelectorObject;
  capacity?: string;
  maximumVolumeSize?: string;
}

function validate(object: CsiStorageCapacity): FieldError[] {
  const name = object.storageClassName ?? '';
  const errors = validateLabelSelector(object.nodeTopology, 'nodeTopology');
  errors.push(...invalid('storageClassName', name, checkDns1123Subdomain(name)));
  for (const field of ['capacity', 'maximumVolumeSize'] as const) {
    if (object[field] !== undefined) errors.push(...validateNonNegativeQuantity(object[field], field));
  }
  return errors;
}

export const csiStorageCapacityDefinition: ResourceDefinition = defineBuiltin<CsiStorageCapacity>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSIStorageCapacity',
  plural: 'csistoragecapacities',
  namespaced: true,
  component: 'io.k8s.api.storage.v1.CSIStorageCapacity',
  conditionalUpdatesOnly: true,
  noGeneration: true,
  columns: createdAtColumns,
  row: createdAtRow,
  applyDefaults(object) {
    for (const field of ['capacity', 'maximumVolumeSize'] as const) {
      const canonical = canonicalQuantity(object[field]);
      if (canonical !== undefined) object[field] = canonical;
    }
  },
  validateCreate: validate,
  validateUpdate: (object, old) => [
    ...validate(object),
    ...validateImmutable(object.nodeTopology, old.nodeTopology, 'nodeTopology'),
    ...validateImmutable(object.storageClassName, old.storageClassName, 'storageClassName'),
  ],
});

export const CsiStorageCapacities: Resource<CsiStorageCapacity> =
  resourceOf<CsiStorageCapacity>(csiStorageCapacityDefinition);
