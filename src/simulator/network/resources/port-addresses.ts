import { must } from '../../../machinery/index.ts';
import { type Cidr, isUsable, knownCidr } from '../addressing/cidr.ts';
import { eui64Address } from '../addressing/eui64.ts';
import { canonicalIp, knownIp } from '../addressing/ip.ts';
import type { Neutron } from '../neutron.ts';
import { invalidInput, refuse, subnetNotFound } from '../refusals.ts';
import type { FixedIp, SubnetRow } from '../rows.ts';
import { addressKey } from '../tables.ts';
import { isAutomatic } from './automatic-subnets.ts';

/** A requested address: any of a subnet, a specific one, or a specific one of a subnet. */
export interface FixedIpSpec {
  readonly subnet_id?: string;
  readonly ip_address?: string;
}

/** Parameters of address allocation. */
export interface AddressRequest {
  readonly networkId: string;
  readonly mac: string;
  readonly deviceOwner: string;
}

const routerOwners: ReadonlySet<string> = new Set([
  'network:router_interface',
  'network:router_gateway',
  'network:router_interface_distributed',
  'network:ha_router_replicated_interface',
]);

export function isRouterOwner(owner: string): boolean {
  return routerOwners.has(owner);
}

/** Allocates the addresses of a new port: the requested ones, or one per IP version, plus automatic ones. */
export function allocate(
  neutron: Neutron,
  request: AddressRequest,
  specs: readonly FixedIpSpec[] | undefined,
): FixedIp[] {
  const subnets = [...neutron.subnets.by('network', request.networkId)];
  const taken: FixedIp[] = [];
  if (specs) {
    const resolved = specs
      .map((desired) => resolve(neutron, request, desired, subnets))
      .filter((each) => each !== undefined);
    taken.push(...take(neutron, request, resolved, taken));
  } else {
    const open = openTo(request, subnets);
    for (const version of [4, 6] as const) {
      const usable = open.filter((subnet) => subnet.ip_version === version && !isAutomatic(subnet));
      if (usable.length > 0) taken.push(firstFree(neutron, request, usable, taken));
    }
  }
  if (!isRouterOwner(request.deviceOwner)) {
    for (const subnet of subnets.filter((each) => isAutomatic(each) && isOpenTo(each, request.deviceOwner))) {
      taken.push({ subnet_id: subnet.id, ip_address: automaticAddress(subnet, request.mac) });
    }
  }
  return taken;
}

/** Returns the subnets with a service type that matches the port's owner, or else those without service types. */
function openTo(
  { networkId, deviceOwner }: AddressRequest,
  subnets: readonly Readonly<SubnetRow>[],
): readonly Readonly<SubnetRow>[] {
  const own = subnets.filter(({ service_types }) => service_types.includes(deviceOwner));
  const open = own.length > 0 ? own : subnets.filter((subnet) => isOpenTo(subnet, deviceOwner));
  if (open.length > 0 || subnets.length === 0) return open;
  const message = `No valid service subnet for the given device owner, network ${networkId}, service type ${deviceOwner}.`;
  throw refuse(409, 'IpAddressGenerationFailureNoMatchingSubnet', message);
}

function isOpenTo({ service_types }: Readonly<SubnetRow>, deviceOwner: string): boolean {
  return service_types.length === 0 || service_types.includes(deviceOwner);
}

/**
 * Returns the addresses of a port after an update. Requested addresses it already has stay, automatic ones always stay.
 */
export function reallocate(
  neutron: Neutron,
  request: AddressRequest,
  current: readonly FixedIp[],
  specs: readonly FixedIpSpec[],
): FixedIp[] {
  const subnets = [...neutron.subnets.by('network', request.networkId)];
  const left = [...current];
  const kept: FixedIp[] = [];
  const added: FixedIpSpec[] = [];
  const takeBack = (index: number): void => void kept.push(...left.splice(index, 1));
  for (const desired of specs.filter(({ ip_address }) => ip_address !== undefined)) {
    const index = left.findIndex(
      ({ ip_address }) => ip_address === canonicalIp(must(desired.ip_address, 'desired.ip_address')),
    );
    if (index >= 0) takeBack(index);
    else added.push(desired);
  }
  for (const desired of specs.filter(({ ip_address }) => ip_address === undefined)) {
    const index = left.findLastIndex(({ subnet_id }) => subnet_id === desired.subnet_id);
    if (index >= 0) takeBack(index);
    else added.push(desired);
  }
  if (!isRouterOwner(request.deviceOwner)) {
    for (const fixed of left) {
      const subnet = neutron.subnets.get(fixed.subnet_id);
      if (subnet && isAutomatic(subnet)) kept.push(fixed);
    }
  }
  const resolved = added
    .map((desired) => resolve(neutron, request, desired, subnets))
    .filter((each) => each !== undefined);
  const all = [...kept, ...take(neutron, request, resolved, kept)];
  return all.sort((a, b) => (a.ip_address < b.ip_address ? -1 : 1));
}

