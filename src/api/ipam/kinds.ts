import {
  deepEqual,
  type FieldError,
  fieldError,
  ipFamily,
  isJsonObject,
  type ResourceStrategy,
} from '../../machinery/index.ts';
import {
  conditions,
  contractReference,
  deprecatedConditions,
  dnsSubdomainPattern,
  text,
} from '../cluster/common-schema.ts';
import { contractLabels } from '../kind/contract-labels.ts';
import { defineKind, type Kind } from '../kind/define.ts';
import { field, fields, type Mapping } from '../kind/mapping.ts';
import { ageColumn, textColumn } from '../kind/printer.ts';
import { type Field, int32, integer, object, once, string, type UntypedField } from '../kind/schema.ts';
import { conditionMappings } from '../kind/values.ts';
import type { IPAddress, IPAddressClaim, IPAddressClaimSpec, IPAddressClaimStatus, IPAddressSpec } from './types.ts';

export const ipamGroup = 'ipam.cluster.x-k8s.io';

const labels = contractLabels('cluster-api');
const poolColumns = [textColumn('Pool Name', '.spec.poolRef.name'), textColumn('Pool Kind', '.spec.poolRef.kind')];

const poolDescription = 'Pool the address comes from.';
const atomic = { 'x-kubernetes-map-type': 'atomic' } as const;
const oldPoolReference = (): Field<{ apiGroup?: string; kind: string; name: string }> =>
  object(
    {
      apiGroup: string('API group of the pool.'),
      kind: string('Kind of the pool.').required(),
      name: string('Name of the pool.').required(),
    },
    poolDescription,
    atomic,
  );
const nameReference = (description: string): Field<{ name: string }> =>
  object(
    {
      name: string('Name of the object.', { minLength: 1, maxLength: 253, pattern: dnsSubdomainPattern }).required(),
    },
    description,
  );
const oldNameReference = (description: string): Field<{ name?: string }> =>
  object({ name: string('Name of the object.').default('') }, description, atomic);

const clusterName = (): Field<string> => text('Name of the Cluster the address is for.', 63);

const claimSpec: () => Field<IPAddressClaimSpec> = once(() =>
  object({ clusterName: clusterName(), poolRef: contractReference(poolDescription).required() }, 'Desired state.'),
);
const claimSpecV1beta1: () => UntypedField = once(() =>
  object({ clusterName: clusterName(), poolRef: oldPoolReference().required() }, 'Desired state.'),
);
const claimSpecV1alpha1: () => UntypedField = once(() =>
  object({ poolRef: oldPoolReference().required() }, 'Desired state.'),
);

const addressDescription = 'The assigned address.';
const claimStatus: () => Field<IPAddressClaimStatus> = once(() =>
  object(
    {
      conditions: conditions(32),
      addressRef: nameReference(addressDescription),
      deprecated: object(
        { v1beta1: object({ conditions: deprecatedConditions() }, 'Status in the form of v1beta1.') },
        'Kept for old clients.',
      ),
    },
    'Observed state.',
    { minProperties: 1 },
  ),
);
const oldStatusFields = () => ({
  addressRef: oldNameReference(addressDescription),
  conditions: deprecatedConditions(),
});
const claimStatusV1beta1: () => UntypedField = once(() =>
  object(
    { ...oldStatusFields(), v1beta2: object({ conditions: conditions(32) }, 'Status fields of v1beta2.') },
    'Observed state.',
  ),
);
const claimStatusV1alpha1: () => UntypedField = once(() => object(oldStatusFields(), 'Observed state.'));

/** Drops references without a name. */
const namedOnly: Mapping = {
  up: (value) => (isJsonObject(value) && value['name'] !== '' && value['name'] !== undefined ? value : undefined),
  down: (value) => value,
};

const claimMapping: Mapping = fields(
  field('status', 'status', fields(...conditionMappings, field('addressRef', 'addressRef', namedOnly))),
);

