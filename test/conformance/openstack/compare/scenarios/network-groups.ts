import type { Scenario } from '../scenario.ts';

const unknown = '00000000-0000-4000-8000-00000000dead';

export const securityGroups: Scenario = {
  name: 'network: security groups',
  service: 'network',
  async play(cloud) {
    cloud.ignore('revision_number');
    cloud.ignore('standard_attr_id');
    cloud.unordered('security_group_rules');
    const { security_group: group } = await cloud.post('/v2.0/security-groups', {
      security_group: { name: 'cmp-group', description: 'd' },
    });
    const { security_group: other } = await cloud.post('/v2.0/security-groups', {
      security_group: { name: 'cmp-group' },
    });
    const path = `/v2.0/security-groups/${group.id}`;
    await cloud.get(path);
    await cloud.get(`${path}?fields=id&fields=name`);
    await cloud.get('/v2.0/security-groups?name=cmp-group&description=d&fields=id');
    await cloud.get('/v2.0/security-groups?name=default&fields=name');
    for (const filter of ['shared=false', 'stateful=true', 'tags=x', 'security_group_rules=x']) {
      await cloud.get(`/v2.0/security-groups?name=cmp-group&description=d&fields=id&${filter}`);
    }
    for (const desired of [
      { name: 'default' },
      { name: 'DEFAULT' },
      { name: 7 },
      {},
      { bogus: 1 },
      { stateful: 'x' },
    ]) {
      await cloud.post('/v2.0/security-groups', { security_group: desired });
    }
    const base = { security_group_id: group.id, direction: 'ingress' };
    const tcp = { ...base, protocol: 'tcp', port_range_min: 80, port_range_max: 80 };
    for (const desired of [
      tcp,
      { ...tcp, protocol: 'TCP' },
      { ...tcp, protocol: '6' },
      { ...tcp, protocol: 6, port_range_min: 81, port_range_max: 81 },
      { ...tcp, remote_ip_prefix: '0.0.0.0/0' },
      { ...tcp, remote_ip_prefix: '10.0.0.0/8' },
      { ...tcp, remote_ip_prefix: '10.0.0.7/8', port_range_max: 90 },
      { ...tcp, remote_ip_prefix: '10.0.0.1' },
      { ...tcp, remote_ip_prefix: 'x' },
      { ...tcp, remote_ip_prefix: 'fd00::/64' },
      { ...tcp, remote_ip_prefix: 'FD00::/64', ethertype: 'IPv6' },
      { ...tcp, remote_ip_prefix: '', port_range_max: 91 },
      { ...tcp, ethertype: 'ipv6' },
      { ...tcp, ethertype: 'IPX' },
      { ...tcp, remote_group_id: other.id },
      { ...tcp, remote_group_id: group.id },
      { ...tcp, remote_group_id: unknown },
      { ...tcp, remote_group_id: 'x' },
      { ...tcp, remote_group_id: other.id, remote_ip_prefix: '10.0.0.0/8' },
      { ...tcp, remote_address_group_id: unknown },
      { ...base, port_range_min: 80, port_range_max: 80 },
      { ...tcp, port_range_min: 90 },
      { ...tcp, port_range_max: null },
      { ...tcp, port_range_min: 0 },
      { ...tcp, port_range_max: 70_000 },
      { ...tcp, port_range_min: 'x' },
      { ...tcp, port_range_min: '443', port_range_max: '443' },
      { ...tcp, port_range_min: 1, port_range_max: 65_535 },
      { ...base, protocol: 'tcp', ethertype: 'IPv4' },
      { ...base, protocol: 'any' },
      { ...base, protocol: 'bogus' },
      { ...base, protocol: 300 },
      { ...base, protocol: -1 },
      { ...base, protocol: 112 },
      { ...base, protocol: 'vrrp' },
      { ...base, protocol: 'vrrp', port_range_min: 1, port_range_max: 2 },
      { ...base, protocol: 'icmp' },
      { ...base, protocol: 'icmp', port_range_min: 8 },
      { ...base, protocol: 'icmp', port_range_min: 8, port_range_max: 0 },
      { ...base, protocol: 'icmp', port_range_min: 300 },
      { ...base, protocol: 'icmp', port_range_max: 0 },
      { ...base, protocol: 'icmp', ethertype: 'IPv6' },
      { ...base, protocol: 'icmpv6', ethertype: 'IPv6' },
      { ...base, protocol: 'ipv6-icmp' },
      { ...base, direction: 'sideways' },
      { ...base, security_group_id: unknown },
      { ...base, security_group_id: 'x' },
      { direction: 'egress', security_group_id: group.id },
      { direction: 'egress' },
      { security_group_id: group.id },
      { ...base, description: 'all' },
      { ...base, bogus: 1 },
      { ...base, name: 'x' },
    ]) {
      await cloud.post('/v2.0/security-group-rules', { security_group_rule: desired });
    }
    await cloud.post('/v2.0/security-group-rules', {
      security_group_rules: [
        { ...tcp, port_range_min: 1000, port_range_max: 1000 },
        { ...tcp, port_range_min: 1000, port_range_max: 1000 },
      ],
    });
    await cloud.post('/v2.0/security-group-rules', {
      security_group_rules: [
        { ...tcp, port_range_min: 1000, port_range_max: 1000 },
        { ...tcp, port_range_min: 1000, port_range_max: 1000, security_group_id: other.id },
      ],
    });
    await cloud.post('/v2.0/security-group-rules', {
      security_group_rules: [
        { ...tcp, port_range_min: 1000, port_range_max: 1000 },
        { ...tcp, port_range_min: 1001, port_range_max: 1001 },
      ],
    });
    const { security_group_rules: rules } = await cloud.get(
      `/v2.0/security-group-rules?security_group_id=${group.id}&port_range_min=1000`,
    );
    for (const filter of [
      'protocol=tcp&port_range_min=443',
      'protocol=TCP&port_range_min=443',
      'protocol=bogus',
      'direction=egress&ethertype=IPv4',
      'remote_ip_prefix=10.0.0.0/8',
      'port_range_min=x',
      'ethertype=ipv6&direction=egress',
      `remote_group_id=${other.id}`,
      'bogus=1',
    ]) {
      await cloud.get(
        `/v2.0/security-group-rules?security_group_id=${group.id}&${filter}&fields=protocol&fields=direction`,
      );
    }
    const rule = `/v2.0/security-group-rules/${rules[0].id}`;
    await cloud.get(rule);
    await cloud.put(rule, { security_group_rule: { description: 'new' } });
    await cloud.delete(rule);
    await cloud.delete(rule);
    await cloud.get(rule);
    await cloud.put(path, { security_group: { name: 'cmp-group2' } });
    await cloud.put(path, { security_group: { name: 'default' } });
    await cloud.put(path, { security_group: { stateful: false } });
    await cloud.put(path, { security_group: {} });
    const { security_groups: defaults } = await cloud.until('/v2.0/security-groups?name=default', () => true);
    await cloud.put(`/v2.0/security-groups/${defaults[0].id}`, { security_group: { name: 'other' } });
    await cloud.put(`/v2.0/security-groups/${defaults[0].id}`, {
      security_group: { description: defaults[0].description },
    });
    await cloud.delete(`/v2.0/security-groups/${defaults[0].id}`);
    await cloud.get(`/v2.0/security-groups/${defaults[0].id}?fields=name&fields=description`);
    const { network } = await cloud.post('/v2.0/networks', { network: { name: 'cmp-groups' } });
    const { port } = await cloud.post('/v2.0/ports', { port: { network_id: network.id, security_groups: [other.id] } });
    await cloud.delete(`/v2.0/security-groups/${other.id}`);
    await cloud.put(`/v2.0/security-groups/${other.id}`, { security_group: { stateful: false } });
    await cloud.delete(`/v2.0/ports/${port.id}`);
    await cloud.delete(`/v2.0/security-groups/${other.id}`);
    await cloud.get(`/v2.0/security-group-rules?remote_group_id=${other.id}`);
    await cloud.delete(path);
    await cloud.get(path);
    await cloud.delete(path);
    await cloud.get(`/v2.0/security-groups/${unknown}`);
  },
};