/** Returns the SLAAC address of a host. */
export function automaticAddress(subnet: Readonly<SubnetRow>, mac: string): string {
  return eui64Address(knownCidr(subnet.cidr), mac);
}

interface Resolved {
  readonly subnet: Readonly<SubnetRow>;
  /** undefined: any */
  readonly address: string | undefined;
}

function resolve(
  neutron: Neutron,
  { networkId, deviceOwner }: AddressRequest,
  desired: FixedIpSpec,
  subnets: readonly Readonly<SubnetRow>[],
): Resolved | undefined {
  if (subnets.length === 0) throw invalidInput('IP allocation requires subnets for network');
  const address =
    desired.ip_address === undefined
      ? undefined
      : must(canonicalIp(desired.ip_address), 'canonicalIp(desired.ip_address)');
  const mayBeFirst = deviceOwner === '' || isRouterOwner(deviceOwner);
  const fits = (cidr: Cidr): boolean => isUsable(cidr, knownIp(must(address, 'address')), mayBeFirst);
  let subnet: Readonly<SubnetRow> | undefined;
  if (desired.subnet_id !== undefined) {
    subnet = subnets.find(({ id }) => id === desired.subnet_id);
    if (!subnet) {
      if (!neutron.subnets.has(desired.subnet_id)) throw subnetNotFound(desired.subnet_id);
      throw invalidInput(
        `Failed to create port on network ${networkId}, because fixed_ips included invalid subnet ${desired.subnet_id}`,
      );
    }
    if (address !== undefined && !fits(knownCidr(subnet.cidr))) {
      throw refuse(
        400,
        'InvalidIpForSubnet',
        `IP address ${desired.ip_address} is not a valid IP for the specified subnet.`,
      );
    }
  } else {
    if (address === undefined) throw invalidInput('IP allocation requires subnet_id or ip_address');
    subnet = subnets.find(({ cidr }) => fits(knownCidr(cidr)));
    if (!subnet) {
      const message = `IP address ${desired.ip_address} is not a valid IP for any of the subnets on the specified network.`;
      throw refuse(400, 'InvalidIpForNetwork', message);
    }
  }
  if (isAutomatic(subnet) && !isRouterOwner(deviceOwner)) {
    // The host derives the address itself.
    if (address === undefined) return undefined;
    const message = `IPv6 address ${desired.ip_address} cannot be directly assigned to a port on subnet ${subnet.id} as the subnet is configured for automatic addresses`;
    throw refuse(400, 'AllocationOnAutoAddressSubnet', message);
  }
  return { subnet, address };
}

/** Takes specific addresses first, so that none of them is chosen as any address. */
function take(
  neutron: Neutron,
  request: AddressRequest,
  resolved: readonly Resolved[],
  already: readonly FixedIp[],
): FixedIp[] {
  const taken: FixedIp[] = [];
  for (const { subnet, address } of resolved) {
    if (address === undefined) continue;
    if (neutron.ports.count('address', addressKey(subnet.id, address)) > 0) {
      const message = `IP address ${address} already allocated in subnet ${subnet.id}`;
      throw refuse(409, 'IpAddressAlreadyAllocated', message);
    }
    taken.push({ subnet_id: subnet.id, ip_address: address });
  }
  for (const { subnet, address } of resolved) {
    if (address === undefined) taken.push(firstFree(neutron, request, [subnet], [...already, ...taken]));
  }
  return taken;
}

/** Returns an address of the first subnet that has a free one. `pending` addresses count as taken. */
function firstFree(
  neutron: Neutron,
  { networkId, deviceOwner }: AddressRequest,
  subnets: readonly Readonly<SubnetRow>[],
  pending: readonly FixedIp[],
): FixedIp {
  for (const subnet of subnets) {
    const reserved = pending.filter(({ subnet_id }) => subnet_id === subnet.id).map(({ ip_address }) => ip_address);
    const address = neutron.addresses.choose(subnet, reserved, deviceOwner === 'network:dhcp');
    if (address !== undefined) return { subnet_id: subnet.id, ip_address: address };
  }
  throw refuse(409, 'IpAddressGenerationFailure', `No more IP addresses available on network ${networkId}.`);
}
