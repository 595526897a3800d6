import { pythonText } from '../../core/checks/python.ts';
import { type Cidr, contains, formatCidr, knownCidr, overlap, parseCidr } from '../addressing/cidr.ts';
import { canonicalIp, formatIp, knownIp } from '../addressing/ip.ts';
import { defaultPools, type Pool } from '../addressing/pools.ts';
import type { Attributes, Values } from '../attributes/attribute.ts';
import * as checks from '../attributes/checks.ts';
import * as common from '../attributes/common.ts';
import { nullToEmptyList, toBoolean, toCanonicalCidr, toCanonicalIp, toInteger } from '../attributes/converters.ts';
import { type Neutron, standardView } from '../neutron.ts';
import { badRequest, invalidInput, refuse, subnetNotFound } from '../refusals.ts';
import type { Resource } from '../resource.ts';
import type { HostRoute, NetworkRow, SubnetRow } from '../rows.ts';
import { isAutomatic } from './automatic-subnets.ts';
import { checkNetworkOwner } from './network-owner.ts';
import { addAutomaticAddresses, autoDeletedOwners, deletePort, dropAddresses } from './port-writes.ts';
import { addGatewayAddresses } from './router-gateway.ts';
import { isSharedWith } from './sharing.ts';
import { cidrFromPool, poolOf, refuseOtherPool } from './subnet-allocation.ts';

const modes = ['dhcpv6-stateful', 'dhcpv6-stateless', 'slaac'];
const mode = { create: true, check: checks.oneOf(modes), filter: true, sort: true };
const maxNameservers = 5;
const maxRoutes = 20;

/** Device owners whose ports get addresses of the subnet; empty: all others. */
const serviceTypes: checks.Check = (value) => {
  if (!Array.isArray(value)) return `Subnet service types must be a list`;
  for (const type of value) {
    if (typeof type !== 'string') {
      throw refuse(400, 'InvalidInputSubnetServiceType', `Subnet service type ${pythonText(type)} is not a string.`);
    }
    if (!type.startsWith('network:') && !type.startsWith('compute:')) {
      const message = `Subnet service type ${type} does not correspond to a valid device owner.`;
      throw refuse(400, 'InvalidSubnetServiceType', message);
    }
  }
  return undefined;
};

const attributes: Attributes = {
  id: common.id,
  name: common.name,
  ip_version: {
    create: true,
    required: true,
    convert: toInteger,
    check: checks.oneOf([4, 6]),
    filter: true,
    sort: true,
  },
  network_id: { create: true, required: true, check: checks.uuid, filter: true, sort: true },
  subnetpool_id: { create: true, check: checks.orNull(checks.uuid), filter: true, sort: true },
  prefixlen: { create: true, convert: toInteger, check: checks.nonNegative },
  cidr: { create: true, convert: toCanonicalCidr, check: checks.orNull(checks.subnet), filter: true, sort: true },
  gateway_ip: {
    create: true,
    update: true,
    convert: toCanonicalIp,
    check: checks.orNull(checks.ip),
    filter: true,
    sort: true,
  },
  allocation_pools: { create: true, update: true, check: checks.ipPools },
  dns_nameservers: { create: true, update: true, convert: nullToEmptyList, check: checks.nameservers },
  host_routes: { create: true, update: true, convert: nullToEmptyList, check: checks.routes },
  tenant_id: common.owner,
  enable_dhcp: { ...common.adminStateUp },
  ipv6_ra_mode: mode,
  ipv6_address_mode: mode,
  shared: { convert: toBoolean, filter: true },
  service_types: { create: true, update: true, check: serviceTypes },
  ...common.tagAttributes,
  ...common.standardAttributes,
  use_default_subnetpool: { create: true, default: false, convert: toBoolean },
  description: common.description,
};