export const trunks: Scenario = {
  name: 'network: trunks',
  service: 'network',
  async play(cloud) {
    cloud.ignore('revision_number');
    const { network } = await cloud.post('/v2.0/networks', { network: { name: 'cmp-trunks' } });
    const port = async (desired: object = {}): Promise<string> => {
      const made = await cloud.post('/v2.0/ports', { port: { network_id: network.id, ...desired } });
      return made.port.id;
    };
    const parent = await port({ name: 'cmp-parent' });
    const child = await port();
    const second = await port();
    const used = await port({ device_id: 'something' });
    const vlan = (port_id: string, segmentation_id: unknown = 100): object => ({
      port_id,
      segmentation_id,
      segmentation_type: 'vlan',
    });
    const { trunk } = await cloud.post('/v2.0/trunks', { trunk: { name: 'cmp-trunk', port_id: parent } });
    const path = `/v2.0/trunks/${trunk.id}`;
    await cloud.get(path);
    for (const desired of [
      {},
      { port_id: unknown },
      { port_id: 'x' },
      { port_id: parent },
      { port_id: used },
      { port_id: child, sub_ports: [vlan(unknown)] },
      { port_id: child, sub_ports: [vlan(child)] },
      { port_id: child, sub_ports: [vlan(used)] },
      { port_id: child, sub_ports: [{ port_id: second }] },
      { port_id: child, sub_ports: [{ port_id: 'x' }] },
      { port_id: child, sub_ports: [{}] },
      { port_id: child, sub_ports: 'x' },
      { port_id: child, sub_ports: ['x'] },
      { port_id: child, sub_ports: [vlan(second), vlan(second)] },
      { port_id: child, sub_ports: [vlan(second, 'x')] },
      { port_id: child, sub_ports: [vlan(second, 5000)] },
      { port_id: child, sub_ports: [{ ...vlan(second), segmentation_type: 'bogus' }] },
    ]) {
      await cloud.post('/v2.0/trunks', { trunk: desired });
    }
    await cloud.put(`${path}/add_subports`, { sub_ports: [vlan(child)] });
    await cloud.put(`${path}/add_subports`, { sub_ports: [vlan(child, 101)] });
    await cloud.put(`${path}/add_subports`, { sub_ports: [vlan(second)] });
    await cloud.put(`${path}/add_subports`, { sub_ports: [vlan(parent, 102)] });
    await cloud.put(`${path}/add_subports`, {});
    await cloud.put(`${path}/add_subports`, { sub_ports: [{}] });
    await cloud.get(`${path}/get_subports`);
    await cloud.get(`/v2.0/ports/${parent}`);
    await cloud.get(`/v2.0/ports/${child}`);
    await cloud.delete(`/v2.0/ports/${parent}`);
    await cloud.delete(`/v2.0/ports/${child}`);
    await cloud.get(`/v2.0/trunks?port_id=${parent}&fields=name&fields=sub_ports`);
    await cloud.get('/v2.0/trunks?name=cmp-trunk&status=DOWN');
    await cloud.put(path, { trunk: { admin_state_up: false } });
    await cloud.put(`${path}/add_subports`, { sub_ports: [vlan(second, 101)] });
    await cloud.put(path, { trunk: { admin_state_up: true, name: 'cmp-trunk2' } });
    await cloud.put(path, { trunk: { port_id: child } });
    await cloud.put(`${path}/remove_subports`, { sub_ports: [{ port_id: second }] });
    await cloud.put(`${path}/remove_subports`, { sub_ports: [{}] });
    await cloud.put(`${path}/remove_subports`, { sub_ports: [{ port_id: child }] });
    await cloud.get(`/v2.0/ports/${child}`);
    await cloud.put(`${path}/add_subports`, { sub_ports: [vlan(child)] });
    await cloud.put(`${path}/tags`, { tags: ['t'] });
    await cloud.delete(path);
    await cloud.get(`/v2.0/ports/${child}?fields=device_owner`);
    await cloud.delete(path);
    await cloud.get(path);
    await cloud.put(`${path}/add_subports`, { sub_ports: [] });
  },
};
