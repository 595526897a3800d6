import type { Caller } from '../../core/caller.ts';
import { type Cidr, knownCidr, overlap } from '../addressing/cidr.ts';
import { bitsOf } from '../addressing/ip.ts';
import { firstFree } from '../addressing/prefixes.ts';
import type { Values } from '../attributes/attribute.ts';
import type { Neutron } from '../neutron.ts';
import { badRequest, refuse, subnetPoolNotFound } from '../refusals.ts';
import type { NetworkRow, SubnetPoolRow } from '../rows.ts';
import { canUse } from './sharing.ts';

/** Returns the subnet pool of a new subnet, if any. */
export function poolOf(neutron: Neutron, values: Values, caller: Caller): Readonly<SubnetPoolRow> | undefined {
  const version = values['ip_version'] as 4 | 6;
  const id = values['subnetpool_id'] as string | null | undefined;
  if (values['use_default_subnetpool'] === true) {
    if (typeof id === 'string') {
      throw badRequest('subnets', 'subnetpool_id and use_default_subnetpool cannot both be specified');
    }
    for (const pool of neutron.subnetPools.all()) if (pool.is_default && pool.ip_version === version) return pool;
    throw badRequest('subnets', `No default subnetpool found for IPv${version}`);
  }
  if (typeof id !== 'string') return undefined;
  const pool = neutron.subnetPools.get(id);
  if (!pool || !canUse(neutron, pool, caller)) throw subnetPoolNotFound(id);
  if (pool.ip_version !== version) {
    throw badRequest(
      'subnets',
      `Cannot create subnet of IP version ${version} from a subnet pool of version ${pool.ip_version}`,
    );
  }
  return pool;
}

/** Returns the requested network, or the first free one. */
export function cidrFromPool(neutron: Neutron, pool: Readonly<SubnetPoolRow>, values: Values): Cidr {
  const text = values['cidr'] as string | undefined;
  const length = values['prefixlen'] as number | undefined;
  if (text !== undefined && length !== undefined) {
    throw badRequest('subnets', 'cidr and prefixlen must not be supplied together');
  }
  if (text === undefined && 'gateway_ip' in values && values['gateway_ip'] !== null) {
    throw badRequest('subnets', 'gateway_ip is not supported when allocating from a subnet pool without a cidr');
  }
  const wanted = text === undefined ? undefined : knownCidr(text);
  const prefix = wanted?.prefix ?? length ?? pool.default_prefixlen;
  const limits = [
    ['Max', 'maximum', pool.max_prefixlen, prefix > pool.max_prefixlen],
    ['Min', 'minimum', pool.min_prefixlen, prefix < pool.min_prefixlen],
  ] as const;
  for (const [type, word, limit, isBeyond] of limits) {
    if (!isBeyond) continue;
    const message = `Unable to allocate subnet with prefix length ${prefix}, ${word} allowed prefix is ${limit}.`;
    throw refuse(400, `${type}PrefixSubnetAllocationError`, message);
  }
  const prefixes = pool.prefixes.map((each) => knownCidr(each));
  const taken = Array.from(neutron.subnets.by('pool', pool.id), ({ cidr }) => knownCidr(cidr));
  refuseOverPoolQuota(neutron, pool, values['tenant_id'] as string, prefix);
  if (wanted === undefined) {
    const free = firstFree(prefixes, taken, prefix);
    if (!free) throw cannotAllocate(`Insufficient prefix space to allocate subnet size /${prefix}`);
    return free;
  }
  const isInside = prefixes.some(({ first, last }) => first <= wanted.first && wanted.last <= last);
  if (!isInside || taken.some((cidr) => overlap(cidr, wanted))) {
    throw cannotAllocate('Cannot allocate requested subnet from the available set of prefixes');
  }
  return wanted;
}

function cannotAllocate(reason: string): Error {
  return refuse(409, 'SubnetAllocationError', `Failed to allocate subnet: ${reason}.`);
}

/** The quota of a pool counts addresses for IPv4 and /64 networks for IPv6. */
function refuseOverPoolQuota(neutron: Neutron, pool: Readonly<SubnetPoolRow>, project: string, prefix: number): void {
  if (pool.default_quota === null) return;
  const unit = pool.ip_version === 4 ? bitsOf[4] : 64;
  const weight = (length: number): number => 2 ** Math.max(0, unit - length);
  let used = 0;
  for (const { tenant_id, cidr } of neutron.subnets.by('pool', pool.id)) {
    if (tenant_id === project) used += weight(knownCidr(cidr).prefix);
  }
  if (used + weight(prefix) > pool.default_quota) {
    throw refuse(409, 'SubnetPoolQuotaExceeded', 'Per-tenant subnet pool prefix quota exceeded.');
  }
}

/** All subnets of an IP version on a network must use the same pool. */
export function refuseOtherPool(
  { subnets }: Neutron,
  network: Readonly<NetworkRow>,
  pool: Readonly<SubnetPoolRow>,
): void {
  for (const { ip_version, subnetpool_id = null } of subnets.by('network', network.id)) {
    if (ip_version !== pool.ip_version || subnetpool_id === pool.id) continue;
    const message = 'Subnets hosted on the same network must be allocated from the same subnet pool.';
    throw refuse(400, 'NetworkSubnetPoolAffinityError', message);
  }
}
