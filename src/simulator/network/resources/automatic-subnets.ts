import type { SubnetRow } from '../rows.ts';

/** Reports whether hosts of the subnet derive their own addresses (SLAAC). */
export function isAutomatic(subnet: Pick<SubnetRow, 'ipv6_address_mode' | 'ipv6_ra_mode'>): boolean {
  const { ipv6_address_mode: address, ipv6_ra_mode: router } = subnet;
  return [address, router].some((each) => each === 'slaac' || each === 'dhcpv6-stateless');
}
