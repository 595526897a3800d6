import type { Scenario } from '../scenario.ts';

const unknown = '00000000-0000-4000-8000-00000000dead';

export const subnets: Scenario = {
  name: 'network: subnets',
  service: 'network',
  async play(cloud) {
    const { network } = await cloud.post('/v2.0/networks', { network: { name: 'cmp-subnets' } });
    const base = { network_id: network.id, ip_version: 4 };
    const { subnet } = await cloud.post('/v2.0/subnets', {
      subnet: { ...base, cidr: '10.2.0.7/24', name: 'cmp-sub', dns_nameservers: ['1.1.1.1', '8.8.8.8'] },
    });
    await cloud.get(`/v2.0/subnets/${subnet.id}`);
    await cloud.get(`/v2.0/networks/${network.id}`);
    await cloud.get('/v2.0/subnets?name=cmp-sub&fields=id&fields=cidr');
    for (const filter of [
      'cidr=10.2.0.0/24',
      'cidr=bogus',
      'ip_version=4',
      'ip_version=6',
      'gateway_ip=10.2.0.1',
      'enable_dhcp=true',
      'shared=false',
      'allocation_pools=x',
      'ipv6_ra_mode=slaac',
      `network_id=${network.id}`,
      'subnetpool_id=x',
      'dns_nameservers=1.1.1.1',
    ]) {
      await cloud.get(`/v2.0/subnets?name=cmp-sub&fields=name&${filter}`);
    }
    for (const desired of [
      { cidr: '10.2.0.128/25' },
      { cidr: 'bogus' },
      { cidr: null },
      {},
      { cidr: '10.3.0.0/24', prefixlen: 24 },
      { prefixlen: 24 },
      { cidr: '10.3.0.0/24', ip_version: 6 },
      { cidr: '10.3.0.0/24', ip_version: 5 },
      { cidr: '10.3.0.0/24', ip_version: 'x' },
      { cidr: '10.3.0.0/24', gateway_ip: '10.3.0.0' },
      { cidr: '10.3.0.0/24', gateway_ip: '10.3.0.255' },
      { cidr: '10.3.0.0/24', gateway_ip: 'fd00::1' },
      { cidr: '10.3.0.0/24', gateway_ip: 'x' },
      { cidr: '10.3.0.0/24', gateway_ip: '10.3.0.9', allocation_pools: [{ start: '10.3.0.5', end: '10.3.0.20' }] },
      { cidr: '10.3.0.0/24', allocation_pools: [{ start: '10.3.0.2', end: '10.3.1.20' }] },
      { cidr: '10.3.0.0/24', allocation_pools: [{ start: '10.3.0.20', end: '10.3.0.2' }] },
      { cidr: '10.3.0.0/24', allocation_pools: [{ start: '10.3.0.2' }] },
      { cidr: '10.3.0.0/24', allocation_pools: [{ start: 'x', end: '10.3.0.5' }] },
      { cidr: '10.3.0.0/24', allocation_pools: 'x' },
      {
        cidr: '10.3.0.0/24',
        allocation_pools: [
          { start: '10.3.0.2', end: '10.3.0.9' },
          { start: '10.3.0.5', end: '10.3.0.20' },
        ],
      },
      { cidr: '10.3.0.0/24', allocation_pools: [{ start: 'fd00::1', end: 'fd00::2' }] },
      { cidr: '10.3.0.0/24', dns_nameservers: ['x'] },
      { cidr: '10.3.0.0/24', dns_nameservers: ['1.1.1.1', '1.1.1.1'] },
      { cidr: '10.3.0.0/24', dns_nameservers: ['fd00::1'] },
      { cidr: '10.3.0.0/24', dns_nameservers: ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4', '1.1.1.5', '1.1.1.6'] },
      { cidr: '10.3.0.0/24', host_routes: [{ destination: '10.9.0.0/16' }] },
      { cidr: '10.3.0.0/24', host_routes: [{ destination: '10.9.0.1/16', nexthop: '10.3.0.9' }] },
      { cidr: '10.3.0.0/24', host_routes: [{ destination: 'fd00::/64', nexthop: 'fd00::1' }] },
      { cidr: '10.3.0.0/24', ipv6_ra_mode: 'slaac' },
      { cidr: '10.3.0.0/24', ipv6_address_mode: 'bogus' },
      { cidr: '10.3.0.0/31' },
      { cidr: '10.3.0.0/31', enable_dhcp: false },
      { cidr: '10.4.0.0/32', enable_dhcp: false },
      { cidr: '224.0.0.0/24' },
      { cidr: '127.0.0.0/24' },
      { cidr: '0.0.0.0/24' },
      { cidr: '0.0.0.0/0', enable_dhcp: false },
      { cidr: '10.5.0.0/255.255.255.0' },
      { cidr: '10.3.0.0/24', subnetpool_id: unknown },
      { cidr: '10.3.0.0/24', use_default_subnetpool: true },
      { cidr: '10.3.0.0/24', service_types: ['compute:nova'] },
      { cidr: '10.3.0.0/24', network_id: unknown },
      { cidr: '10.3.0.0/24', network_id: 'x' },
      { cidr: '10.3.0.0/24', enable_dhcp: 'perhaps' },
      { cidr: '10.3.0.0/24', bogus: 1 },
      { cidr: '10.6.0.0/24', gateway_ip: null },
      { cidr: '10.7.0.0/24', gateway_ip: '10.7.0.254' },
      { cidr: '10.8.0.0/24', gateway_ip: '10.8.0.100' },
      { cidr: '10.9.0.0/24', gateway_ip: '10.99.0.1' },
      { cidr: '10.10.0.0/29', host_routes: [{ destination: '10.99.0.0/16', nexthop: '10.10.0.4' }] },
    ]) {
      await cloud.post('/v2.0/subnets', { subnet: { ...base, ...desired } });
    }
    await cloud.post('/v2.0/subnets', { subnet: { cidr: '10.3.0.0/24', ip_version: 4 } });
    await cloud.post('/v2.0/subnets', { subnet: { cidr: '10.3.0.0/24', network_id: network.id } });
    const path = `/v2.0/subnets/${subnet.id}`;
    for (const change of [
      {},
      { name: 'cmp-sub2' },
      { dns_nameservers: [] },
      { dns_nameservers: null },
      { gateway_ip: '10.2.0.2' },
      { gateway_ip: '10.2.0.0' },
      { gateway_ip: null },
      { allocation_pools: [{ start: '10.2.0.10', end: '10.2.0.20' }] },
      { allocation_pools: [{ start: '10.3.0.10', end: '10.3.0.20' }] },
      { gateway_ip: '10.2.0.15' },
      { gateway_ip: '10.2.0.1' },
      { host_routes: [{ destination: '10.99.0.0/16', nexthop: '10.2.0.4' }] },
      { enable_dhcp: false },
      { cidr: '10.2.0.0/25' },
      { network_id: network.id },
      { ip_version: 4 },
    ]) {
      await cloud.put(path, { subnet: change });
    }
    await cloud.delete(path);
    await cloud.delete(path);
    await cloud.get(path);
    await cloud.put(path, { subnet: { name: 'x' } });
  },
};

export const ipv6: Scenario = {
  name: 'network: IPv6',
  service: 'network',
  async play(cloud) {
    const { network } = await cloud.post('/v2.0/networks', { network: { name: 'cmp-v6' } });
    const base = { network_id: network.id, ip_version: 6 };
    const slaac = { ipv6_ra_mode: 'slaac', ipv6_address_mode: 'slaac' };
    await cloud.post('/v2.0/subnets', { subnet: { ...base, cidr: 'FD00:1::/64', name: 'plain' } });
    const { subnet } = await cloud.post('/v2.0/subnets', { subnet: { ...base, cidr: 'fd00:2::/64', ...slaac } });
    for (const desired of [
      { cidr: 'fd00:3::/65', ...slaac },
      { cidr: 'fd00:3::/64', ...slaac, enable_dhcp: false },
      { cidr: 'fd00:3::/64', ipv6_ra_mode: 'slaac', ipv6_address_mode: 'dhcpv6-stateful' },
      { cidr: 'fd00:3::/127' },
      { cidr: 'ff00::/64' },
      { cidr: 'fd00:4::/64', ipv6_ra_mode: 'dhcpv6-stateful', ipv6_address_mode: 'dhcpv6-stateful' },
      { cidr: 'fd00:5::/64', ipv6_address_mode: 'slaac' },
      { cidr: '10.0.0.0/24' },
      { cidr: 'fd00:6::/126', allocation_pools: [{ start: 'fd00:6::1', end: 'fd00:6::3' }], gateway_ip: null },
    ]) {
      await cloud.post('/v2.0/subnets', { subnet: { ...base, ...desired } });
    }
    await cloud.put(`/v2.0/subnets/${subnet.id}`, { subnet: { enable_dhcp: false } });
    const { port } = await cloud.post('/v2.0/ports', {
      port: {
        network_id: network.id,
        mac_address: 'fa:16:3e:00:00:07',
        fixed_ips: [{ ip_address: 'FD00:1:0::9' }],
        name: 'cmp-six',
      },
    });
    await cloud.get('/v2.0/ports?fixed_ips=ip_address%3Dfd00:1::9&fields=name');
    await cloud.get('/v2.0/ports?fixed_ips=ip_address%3DFD00:1::0:9&fields=name');
    await cloud.put(`/v2.0/ports/${port.id}`, { port: { fixed_ips: [{ ip_address: 'fd00:1::a' }] } });
    await cloud.put(`/v2.0/ports/${port.id}`, { port: { fixed_ips: [{ ip_address: 'fd00:2::a' }] } });
    await cloud.put(`/v2.0/ports/${port.id}`, { port: { fixed_ips: [] } });
    await cloud.delete(`/v2.0/subnets/${subnet.id}`);
    await cloud.get(`/v2.0/ports/${port.id}?fields=fixed_ips`);
  },
};
