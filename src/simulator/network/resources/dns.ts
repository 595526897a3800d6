import type { PortRow } from '../rows.ts';

/** The domain of ports without one of their own. */
const domain = 'openstack.local.';

/** The names a resolver in the network would know a port by. */
export function dnsAssignment({ dns_name, fixed_ips }: Pick<PortRow, 'dns_name' | 'fixed_ips'>): object[] {
  return fixed_ips.map(({ ip_address }) => {
    const hostname = dns_name === '' ? `host-${ip_address.replace(/[.:]/g, '-')}` : dns_name;
    return { ip_address, hostname, fqdn: hostname.endsWith('.') ? hostname : `${hostname}.${domain}` };
  });
}
