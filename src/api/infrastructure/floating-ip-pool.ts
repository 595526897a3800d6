import { type FieldError, fieldError, ipFamily } from '../../machinery/index.ts';
import { contractLabels } from '../kind/contract-labels.ts';
import { defineKind, type Kind } from '../kind/define.ts';
import { type Field, integer, list, object, once, oneOf, setOf, string } from '../kind/schema.ts';
import { validateChangedSpec } from '../kind/strategy.ts';
import { formerConditions, identityReference, needed, networkParam } from './common-schema.ts';
import { hasMadeNothing, validateRegion } from './corrections.ts';
import { infrastructureGroup } from './group.ts';
import type { OpenStackFloatingIPPool, OpenStackFloatingIPPoolSpec, OpenStackFloatingIPPoolStatus } from './types.ts';

const spec: () => Field<OpenStackFloatingIPPoolSpec> = once(() =>
  object(
    {
      identityRef: identityReference('v1beta2', 'Credentials.').required(),
      reclaimPolicy: oneOf(['Retain', 'Delete'], 'What happens to an address that is no longer claimed.').required(),
      preAllocatedFloatingIPs: list(string(), 'Addresses that exist already; used first and never deleted.'),
      maxIPs: integer('Maximum number of claimed addresses; absent means no limit.'),
      floatingIPNetwork: networkParam(
        'network',
        'Network the addresses come from; absent means the only external one.',
      ),
    },
    'Desired state.',
  ),
);

const addresses = (description: string): Field<string[]> => list(string(), description);

const status: () => Field<OpenStackFloatingIPPoolStatus> = once(() =>
  object(
    {
      conditions: formerConditions(),
      claimedIPs: addresses('Addresses that are claimed.').default([]),
      availableIPs: addresses('Addresses that can be claimed.').default([]),
      failedIPs: addresses('Addresses that cannot be used.'),
      floatingIPNetwork: object(
        {
          name: needed('v1beta2', 'Name of the network.'),
          id: needed('v1beta2', 'Id of the network.'),
          tags: setOf(string(), 'Tags of the network.'),
        },
        'Network the addresses come from.',
      ),
    },
    'Observed state.',
  ),
);

function validate({ spec }: OpenStackFloatingIPPool, before?: OpenStackFloatingIPPool): FieldError[] {
  const isOpen = before === undefined || (hasMadeNothing(before) && before.status?.floatingIPNetwork === undefined);
  return [...validateAddresses(spec), ...validateRegion(spec?.identityRef, before?.spec?.identityRef, { isOpen })];
}

function validateAddresses(spec: OpenStackFloatingIPPoolSpec | undefined): FieldError[] {
  return (spec?.preAllocatedFloatingIPs ?? []).flatMap((address, i) =>
    ipFamily(address) === undefined
      ? [fieldError.invalid(`spec.preAllocatedFloatingIPs[${i}]`, address, 'not a valid IP address')]
      : [],
  );
}

export const openStackFloatingIPPoolKind: Kind<OpenStackFloatingIPPool> = defineKind<OpenStackFloatingIPPool>({
  group: infrastructureGroup,
  kind: 'OpenStackFloatingIPPool',
  plural: 'openstackfloatingippools',
  categories: [],
  description: 'Gives floating IPs to machines that claim one.',
  labels: contractLabels('infrastructure-openstack'),
  strategy: validateChangedSpec(validate),
  hub: { name: 'v1alpha1', spec, status },
});
