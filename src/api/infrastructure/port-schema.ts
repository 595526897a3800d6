import { atomicList, boolean, type Field, object, once, setOf, string } from '../kind/schema.ts';
import { addressPairs, type Era, needed, networkParam, portProfile, subnetParam, valueSpecs } from './common-schema.ts';
import type { PortOptions, ResolvedPort, SecurityGroupParam } from './types.ts';

const portSecurity = {
  v1beta1: { disablePortSecurity: boolean('Switches port security off.') },
  v1beta2: { enablePortSecurity: boolean('Switches port security on or off; absent leaves it to the network.') },
} as const;

const portCommonFields = (era: Era) => ({
  tags: setOf(string(), 'Tags of the port, besides those of the server.'),
  trunk: boolean('Make a trunk with this port as its parent.'),
  adminStateUp: boolean('Administrative state of the port.'),
  macAddress: string('MAC address of the port.'),
  allowedAddressPairs: addressPairs(era),
  hostID: string('Host the port is bound to.'),
  vnicType: string('Kind of virtual card, as Neutron knows it.'),
  profile: portProfile(),
  propagateUplinkStatus: boolean('Tell the port when the uplink is down.'),
  valueSpecs: valueSpecs(era),
});

const securityGroups = (): Field<SecurityGroupParam[]> =>
  atomicList(networkParam('security group', ''), 'Security groups of the port instead of the managed ones.');

const portFields = (era: Era) => ({
  ...portCommonFields(era),
  network: networkParam('network', 'Network of the port; absent means the one of the cluster.'),
  description: string('Description of the port.'),
  nameSuffix: string('Suffix of the port name; absent means its position.'),
  fixedIPs: atomicList(
    object({ subnet: subnetParam(era, 'Subnet of the address.'), ipAddress: string('The address.') }),
    'Addresses of the port.',
  ),
  securityGroups: securityGroups(),
});

const resolvedPortFields = (era: Era) => ({
  ...portCommonFields(era),
  name: needed(era, 'Name of the port.'),
  networkID: needed(era, 'Network of the port.'),
  fixedIPs: atomicList(
    object({ subnet: string('Id of the subnet.'), ipAddress: string('The address.') }),
    'Addresses of the port.',
  ),
  securityGroups: atomicList(string(), 'Ids of the security groups.'),
});

/** desired port */
export const portOptions: () => Field<PortOptions> = once(() =>
  object({ ...portFields('v1beta2'), ...portSecurity.v1beta2 }),
);

/** The fields of v1beta1, which have no TypeScript type. */
export const portOptionsV1beta1: () => Field<unknown> = once(
  () => object({ ...portFields('v1beta1'), ...portSecurity.v1beta1 }) as Field<unknown>,
);

/** port with resolved references, as it is created */
export const resolvedPort: () => Field<ResolvedPort> = once(() =>
  object({
    ...resolvedPortFields('v1beta2'),
    description: string('Description of the port.'),
    ...portSecurity.v1beta2,
  }),
);

export const resolvedPortV1beta1: () => Field<unknown> = once(
  () =>
    object({
      ...resolvedPortFields('v1beta1'),
      description: string('Description of the port.').required(),
      ...portSecurity.v1beta1,
    }) as Field<unknown>,
);