export function subnetResource(neutron: Neutron): Resource<SubnetRow> {
  const { subnets, networks, ports } = neutron;
  const networkOf = (row: Readonly<SubnetRow>): Readonly<NetworkRow> | undefined => networks.get(row.network_id);
  return {
    name: 'subnet',
    collection: 'subnets',
    path: 'subnets',
    quota: 'subnet',
    attributes,
    rules: {},
    table: subnets,
    notFound: subnetNotFound,
    isVisibleTo: (row, caller) => {
      const network = networkOf(row);
      return (
        row.tenant_id === caller.projectId || (network && isSharedWith(neutron, network, caller.projectId)) === true
      );
    },
    isOwnedBy: (row, caller) => row.tenant_id === caller.projectId || networkOf(row)?.tenant_id === caller.projectId,
    candidates(filters) {
      const ids = filters.get('network_id');
      return ids?.length === 1 ? subnets.by('network', ids[0] as string) : undefined;
    },
    read: (row, name) => (name === 'shared' ? networkOf(row)?.shared === true : undefined),
    view: (row) => ({
      id: row.id,
      name: row.name,
      tenant_id: row.tenant_id,
      network_id: row.network_id,
      ip_version: row.ip_version,
      subnetpool_id: row.subnetpool_id ?? null,
      enable_dhcp: row.enable_dhcp,
      ipv6_ra_mode: row.ipv6_ra_mode,
      ipv6_address_mode: row.ipv6_address_mode,
      gateway_ip: row.gateway_ip,
      cidr: row.cidr,
      allocation_pools: row.allocation_pools,
      host_routes: row.host_routes,
      dns_nameservers: row.dns_nameservers,
      description: row.description,
      service_types: row.service_types,
      tags: row.tags,
      ...standardView(row),
      project_id: row.tenant_id,
    }),
    checkOwner: (values, caller) => checkNetworkOwner(neutron, values, caller, 'subnet'),
    create(values, caller) {
      const network = networks.known(values['network_id'] as string);
      const pool = poolOf(neutron, values, caller);
      const cidr = pool ? cidrFromPool(neutron, pool, values) : givenCidr(values);
      if (pool) refuseOtherPool(neutron, network, pool);
      const desired = readSpec(values, cidr);
      refuseOverlap(neutron, network, desired.cidr);
      const subnet = subnets.insert({
        ...neutron.standard(values),
        revision_number: values['service_types'] === undefined ? 0 : 1,
        name: values['name'] as string,
        network_id: network.id,
        ip_version: desired.cidr.version,
        cidr: formatCidr(desired.cidr),
        gateway_ip: desired.gateway,
        enable_dhcp: values['enable_dhcp'] as boolean,
        allocation_pools: desired.pools,
        dns_nameservers: (values['dns_nameservers'] as string[] | undefined) ?? [],
        host_routes: (values['host_routes'] as HostRoute[] | undefined) ?? [],
        ipv6_ra_mode: (values['ipv6_ra_mode'] as string | undefined) ?? null,
        ipv6_address_mode: (values['ipv6_address_mode'] as string | undefined) ?? null,
        service_types: (values['service_types'] as string[] | undefined) ?? [],
        subnetpool_id: pool?.id ?? null,
      });
      neutron.change(networks, network, {});
      if (network['router:external']) addGatewayAddresses(neutron, subnet);
      if (isAutomatic(subnet)) addAutomaticAddresses(neutron, subnet);
      return subnet;
    },
    update(row, values) {
      const cidr = knownCidr(row.cidr);
      checkCommon(values, cidr, row);
      const changes = { ...values } as Partial<SubnetRow>;
      const gateway = 'gateway_ip' in values ? (values['gateway_ip'] as string | null) : row.gateway_ip;
      if ('allocation_pools' in values) {
        const pools = readPools(values['allocation_pools'] as Pool[], cidr, row.cidr);
        Object.assign(changes, { allocation_pools: pools });
      }
      if ('gateway_ip' in values && gateway !== row.gateway_ip) refuseUsedGateway(neutron, row);
      if ('gateway_ip' in values || 'allocation_pools' in values) {
        refuseGatewayInPool(gateway, changes.allocation_pools ?? row.allocation_pools);
      }
      return neutron.change(subnets, row, changes);
    },
    delete(row) {
      const users = [...ports.by('subnet', row.id)].filter(
        (port) =>
          !autoDeletedOwners.has(port.device_owner) &&
          !(isAutomatic(row) && !port.device_owner.startsWith('network:router')),
      );
      if (users.length > 0) {
        const reason = 'One or more ports have an IP allocation from this subnet';
        throw refuse(409, 'SubnetInUse', `Unable to complete operation on subnet ${row.id}: ${reason}.`);
      }
      const network = networks.get(row.network_id);
      deleteSubnet(neutron, row);
      if (network) neutron.change(networks, network, {});
    },
  };
}

/** Deletes an unused subnet, and its automatic addresses. */
export function deleteSubnet(neutron: Neutron, subnet: Readonly<SubnetRow>): void {
  for (const port of [...neutron.ports.by('subnet', subnet.id)]) {
    if (autoDeletedOwners.has(port.device_owner) && port.fixed_ips.length === 1) deletePort(neutron, port);
    else dropAddresses(neutron, port, subnet.id);
  }
  neutron.subnets.delete(subnet.id);
}

interface Spec {
  readonly cidr: Cidr;
  readonly gateway: string | null;
  readonly pools: readonly Pool[];
}

