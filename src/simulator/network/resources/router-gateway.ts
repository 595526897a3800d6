import type { Caller } from '../../core/caller.ts';
import { knownIp } from '../addressing/ip.ts';
import type { Neutron } from '../neutron.ts';
import { badRequest, networkNotFound, refuse } from '../refusals.ts';
import type { PortRow, RouterRow, SubnetRow } from '../rows.ts';
import { isAutomatic } from './automatic-subnets.ts';
import type { FixedIpSpec } from './port-addresses.ts';
import { allocate, reallocate } from './port-addresses.ts';
import { deletePort, insertPort } from './port-writes.ts';
import { readQosPolicy } from './qos-use.ts';

/** Requested gateway of a router. Empty or null removes it. */
export interface GatewaySpec {
  readonly network_id: string;
  readonly enable_snat?: boolean;
  readonly external_fixed_ips?: readonly FixedIpSpec[];
  readonly qos_policy_id?: string | null;
}

const gatewayOwner = 'network:router_gateway';

/** Binding host of router ports. */
export const routerHost = 'network-node';

/** Sets or removes the gateway of a router. */
export function setGateway(
  neutron: Neutron,
  router: Readonly<RouterRow>,
  desired: GatewaySpec | undefined,
  caller: Caller,
): void {
  const current = gatewayPort(neutron, router);
  if (desired) {
    readQosPolicy(neutron, desired.qos_policy_id, caller);
    checkSpec(neutron, router, desired);
  }
  if (current && current.network_id !== desired?.network_id) {
    removeGateway(neutron, router, current);
  }
  if (!desired) return;
  const port = gatewayPort(neutron, router);
  const { enable_snat = true, qos_policy_id = null } = desired;
  if (!port) {
    const made = insertPort(neutron, {
      projectId: '',
      networkId: desired.network_id,
      deviceId: router.id,
      deviceOwner: gatewayOwner,
      fixedIps: desired.external_fixed_ips,
      host: routerHost,
    });
    if (made.fixed_ips.length === 0) neutron.core.onError(new Error('a gateway without address'), router.id);
    neutron.routers.update(router.id, { gateway_port_id: made.id, enable_snat, qos_policy_id });
    return;
  }
  if (desired.external_fixed_ips && isOtherwise(port, desired.external_fixed_ips)) {
    const request = { networkId: port.network_id, mac: port.mac_address, deviceOwner: gatewayOwner };
    const fixed_ips = reallocate(neutron, request, port.fixed_ips, desired.external_fixed_ips);
    neutron.change(neutron.ports, port, { fixed_ips });
  }
  neutron.routers.update(router.id, { enable_snat, qos_policy_id });
}

/** Neutron compares sets of subnets and of specific addresses, so another address of the same subnet is no change. */
function isOtherwise({ fixed_ips }: Readonly<PortRow>, wanted: readonly FixedIpSpec[]): boolean {
  if (wanted.length === 0) return false;
  const differ = (some: readonly string[], others: readonly (string | undefined)[]): boolean => {
    const [left, right] = [new Set(some), new Set(others.filter((each) => each !== undefined))];
    return left.size !== right.size || [...left].some((each) => !right.has(each));
  };
  return (
    differ(
      fixed_ips.map(({ subnet_id }) => subnet_id),
      wanted.map(({ subnet_id }) => subnet_id),
    ) ||
    differ(
      fixed_ips.map(({ ip_address }) => ip_address),
      wanted.map(({ ip_address }) => ip_address),
    )
  );
}

export function gatewayPort({ ports }: Neutron, router: Readonly<RouterRow>): Readonly<PortRow> | undefined {
  return router.gateway_port_id === null ? undefined : ports.get(router.gateway_port_id);
}

/** Gives gateway ports of a network an address of a new subnet if they have none of its IP version. */
export function addGatewayAddresses(neutron: Neutron, subnet: Readonly<SubnetRow>): void {
  for (const port of [...neutron.ports.by('network', subnet.network_id)]) {
    if (port.device_owner !== gatewayOwner) continue;
    const hasVersion = port.fixed_ips.some(({ ip_address }) => knownIp(ip_address).version === subnet.ip_version);
    if (hasVersion || isAutomatic(subnet)) continue;
    const request = { networkId: port.network_id, mac: port.mac_address, deviceOwner: gatewayOwner };
    const added = allocate(neutron, request, [{ subnet_id: subnet.id }]);
    neutron.change(neutron.ports, port, { fixed_ips: [...port.fixed_ips, ...added] });
  }
}

function removeGateway(neutron: Neutron, router: Readonly<RouterRow>, port: Readonly<PortRow>): void {
  for (const { floating_network_id } of neutron.floatingIps.by('router', router.id)) {
    if (floating_network_id !== port.network_id) continue;
    const message = `Gateway cannot be updated for router ${router.id}, since a gateway to external network ${port.network_id} is required by one or more floating IPs.`;
    throw refuse(409, 'RouterExternalGatewayInUseByFloatingIp', message);
  }
  neutron.routers.update(router.id, { gateway_port_id: null, qos_policy_id: null });
  deletePort(neutron, port);
}

function checkSpec(neutron: Neutron, router: Readonly<RouterRow>, desired: GatewaySpec): void {
  const network = neutron.networks.get(desired.network_id);
  if (!network) throw networkNotFound(desired.network_id);
  if (!network['router:external']) {
    throw badRequest('router', `Network ${network.id} is not an external network`);
  }
  for (const port of neutron.ports.by('device', router.id)) {
    if (port.network_id === network.id && port.device_owner !== gatewayOwner) {
      throw badRequest('router', `Router already has a port on subnet ${port.fixed_ips[0]?.subnet_id}`);
    }
  }
}