/** The pool and the address are immutable. */
function fixedSpec(kind: string): (object: { spec?: unknown }, old: { spec?: unknown }) => FieldError[] {
  return (object, old) =>
    deepEqual(object.spec, old.spec) ? [] : [fieldError.forbidden('spec', `${kind} spec is immutable`)];
}

export const ipAddressClaimKind: Kind<IPAddressClaim> = defineKind<IPAddressClaim>({
  group: ipamGroup,
  kind: 'IPAddressClaim',
  plural: 'ipaddressclaims',
  description: 'Asks for an address from a pool.',
  labels,
  strategy: { validateUpdate: fixedSpec('IPAddressClaim') },
  hub: {
    name: 'v1beta2',
    spec: claimSpec,
    status: claimStatus,
    specRequired: true,
    columns: [...poolColumns, ageColumn],
  },
  old: [
    {
      name: 'v1beta1',
      deprecated: true,
      spec: claimSpecV1beta1,
      status: claimStatusV1beta1,
      mapping: claimMapping,
      columns: [...poolColumns, ageColumn],
    },
    {
      name: 'v1alpha1',
      spec: claimSpecV1alpha1,
      status: claimStatusV1alpha1,
      mapping: claimMapping,
      columns: [...poolColumns, ageColumn],
    },
  ],
});

const claimDescription = 'The claim that has the address.';
const sharedAddressFields = () => ({
  address: text('The address.', 39).required(),
  gateway: text('Gateway of the network of the address.', 39),
});

const addressSpec: () => Field<IPAddressSpec> = once(() =>
  object(
    {
      ...sharedAddressFields(),
      claimRef: nameReference(claimDescription).required(),
      poolRef: contractReference(poolDescription).required(),
      prefix: int32('Length of the prefix of the network.', { minimum: 0, maximum: 128 }).required(),
    },
    'Desired state.',
  ),
);
const oldAddressSpec: () => UntypedField = once(() =>
  object(
    {
      ...sharedAddressFields(),
      claimRef: oldNameReference(claimDescription).required(),
      poolRef: oldPoolReference().required(),
      prefix: integer('Length of the prefix of the network.').required(),
    },
    'Desired state.',
  ),
);

const addressStrategy: ResourceStrategy<IPAddress> = {
  validateCreate: (object) => validateAddress(object.spec),
  validateUpdate: fixedSpec('IPAddress'),
};

function validateAddress(spec: IPAddressSpec | undefined): FieldError[] {
  if (spec?.address === undefined) return [];
  const errors: FieldError[] = [];
  const family = ipFamily(spec.address);
  if (family === undefined) errors.push(fieldError.invalid('spec.address', spec.address, 'not a valid IP address'));
  if (family === 'IPv4' && spec.prefix > 32) {
    errors.push(fieldError.invalid('spec.prefix', spec.prefix, 'prefix is too large for an IPv4 address'));
  }
  if (spec.gateway !== undefined && ipFamily(spec.gateway) === undefined) {
    errors.push(fieldError.invalid('spec.gateway', spec.gateway, 'not a valid IP address'));
  }
  return errors;
}

const addressColumns = [textColumn('Address', '.spec.address'), ...poolColumns, ageColumn];
const oldAddress = { spec: oldAddressSpec, hasStatus: false, mapping: fields(), columns: addressColumns };

export const ipAddressKind: Kind<IPAddress> = defineKind<IPAddress>({
  group: ipamGroup,
  kind: 'IPAddress',
  plural: 'ipaddresses',
  description: 'An address that a pool has given to a claim.',
  labels,
  strategy: addressStrategy,
  hub: { name: 'v1beta2', spec: addressSpec, hasStatus: false, specRequired: true, columns: addressColumns },
  old: [
    { name: 'v1beta1', deprecated: true, ...oldAddress },
    { name: 'v1alpha1', ...oldAddress },
  ],
});