/** Without a pool the CIDR is required. */
function givenCidr(values: Values): Cidr {
  const text = values['cidr'] as string | undefined;
  if (text !== undefined && values['prefixlen'] !== undefined) {
    throw badRequest('subnets', 'cidr and prefixlen must not be supplied together');
  }
  if (text === undefined) throw badRequest('subnets', 'a subnetpool must be specified in the absence of a cidr');
  return knownCidr(text);
}

function readSpec(values: Values, cidr: Cidr): Spec {
  checkCommon({ ...values, cidr: formatCidr(cidr) }, cidr, undefined);
  if (cidr.prefix === 0) throw invalidInput('0 is not allowed as CIDR prefix length');
  const gateway = gatewayOf(values, cidr);
  const given = values['allocation_pools'] as Pool[] | undefined;
  const pools = given
    ? readPools(given, cidr, formatCidr(cidr))
    : defaultPools(cidr, gateway === null ? undefined : knownIp(gateway).value);
  if (given) refuseGatewayInPool(gateway, pools);
  return { cidr, gateway, pools };
}

function gatewayOf(values: Values, cidr: Cidr): string | null {
  const given = values['gateway_ip'] as string | null | undefined;
  if (given !== undefined) return given === null ? null : (canonicalIp(given) ?? given);
  const ip = { version: cidr.version, value: cidr.first + (cidr.version === 6 ? 0n : 1n) };
  if (cidr.version === 4 && ip.value === cidr.last) {
    const message = `Gateway IP ${formatIp(ip)} cannot be allocated in CIDR ${formatCidr(cidr)}`;
    throw refuse(409, 'IpamValueInvalid', message);
  }
  return formatIp(ip);
}

function isAutomaticAddress(values: Values): boolean {
  return isAutomatic({
    ipv6_address_mode: (values['ipv6_address_mode'] as string | undefined) ?? null,
    ipv6_ra_mode: (values['ipv6_ra_mode'] as string | undefined) ?? null,
  });
}

/** Checks for both creation and update. */
function checkCommon(values: Values, cidr: Cidr, current: Readonly<SubnetRow> | undefined): void {
  const version = current?.ip_version ?? (values['ip_version'] as 4 | 6);
  if (!current) checkVersion('cidr', values['cidr'] as string, version);
  if (values['enable_dhcp'] === true && !current?.enable_dhcp) checkDhcp(cidr);
  const gateway = values['gateway_ip'] as string | null | undefined;
  if (typeof gateway === 'string') {
    checkVersion('gateway_ip', gateway, version);
    const ip = knownIp(gateway);
    if (cidr.version === 4 && contains(cidr, ip) && (ip.value === cidr.first || ip.value === cidr.last)) {
      throw invalidInput('Gateway is not valid on subnet');
    }
  }
  const nameservers = values['dns_nameservers'] as string[] | undefined;
  if (nameservers) {
    if (nameservers.length > maxNameservers) {
      const message = `Unable to complete operation for ${current?.id ?? 'new subnet'}. The number of DNS nameservers exceeds the limit ${maxNameservers}.`;
      throw refuse(400, 'DNSNameServersExhausted', message);
    }
    for (const nameserver of nameservers) checkVersion('dns_nameserver', nameserver, version);
  }
  const routes = values['host_routes'] as HostRoute[] | undefined;
  if (routes) {
    if (routes.length > maxRoutes) {
      const message = `Unable to complete operation for ${current?.id ?? 'new subnet'}. The number of host routes exceeds the limit ${maxRoutes}.`;
      throw refuse(400, 'HostRoutesExhausted', message);
    }
    for (const { destination, nexthop } of routes) {
      checkVersion('nexthop', nexthop, version);
      checkVersion('destination', destination, version);
    }
  }
  checkModes(values, cidr, version, current);
}

function checkVersion(name: string, text: string, version: 4 | 6): void {
  if (parseCidr(text)?.version !== version) {
    throw invalidInput(`${name} '${text}' does not match the ip_version '${version}'`);
  }
}

function checkDhcp(cidr: Cidr): void {
  const { version, prefix, first } = cidr;
  if (prefix > (version === 4 ? 30 : 126)) {
    throw invalidInput('Subnet has a prefix length that is incompatible with DHCP service enabled');
  }
  const isMulticast = version === 4 ? first >> 28n === 0xen : first >> 120n === 0xffn;
  if (isMulticast) throw invalidInput('Multicast IP subnet is not supported if enable_dhcp is True');
  if (version === 4 && first >> 24n === 127n) {
    throw invalidInput('Loopback IP subnet is not supported if enable_dhcp is True');
  }
  if (version === 4 && first === 0n) {
    throw invalidInput("First IP '0.0.0.0' of network is not supported if enable_dhcp is True.");
  }
}

