import { must } from '../../../machinery/index.ts';
import type { Caller } from '../../core/caller.ts';
import { contains, knownCidr, overlap } from '../addressing/cidr.ts';
import { knownIp } from '../addressing/ip.ts';
import { isUuid, uuid } from '../attributes/checks.ts';
import type { Neutron } from '../neutron.ts';
import { badRequest, portNotFound, refuse, subnetNotFound } from '../refusals.ts';
import type { PortRow, RouterRow, SubnetRow } from '../rows.ts';
import { reallocate } from './port-addresses.ts';
import { deletePort, insertPort } from './port-writes.ts';
import { gatewayPort, routerHost } from './router-gateway.ts';
import { isSharedWith } from './sharing.ts';

const interfaceOwner = 'network:router_interface';

/** Request to add or remove an interface. */
export interface InterfaceSpec {
  readonly subnet_id?: string;
  readonly port_id?: string;
}

/** Answer about an added or removed interface. */
export interface InterfaceInfo {
  readonly id: string;
  readonly tenant_id: string;
  readonly port_id: string;
  readonly network_id: string;
  readonly subnet_id: string;
  readonly subnet_ids: readonly string[];
}

export function readInterfaceSpec(body: Record<string, unknown>, action: 'remove' | 'add'): InterfaceSpec {
  if (!('subnet_id' in body) && !('port_id' in body)) {
    throw badRequest('router', 'Either subnet_id or port_id must be specified');
  }
  for (const key of ['port_id', 'subnet_id']) {
    if (key in body && !isUuid(body[key])) throw badRequest('router', must(uuid(body[key]), 'uuid(body[key])'));
  }
  if (action !== 'remove' && 'subnet_id' in body && 'port_id' in body) {
    throw badRequest('router', 'Cannot specify both subnet-id and port-id');
  }
  return body as InterfaceSpec;
}

export function addInterface(
  neutron: Neutron,
  router: Readonly<RouterRow>,
  desired: InterfaceSpec,
  caller: Caller,
): InterfaceInfo {
  const info =
    desired.port_id === undefined
      ? addBySubnet(neutron, router, must(desired.subnet_id, 'desired.subnet_id'), caller)
      : addByPort(neutron, router, desired.port_id, caller);
  neutron.change(neutron.routers, router, {});
  return info;
}

export function removeInterface(neutron: Neutron, router: Readonly<RouterRow>, desired: InterfaceSpec): InterfaceInfo {
  const { port, subnets } =
    desired.port_id === undefined
      ? removeBySubnet(neutron, router, must(desired.subnet_id, 'desired.subnet_id'))
      : removeByPort(neutron, router, desired.port_id, desired.subnet_id);
  neutron.change(neutron.routers, router, {});
  return infoOf(router, port, subnets);
}

/** Returns the ports of a router on internal networks. */
export function interfacePorts({ ports }: Neutron, routerId: string): Readonly<PortRow>[] {
  return [...ports.by('device', routerId)].filter(({ device_owner }) => device_owner === interfaceOwner);
}

function addBySubnet(neutron: Neutron, router: Readonly<RouterRow>, subnetId: string, caller: Caller): InterfaceInfo {
  const subnet = visibleSubnet(neutron, subnetId, caller);
  if (subnet.gateway_ip === null) throw badRequest('router', 'Subnet for router interface must have a gateway IP');
  if (subnet.tenant_id !== caller.projectId && !caller.isAdmin) {
    throw badRequest(
      'router',
      `Cannot add interface to router because subnet ${subnetId} is not owned by project making the request`,
    );
  }
  refuseDoubles(neutron, router, [subnet]);
  const fixed = { subnet_id: subnet.id, ip_address: subnet.gateway_ip };
  const shared = subnet.ip_version === 6 ? ipv6Port(neutron, router, subnet.network_id) : undefined;
  if (shared) {
    const request = { networkId: shared.network_id, mac: shared.mac_address, deviceOwner: interfaceOwner };
    const fixed_ips = reallocate(neutron, request, shared.fixed_ips, [...shared.fixed_ips, fixed]);
    return infoOf(router, neutron.change(neutron.ports, shared, { fixed_ips }), [subnet]);
  }
  const port = insertPort(neutron, {
    projectId: router.tenant_id,
    networkId: subnet.network_id,
    deviceId: router.id,
    deviceOwner: interfaceOwner,
    fixedIps: [fixed],
    host: routerHost,
  });
  return infoOf(router, port, [subnet]);
}

function addByPort(neutron: Neutron, router: Readonly<RouterRow>, portId: string, caller: Caller): InterfaceInfo {
  const port = neutron.ports.get(portId);
  if (!port || !(caller.isAdmin || port.tenant_id === caller.projectId)) throw portNotFound(portId);
  if (port.device_id !== '') {
    const message = `Unable to complete operation on port ${port.id} for network ${port.network_id}. Port already has an attached device ${port.device_id}.`;
    throw refuse(409, 'PortInUse', message);
  }
  if (port.fixed_ips.length === 0) throw badRequest('router', 'Router port must have at least one fixed IP');
  const subnets = port.fixed_ips.map(({ subnet_id }) => neutron.subnets.known(subnet_id));
  refuseDoubles(neutron, router, subnets);
  if (subnets.filter(({ ip_version }) => ip_version === 4).length > 1) {
    throw badRequest('router', 'Cannot have multiple IPv4 subnets on router port');
  }
  const changed = neutron.change(neutron.ports, port, {
    device_id: router.id,
    device_owner: interfaceOwner,
    'binding:host_id': routerHost,
    status: 'ACTIVE',
  });
  return infoOf(router, changed, subnets);
}

