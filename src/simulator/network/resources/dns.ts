import type { PortRow } from '../rows.ts';

/** Default domain of ports. */
const domain = 'openstack.local.';

/** Builds the names that the network's DNS resolver has for a port. */
export function dnsAssignment({ dns_name, fixed_ips }: Pick<PortRow, 'dns_name' | 'fixed_ips'>): object[] {
  return fixed_ips.map(({ ip_address }) => {
    const hostname = dns_name === '' ? `host-${ip_address.replace(/[.:]/g, '-')}` : dns_name;
    return { ip_address, hostname, fqdn: hostname.endsWith('.') ? hostname : `${hostname}.${domain}` };
  });
}
