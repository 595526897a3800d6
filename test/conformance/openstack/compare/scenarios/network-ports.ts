import type { Scenario } from '../scenario.ts';

const unknown = '00000000-0000-4000-8000-00000000dead';

export const ports: Scenario = {
  name: 'network: ports',
  service: 'network',
  async play(cloud) {
    cloud.ignore('revision_number');
    const { network } = await cloud.post('/v2.0/networks', { network: { name: 'cmp-ports' } });
    const base = { network_id: network.id };
    await cloud.post('/v2.0/ports', { port: { ...base, name: 'cmp-none' } });
    await cloud.post('/v2.0/ports', { port: { ...base, fixed_ips: [{ ip_address: '10.0.0.5' }] } });
    const { subnet } = await cloud.post('/v2.0/subnets', {
      subnet: {
        ...base,
        ip_version: 4,
        cidr: '10.0.0.0/24',
        allocation_pools: [{ start: '10.0.0.100', end: '10.0.0.120' }],
      },
    });
    const { port: any } = await cloud.post('/v2.0/ports', { port: { ...base, name: 'cmp-any' } }).then((made) => {
      cloud.hide(made.port.fixed_ips[0].ip_address, 'any');
      cloud.hide(made.port.fixed_ips[0].ip_address.replaceAll('.', '-'), 'any dashed');
      return made;
    });
    cloud.records.length -= 1;
    await cloud.get(`/v2.0/ports/${any.id}`);
    const { port } = await cloud.post('/v2.0/ports', {
      port: {
        ...base,
        name: 'cmp-port',
        description: 'd',
        fixed_ips: [{ ip_address: '10.0.0.5' }],
        mac_address: 'fa:16:3e:00:00:01',
        dns_name: 'web',
        allowed_address_pairs: [
          { ip_address: '10.0.0.200' },
          { ip_address: '10.1.0.0/24', mac_address: 'fa:16:3e:00:00:02' },
        ],
        tags: ['b', 'a'],
      },
    });
    const path = `/v2.0/ports/${port.id}`;
    await cloud.get(path);
    cloud.as('admin');
    await cloud.get(path);
    cloud.as('openstack');
    for (const desired of [
      { fixed_ips: [{ ip_address: '10.0.0.5' }] },
      { fixed_ips: [{ ip_address: '10.0.0.0' }] },
      { fixed_ips: [{ ip_address: '10.0.0.255' }] },
      { fixed_ips: [{ ip_address: '10.9.0.5' }] },
      { fixed_ips: [{ ip_address: '10.9.0.5', subnet_id: subnet.id }] },
      { fixed_ips: [{ ip_address: '10.0.0.9', subnet_id: unknown }] },
      { fixed_ips: [{ subnet_id: unknown }] },
      { fixed_ips: [{ subnet_id: 'x' }] },
      { fixed_ips: [{ ip_address: 'x' }] },
      { fixed_ips: [{}] },
      { fixed_ips: 'x' },
      { fixed_ips: ['x'] },
      { fixed_ips: null },
      { fixed_ips: [{ ip_address: '10.0.0.7' }, { ip_address: '10.0.0.7' }] },
      { fixed_ips: [], name: 'cmp-bare' },
      { fixed_ips: [{ ip_address: '10.0.0.1' }], name: 'cmp-gateway' },
      { mac_address: 'fa:16:3e:00:00:01' },
      { mac_address: 'x' },
      { mac_address: '00:00:00:00:00:00' },
      { network_id: unknown },
      { network_id: 'x' },
      { security_groups: [unknown] },
      { security_groups: ['x'] },
      { security_groups: 'x' },
      { security_groups: [], fixed_ips: [{ ip_address: '10.0.0.30' }] },
      { port_security_enabled: false, fixed_ips: [{ ip_address: '10.0.0.31' }] },
      { port_security_enabled: false, security_groups: port.security_groups, fixed_ips: [{ ip_address: '10.0.0.32' }] },
      { port_security_enabled: false, allowed_address_pairs: [{ ip_address: '10.0.0.9' }] },
      { port_security_enabled: 'x' },
      { allowed_address_pairs: [{ ip_address: '10.0.0.9' }, { ip_address: '10.0.0.9' }] },
      { allowed_address_pairs: [{ mac_address: 'fa:16:3e:00:00:09' }] },
      { allowed_address_pairs: [{ ip_address: 'x' }] },
      { allowed_address_pairs: [{ ip_address: '10.0.0.9', mac_address: 'x' }] },
      { allowed_address_pairs: [{ ip_address: '10.0.0.9', bogus: 1 }] },
      { allowed_address_pairs: ['x'] },
      { allowed_address_pairs: 'x' },
      { 'binding:vnic_type': 'bogus' },
      { 'binding:vnic_type': 'direct', fixed_ips: [{ ip_address: '10.0.0.33' }] },
      { 'binding:host_id': 'h' },
      { 'binding:profile': { a: 1 } },
      { 'binding:profile': {} },
      { 'binding:profile': 'x' },
      { 'binding:vif_type': 'ovs' },
      { device_owner: 'network:dhcp', fixed_ips: [{ ip_address: '10.0.0.34' }] },
      { device_owner: 'compute:nova', device_id: 'abc', fixed_ips: [{ ip_address: '10.0.0.35' }] },
      { extra_dhcp_opts: [{ opt_name: 'mtu', opt_value: '1400' }], fixed_ips: [{ ip_address: '10.0.0.36' }] },
      { extra_dhcp_opts: [{ opt_name: 'mtu' }] },
      { extra_dhcp_opts: [{ opt_name: 'mtu', opt_value: '1400', ip_version: 7 }] },
      { extra_dhcp_opts: 'x' },
      { dns_name: 'bad_name' },
      { dns_name: 'a.b', fixed_ips: [{ ip_address: '10.0.0.37' }] },
      { dns_domain: 'x' },
      { qos_policy_id: unknown },
      { qos_policy_id: 'x' },
      { tags: ['x', 'x'] },
      { status: 'ACTIVE' },
      { value_specs: {} },
      { propagate_uplink_status: true },
      { name: 7 },
      { device_id: null },
      { numa_affinity_policy: 'bogus' },
    ]) {
      await cloud.post('/v2.0/ports', { port: { ...base, ...desired } });
    }
    await cloud.post('/v2.0/ports', { port: { name: 'x' } });
    await cloud.post('/v2.0/ports', {
      ports: [
        { ...base, name: 'cmp-bulk', fixed_ips: [{ ip_address: '10.0.0.40' }] },
        { ...base, name: 'cmp-bulk', fixed_ips: [{ ip_address: '10.0.0.40' }] },
      ],
    });
    await cloud.get('/v2.0/ports?name=cmp-bulk');
    for (const filter of [
      'fixed_ips=ip_address%3D10.0.0.5',
      `fixed_ips=subnet_id%3D${subnet.id}&fixed_ips=ip_address%3D10.0.0.5`,
      'fixed_ips=ip_address_substr%3D0.0.5',
      'fixed_ips=bogus%3Dx',
      'fixed_ips=bogus',
      'mac_address=FA:16:3E:00:00:01',
      'device_id=',
      'device_owner=',
      `security_groups=${port.security_groups[0]}`,
      'status=DOWN',
      'tags=a',
      'tags=a,b',
      'binding:vnic_type=normal',
      'binding:host_id=',
      'description=d',
      'admin_state_up=1',
      'port_security_enabled=true',
      'dns_name=web',
      `network_id=${network.id}&name=CMP-PORT`,
    ]) {
      await cloud.get(`/v2.0/ports?name=cmp-port&fields=name&${filter}`);
    }
    for (const change of [
      {},
      { name: 'cmp-port2' },
      { name: 'cmp-port' },
      { fixed_ips: [{ ip_address: '10.0.0.5' }, { ip_address: '10.0.0.6' }] },
      { fixed_ips: [{ subnet_id: subnet.id }] },
      { fixed_ips: [{ ip_address: '10.0.0.5' }] },
      { fixed_ips: [{ ip_address: '10.0.0.30' }] },
      { fixed_ips: [] },
      { fixed_ips: [{ ip_address: '10.0.0.5' }] },
      { mac_address: 'fa:16:3e:00:00:0a' },
      { mac_address: 'fa:16:3e:00:00:01' },
      { security_groups: [] },
      { security_groups: port.security_groups },
      { port_security_enabled: false },
      { port_security_enabled: false, security_groups: [] },
      { port_security_enabled: false, security_groups: [], allowed_address_pairs: [] },
      { allowed_address_pairs: [{ ip_address: '10.0.0.9' }] },
      { security_groups: port.security_groups },
      { port_security_enabled: true },
      { security_groups: port.security_groups },
      { allowed_address_pairs: [{ ip_address: '10.0.0.9' }] },
      { allowed_address_pairs: null },
      { 'binding:vnic_type': 'direct' },
      { 'binding:host_id': 'h' },
      { device_id: 'dev', device_owner: 'compute:nova' },
      { device_owner: 'network:router_interface' },
      { device_id: '', device_owner: '' },
      { extra_dhcp_opts: [{ opt_name: 'mtu', opt_value: '1400' }] },
      { extra_dhcp_opts: [{ opt_name: 'mtu', opt_value: null }] },
      { tags: ['x'] },
      { network_id: network.id },
      { dns_name: '' },
      { status: 'ACTIVE' },
      { bogus: 1 },
    ]) {
      await cloud.put(path, { port: change });
    }
    cloud.as('admin');
    await cloud.put(path, { port: { 'binding:host_id': 'some-host', 'binding:profile': { a: 'b' } } });
    await cloud.put(path, { port: { mac_address: 'fa:16:3e:00:00:0b' } });
    cloud.as('openstack');
    await cloud.get(path);
    cloud.as('admin');
    await cloud.put(path, { port: { 'binding:host_id': '' } });
    cloud.as('openstack');
    await cloud.delete(`/v2.0/subnets/${subnet.id}`);
    await cloud.delete(path);
    await cloud.delete(path);
    await cloud.get(path);
    await cloud.put(path, { port: { name: 'x' } });
  },
};