function visibleSubnet(neutron: Neutron, id: string, caller: Caller): Readonly<SubnetRow> {
  const subnet = neutron.subnets.get(id);
  const network = subnet && neutron.networks.get(subnet.network_id);
  const isVisible =
    network &&
    (caller.isAdmin || subnet.tenant_id === caller.projectId || isSharedWith(neutron, network, caller.projectId));
  if (!isVisible) throw subnetNotFound(id);
  return subnet;
}

/** A router may be on a subnet only once, and only on subnets that do not overlap. */
function refuseDoubles(neutron: Neutron, router: Readonly<RouterRow>, added: readonly Readonly<SubnetRow>[]): void {
  const gateway = gatewayPort(neutron, router);
  const present = [...interfacePorts(neutron, router.id), ...(gateway ? [gateway] : [])].flatMap(({ fixed_ips }) =>
    fixed_ips.map(({ subnet_id }) => neutron.subnets.known(subnet_id)),
  );
  for (const subnet of added) {
    for (const other of present) {
      if (other.id === subnet.id) throw badRequest('router', `Router already has a port on subnet ${subnet.id}`);
      if (!overlap(knownCidr(other.cidr), knownCidr(subnet.cidr))) continue;
      throw badRequest(
        'router',
        `Cidr ${subnet.cidr} of subnet ${subnet.id} overlaps with cidr ${other.cidr} of subnet ${other.id}`,
      );
    }
  }
}

function ipv6Port(neutron: Neutron, router: Readonly<RouterRow>, networkId: string): Readonly<PortRow> | undefined {
  return interfacePorts(neutron, router.id).find(
    (port) => port.network_id === networkId && port.fixed_ips.some(({ ip_address }) => ip_address.includes(':')),
  );
}

function removeBySubnet(
  neutron: Neutron,
  router: Readonly<RouterRow>,
  subnetId: string,
): { port: Readonly<PortRow>; subnets: Readonly<SubnetRow>[] } {
  const subnet = neutron.subnets.get(subnetId);
  if (!subnet) throw subnetNotFound(subnetId);
  const port = interfacePorts(neutron, router.id).find(({ fixed_ips }) =>
    fixed_ips.some(({ subnet_id }) => subnet_id === subnetId),
  );
  if (!port) {
    const message = `Router ${router.id} has no interface on subnet ${subnetId}`;
    throw refuse(404, 'RouterInterfaceNotFoundForSubnet', message);
  }
  refuseNeeded(neutron, router, subnet);
  const others = port.fixed_ips.filter(({ subnet_id }) => subnet_id !== subnetId);
  if (others.length > 0) neutron.change(neutron.ports, port, { fixed_ips: others });
  else deletePort(neutron, port);
  return { port, subnets: [subnet] };
}

function removeByPort(
  neutron: Neutron,
  router: Readonly<RouterRow>,
  portId: string,
  subnetId: string | undefined,
): { port: Readonly<PortRow>; subnets: Readonly<SubnetRow>[] } {
  const port = interfacePorts(neutron, router.id).find(({ id }) => id === portId);
  if (!port) {
    const message = `Router ${router.id} does not have an interface with id ${portId}`;
    throw refuse(404, 'RouterInterfaceNotFound', message);
  }
  const subnets = port.fixed_ips.map(({ subnet_id }) => neutron.subnets.known(subnet_id));
  if (subnetId !== undefined && !subnets.some(({ id }) => id === subnetId)) {
    const message = `Subnet on port ${portId} does not match the requested subnet ${subnetId}.`;
    throw refuse(400, 'SubnetMismatchForPort', message);
  }
  for (const subnet of subnets) refuseNeeded(neutron, router, subnet);
  deletePort(neutron, port);
  return { port, subnets };
}

/** Refuses to remove an interface that floating IPs or extra routes need. */
function refuseNeeded(neutron: Neutron, router: Readonly<RouterRow>, subnet: Readonly<SubnetRow>): void {
  const cidr = knownCidr(subnet.cidr);
  for (const { fixed_ip_address } of neutron.floatingIps.by('router', router.id)) {
    if (fixed_ip_address === null || !contains(cidr, knownIp(fixed_ip_address))) continue;
    const message = `Router interface for subnet ${subnet.id} on router ${router.id} cannot be deleted, as it is required by one or more floating IPs.`;
    throw refuse(409, 'RouterInterfaceInUseByFloatingIP', message);
  }
  for (const { nexthop } of router.routes) {
    if (!contains(cidr, knownIp(nexthop))) continue;
    const message = `Router interface for subnet ${subnet.id} on router ${router.id} cannot be deleted, as it is required by one or more routes.`;
    throw refuse(409, 'RouterInterfaceInUseByRoute', message);
  }
}

function infoOf(
  router: Readonly<RouterRow>,
  port: Readonly<PortRow>,
  subnets: readonly Readonly<SubnetRow>[],
): InterfaceInfo {
  return {
    id: router.id,
    tenant_id: port.tenant_id,
    port_id: port.id,
    network_id: port.network_id,
    subnet_id: must(subnets.at(-1), 'the last of subnets').id,
    subnet_ids: subnets.map(({ id }) => id),
  };
}