function checkModes(values: Values, cidr: Cidr, version: 4 | 6, current: Readonly<SubnetRow> | undefined): void {
  const router = values['ipv6_ra_mode'];
  const address = values['ipv6_address_mode'];
  if (version === 4) {
    if (router !== undefined) throw invalidInput('ipv6_ra_mode is not valid when ip_version is 4');
    if (address !== undefined) throw invalidInput('ipv6_address_mode is not valid when ip_version is 4');
    return;
  }
  if (current) {
    if (values['enable_dhcp'] === false && (current.ipv6_ra_mode !== null || current.ipv6_address_mode !== null)) {
      throw invalidInput('Cannot disable enable_dhcp with ipv6 attributes set');
    }
    return;
  }
  if (router === undefined && address === undefined) return;
  if (values['enable_dhcp'] === false) {
    throw invalidInput('ipv6_ra_mode or ipv6_address_mode cannot be set when enable_dhcp is set to False');
  }
  if (router !== undefined && address !== undefined && router !== address) {
    throw invalidInput(
      `ipv6_ra_mode set to '${pythonText(router)}' with ipv6_address_mode set to '${pythonText(address)}' is not valid. If both attributes are set, they must be the same value`,
    );
  }
  if (isAutomaticAddress(values) && cidr.prefix !== 64) {
    throw invalidInput(
      `Invalid CIDR ${formatCidr(cidr)} for IPv6 address mode. OpenStack uses the EUI-64 address format, which requires the prefix to be /64`,
    );
  }
}

function readPools(given: readonly Pool[], cidr: Cidr, cidrText: string): Pool[] {
  const ranges = given.map(({ start, end }) => {
    const [first, last] = [knownIp(start), knownIp(end)];
    if (first.version !== last.version || first.value > last.value) {
      throw refuse(400, 'InvalidAllocationPool', `The allocation pool ${pythonText({ start, end })} is not valid.`);
    }
    return { first, last, text: `${formatIp(first)}-${formatIp(last)}` };
  });
  const isNarrow = cidr.version === 4 ? cidr.prefix <= 30 : true;
  const lowest = isNarrow ? cidr.first + 1n : cidr.first;
  const highest = cidr.version === 4 && isNarrow ? cidr.last - 1n : cidr.last;
  for (const { first, last, text } of ranges) {
    if (first.version !== cidr.version) {
      throw refuse(400, 'InvalidAllocationPool', `The allocation pool ${text} is not valid.`);
    }
    if (first.value < lowest || last.value > highest) {
      const message = `The allocation pool ${text} spans beyond the subnet cidr ${cidrText}.`;
      throw refuse(400, 'OutOfBoundsAllocationPool', message);
    }
  }
  for (const [index, left] of ranges.entries()) {
    for (const right of ranges.slice(index + 1)) {
      if (left.first.value > right.last.value || right.first.value > left.last.value) continue;
      const message = `Found overlapping allocation pools: ${left.text} ${right.text} for subnet ${cidrText}.`;
      throw refuse(409, 'OverlappingAllocationPools', message);
    }
  }
  return ranges.map(({ first, last }) => ({ start: formatIp(first), end: formatIp(last) }));
}

function refuseGatewayInPool(gateway: string | null, pools: readonly Pool[]): void {
  if (gateway === null) return;
  const { value } = knownIp(gateway);
  for (const { start, end } of pools) {
    if (value < knownIp(start).value || value > knownIp(end).value) continue;
    const message = `Gateway ip ${gateway} conflicts with allocation pool ${start}-${end}.`;
    throw refuse(409, 'GatewayConflictWithAllocationPools', message);
  }
}

/** Refuses to change a gateway address that a router uses. */
function refuseUsedGateway({ ports }: Neutron, { id, gateway_ip }: Readonly<SubnetRow>): void {
  for (const port of ports.by('subnet', id)) {
    const isGateway = port.fixed_ips.some(({ subnet_id, ip_address }) => subnet_id === id && ip_address === gateway_ip);
    if (!isGateway || !port.device_owner.startsWith('network:router_interface')) continue;
    const message = `Current gateway ip ${gateway_ip} already in use by port ${port.id}. Unable to update.`;
    throw refuse(409, 'GatewayIpInUse', message);
  }
}

function refuseOverlap({ subnets }: Neutron, network: Readonly<NetworkRow>, cidr: Cidr): void {
  for (const other of subnets.by('network', network.id)) {
    if (!overlap(knownCidr(other.cidr), cidr)) continue;
    throw invalidInput(
      `Requested subnet with cidr: ${formatCidr(cidr)} for network: ${network.id} overlaps with another subnet`,
    );
  }
}