export const exhaustion: Scenario = {
  name: 'network: a pool runs out',
  service: 'network',
  async play(cloud) {
    const { network } = await cloud.post('/v2.0/networks', { network: { name: 'cmp-small' } });
    const { subnet } = await cloud.post('/v2.0/subnets', {
      subnet: { network_id: network.id, ip_version: 4, cidr: '10.0.0.0/30', gateway_ip: null },
    });
    const { port } = await cloud.post('/v2.0/ports', {
      port: { network_id: network.id, fixed_ips: [{ ip_address: '10.0.0.1' }] },
    });
    await cloud.post('/v2.0/ports', { port: { network_id: network.id } });
    await cloud.post('/v2.0/ports', { port: { network_id: network.id } });
    await cloud.post('/v2.0/ports', { port: { network_id: network.id, fixed_ips: [{ subnet_id: subnet.id }] } });
    await cloud.delete(`/v2.0/ports/${port.id}`);
    await cloud.post('/v2.0/ports', { port: { network_id: network.id } });
    await cloud.delete(`/v2.0/subnets/${subnet.id}`);
    const { ports } = await cloud.until(`/v2.0/ports?network_id=${network.id}`, () => true);
    const answer = await cloud.delete(`/v2.0/networks/${network.id}`);
    // The order of the ids is random.
    cloud.records.at(-1)!.body.NeutronError.message = answer.NeutronError.message
      .replace(/is: .*/, `is: ${ports.length}`)
      .replace(network.id, 'ID');
  },
};
