import { cidrFamily, ipFamily } from '../../../machinery/index.ts';
import { allowedCidrsVersion, type LoadBalancer } from '../../../openstack/index.ts';
import { record } from './events.ts';
import type { ClusterScope } from './scope.ts';

/**
 * Returns the CIDRs that may connect to the load balancer: the user's and those of the cluster. Empty means everybody;
 * undefined means that this Octavia does not support it.
 */
export async function allowedCidrsOf(scope: ClusterScope, balancer: LoadBalancer): Promise<string[] | undefined> {
  const { spec, status } = scope.draft;
  const given = spec.apiServer?.managedLoadBalancer?.allowedCIDRs ?? [];
  if (balancer.provider === 'ovn') return undefined;
  const { loadBalancer } = scope.access.openstack;
  if (given.length === 0) return [];
  if (!(await loadBalancer.supports(allowedCidrsVersion, { signal: scope.context.signal }))) return undefined;
  const family = ipFamily(balancer.vipAddress ?? '') ?? 'IPv4';
  const { allowed, dropped } = mergeCidrs(family, [
    ...given,
    status?.bastion?.floatingIP,
    status?.bastion?.ip,
    ...(status?.network?.subnets ?? []).map(({ cidr }) => cidr),
    ...(status?.router?.ips ?? []),
  ]);
  const unusable = dropped.filter((entry) => given.includes(entry));
  if (unusable.length > 0) {
    record(
      scope,
      'FailedIPAddressValidation',
      `allowedCIDRs ${unusable.join(', ')} cannot be used with the ${family} address of the load balancer`,
      'Warning',
    );
  }
  return allowed;
}

/** Filters ranges by family, sorts and deduplicates them; a single address becomes a range of one. */
export function mergeCidrs(
  family: 'IPv4' | 'IPv6',
  entries: readonly (string | undefined)[],
): { allowed: string[]; dropped: string[] } {
  const allowed = new Set<string>();
  const dropped: string[] = [];
  for (const entry of entries) {
    if (entry === undefined || entry === '') continue;
    const single = ipFamily(entry);
    if ((single ?? cidrFamily(entry)) !== family) dropped.push(entry);
    else allowed.add(single === undefined ? entry : `${entry}/${family === 'IPv4' ? 32 : 128}`);
  }
  return { allowed: [...allowed].sort(), dropped };
}
