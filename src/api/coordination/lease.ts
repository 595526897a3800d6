import {
  type FieldError,
  fieldError,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
  validateNonNegative,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn } from '../common/printing.ts';

export interface Lease extends KubeObject {
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string | null;
    renewTime?: string | null;
    leaseTransitions?: number;
    strategy?: string;
    preferredHolder?: string;
  };
}

function validate(lease: Lease): FieldError[] {
  const spec = lease.spec ?? {};
  const errors: FieldError[] = [];
  if (spec.leaseDurationSeconds !== undefined && spec.leaseDurationSeconds <= 0) {
    errors.push(fieldError.invalid('spec.leaseDurationSeconds', spec.leaseDurationSeconds, 'must be greater than 0'));
  }
  errors.push(...validateNonNegative(spec.leaseTransitions, 'spec.leaseTransitions'));
  return errors;
}

export const leaseDefinition: ResourceDefinition = defineBuiltin<Lease>({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
  component: 'io.k8s.api.coordination.v1.Lease',
  conditionalUpdatesOnly: true,
  noGeneration: true,
  allowCreateOnUpdate: true,
  columns: [nameColumn, column('Holder'), ageColumn],
  row: (lease, nowMs) => [lease.metadata.name ?? '', lease.spec?.holderIdentity ?? '', age(lease, nowMs)],
  applyDefaults(lease) {
    setDefault(lease, 'spec', {});
  },
  validateCreate: validate,
  validateUpdate: validate,
});

export const Leases: Resource<Lease> = resourceOf<Lease>(leaseDefinition);
