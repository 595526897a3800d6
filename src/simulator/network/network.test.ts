import { beforeEach, describe, expect, it } from 'vitest';
import { type TestCloud, testCloud } from '../testing/test-cloud.ts';
import {
  type Json,
  makeExternal,
  makeNetwork,
  networkClient,
  refusalOf,
  type ServiceClient,
} from './testing/requests.ts';

const unknown = '00000000-0000-4000-8000-00000000dead';

let cloud: TestCloud;
let member: ServiceClient;
let admin: ServiceClient;

beforeEach(async () => {
  cloud = await testCloud();
  member = networkClient(await cloud.member());
  admin = networkClient(cloud.admin);
});

const moment = (): Promise<void> => cloud.clock.advance(1_000);

it('QoS policies also have tags at the path of older releases', async () => {
  const { policy } = (await admin.send('POST', '/qos/policies', { policy: { name: 'q' } })).body as {
    policy: { id: string };
  };
  const set = await admin.send('PUT', `/policies/${policy.id}/tags`, { tags: ['blue'] });
  expect(set).toMatchObject({ status: 200, body: { tags: ['blue'] } });
  expect((await admin.send('GET', `/qos/policies/${policy.id}/tags`)).body).toMatchObject({ tags: ['blue'] });
  expect((await admin.send('GET', `/qos/policies/${policy.id}`)).body).toMatchObject({ policy: { tags: ['blue'] } });
});

describe('visibility of networks and who may change them', () => {
  it('lets members see their own, shared and external networks', async () => {
    const other = networkClient(await cloud.member('other'));
    await other.make('network', { name: 'theirs' });
    await member.make('network', { name: 'mine' });
    await admin.make('network', { name: 'everybody', shared: true });
    await makeExternal(admin);
    const names = (await member.list('/networks')).map(({ name }) => name).sort();
    expect(names).toEqual(['everybody', 'mine', 'public']);
  });

  it('answers 404 for hidden networks and 403 for visible foreign ones', async () => {
    const other = networkClient(await cloud.member('other'));
    const { id: hidden } = await other.make('network', {});
    const external = await makeExternal(admin);
    expect(refusalOf(await member.send('GET', `/networks/${hidden}`))).toEqual([404, 'NetworkNotFound']);
    expect(refusalOf(await member.send('DELETE', `/networks/${external}`))).toEqual([403, 'PolicyNotAuthorized']);
    expect(refusalOf(await member.send('POST', '/ports', { port: { network_id: external } }))).toEqual([
      403,
      'HTTPForbidden',
    ]);
  });

  it('lets readers change nothing', async () => {
    const reader = networkClient(await cloud.member('readers', ['reader']));
    expect(refusalOf(await reader.send('POST', '/networks', { network: {} }))).toEqual([403, 'PolicyNotAuthorized']);
    expect(await reader.list('/networks')).toEqual([]);
  });

  it.each([
    [{ shared: true }, '(rule:create_network and rule:create_network:shared) is disallowed by policy'],
    [
      { shared: true, 'router:external': true },
      '((rule:create_network and rule:create_network:shared) and rule:create_network:router:external) is disallowed by policy',
    ],
  ])('refuses attributes for administrators by name: %j', async (desired, message) => {
    const { body } = await member.send('POST', '/networks', { network: desired });
    expect((body as Json).NeutronError.message).toBe(message);
  });
});

describe('sharing of networks', () => {
  it('gives one project the use of a network and ends only when it has no ports there', async () => {
    const other = networkClient(await cloud.member('other'));
    const { networkId, subnetId } = await makeNetwork(member, '10.0.0.0/24');
    const target = other.user.projectId;
    const desired = { object_type: 'network', object_id: networkId, action: 'access_as_shared', target_tenant: target };
    const { rbac_policy: grant } = (await member.send('POST', '/rbac-policies', { rbac_policy: desired })).body as Json;
    expect(await other.list('/networks')).toMatchObject([{ id: networkId, shared: true }]);
    expect(await other.list('/subnets')).toMatchObject([{ id: subnetId }]);
    const port = await other.make('port', { network_id: networkId });
    expect(refusalOf(await member.send('DELETE', `/rbac-policies/${grant.id}`))).toEqual([409, 'RbacPolicyInUse']);
    await other.remove('port', port.id);
    expect((await member.send('DELETE', `/rbac-policies/${grant.id}`)).status).toBe(204);
    expect(await other.list('/networks')).toEqual([]);
  });

  it('with everybody is reserved for administrators, by attribute or by policy', async () => {
    const { id } = await member.make('network', { name: 'n' });
    const desired = { object_type: 'network', object_id: id, action: 'access_as_shared', target_tenant: '*' };
    expect(refusalOf(await member.send('POST', '/rbac-policies', { rbac_policy: desired }))).toEqual([
      403,
      'PolicyNotAuthorized',
    ]);
    await admin.change('network', id, { shared: true });
    const [policy] = await admin.list(`/rbac-policies?object_id=${id}`);
    expect(policy).toMatchObject({ target_tenant: '*' });
    await admin.send('DELETE', `/rbac-policies/${policy.id}`);
    expect((await member.get(`/networks/${id}`)).shared).toBe(false);
  });
});

describe('lists', () => {
  it('filter by any plain attribute, whatever the case of letters', async () => {
    await member.make('network', { name: 'Alpha' });
    await member.make('network', { name: 'beta', admin_state_up: false });
    const names = async (query: string): Promise<string[]> =>
      (await member.list(`/networks?${query}`)).map(({ name }) => name);
    expect(await names('name=alpha')).toEqual(['Alpha']);
    expect(await names('admin_state_up=false')).toEqual(['beta']);
    expect(await names('name=alpha&name=beta')).toEqual(['Alpha', 'beta']);
    expect(await names('status=ACTIVE&name=nobody')).toEqual([]);
  });

  it('walk through every page, forward and back', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await member.make('network', { name });
    const walk = async (rel: string, start: string): Promise<string[]> => {
      const seen: string[] = [];
      let path: string | undefined = start;
      while (path !== undefined) {
        const { body } = await member.send('GET', path);
        const { networks, networks_links: links } = body as Json;
        seen.push(...networks.map((network: Json) => network.name));
        const link = links.find((each: Json) => each.rel === rel);
        path = networks.length > 0 && link ? link.href.split('/v2.0')[1] : undefined;
      }
      return seen;
    };
    expect(await walk('next', '/networks?limit=2&sort_key=name&sort_dir=asc')).toEqual(['a', 'b', 'c', 'd', 'e']);
    const back = await walk('previous', '/networks?limit=2&sort_key=name&sort_dir=asc&page_reverse=True');
    expect(back.sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('show only the requested fields', async () => {
    await member.make('network', { name: 'n' });
    expect(await member.list('/networks?fields=name&fields=mtu')).toEqual([{ name: 'n', mtu: 1450 }]);
  });

  it.each([
    ['/networks?bogus=1', 400, 'HTTPBadRequest'],
    ['/networks?sort_key=bogus&sort_dir=asc', 400, 'HTTPBadRequest'],
    ['/networks?sort_key=name', 400, 'HTTPBadRequest'],
    ['/networks?limit=-1', 400, 'BadRequest'],
    [`/networks?limit=1&marker=${unknown}`, 404, 'NetworkNotFound'],
    ['/ports?fixed_ips=bogus', 400, 'InvalidInput'],
  ])('%s is refused', async (path, status, type) => {
    expect(refusalOf(await member.send('GET', path))).toEqual([status, type]);
  });
});

describe('tags and revisions', () => {
  it('replace, add, find and remove tags', async () => {
    const { id } = await member.make('router', { name: 'r' });
    const path = `/routers/${id}/tags`;
    await member.send('PUT', path, { tags: ['b', 'a'] });
    expect((await member.send('PUT', `${path}/c`)).status).toBe(201);
    expect((await member.send('GET', path)).body).toEqual({ tags: ['a', 'b', 'c'] });
    expect(await member.list('/routers?tags=a,b&fields=name')).toEqual([{ name: 'r' }]);
    expect(await member.list('/routers?not-tags-any=c')).toEqual([]);
    expect((await member.send('DELETE', `${path}/c`)).status).toBe(204);
    expect(refusalOf(await member.send('GET', `${path}/c`))).toEqual([404, 'TagNotFound']);
  });

  it('refuse a change with an old revision and leave everything as it is', async () => {
    const { id, revision_number: first } = await member.make('network', { name: 'n' });
    const headers = { 'if-match': `revision_number=${first}` };
    const put = (name: string): ReturnType<ServiceClient['send']> =>
      member.send('PUT', `/networks/${id}`, { network: { name } }, headers);
    expect((await put('second')).status).toBe(200);
    expect(refusalOf(await put('third'))).toEqual([412, 'RevisionNumberConstraintFailed']);
    expect((await member.get(`/networks/${id}`)).name).toBe('second');
  });
});

describe('ports', () => {
  it('get an address of every IP version, the default group and a MAC', async () => {
    const { networkId } = await makeNetwork(member, '10.0.0.0/24');
    await member.make('subnet', { network_id: networkId, ip_version: 6, cidr: 'fd00:1::/64' });
    const slaac = { ipv6_ra_mode: 'slaac', ipv6_address_mode: 'slaac' };
    await member.make('subnet', { network_id: networkId, ip_version: 6, cidr: 'fd00:2::/64', ...slaac });
    const port = await member.make('port', { network_id: networkId, mac_address: 'fa:16:3e:00:00:01' });
    const addresses = port.fixed_ips.map(({ ip_address }: Json) => ip_address);
    expect(addresses[0]).toMatch(/^10\.0\.0\.\d+$/);
    expect(addresses[1]).toMatch(/^fd00:1::[0-9a-f]+$/);
    expect(addresses[2]).toBe('fd00:2::f816:3eff:fe00:1');
    const [group] = await member.list('/security-groups?name=default');
    expect(port.security_groups).toEqual([group.id]);
  });

  it.each([
    [{ fixed_ips: [{ ip_address: '10.0.0.5' }] }, 409, 'IpAddressAlreadyAllocated'],
    [{ fixed_ips: [{ ip_address: '10.0.0.0' }] }, 400, 'InvalidIpForNetwork'],
    [{ fixed_ips: [{ ip_address: '10.9.0.5' }] }, 400, 'InvalidIpForNetwork'],
    [{ fixed_ips: [{ subnet_id: unknown }] }, 404, 'SubnetNotFound'],
    [{ mac_address: 'fa:16:3e:00:00:05' }, 409, 'MacAddressInUse'],
    [{ security_groups: [unknown] }, 404, 'SecurityGroupNotFound'],
    [
      { port_security_enabled: false, allowed_address_pairs: [{ ip_address: '10.0.0.9' }] },
      409,
      'AddressPairAndPortSecurityRequired',
    ],
    [{ 'binding:host_id': 'h' }, 403, 'PolicyNotAuthorized'],
    [{ value_specs: {} }, 400, 'HTTPBadRequest'],
  ])('%j is refused', async (desired, status, type) => {
    const { networkId } = await makeNetwork(member, '10.0.0.0/24');
    await member.make('port', {
      network_id: networkId,
      fixed_ips: [{ ip_address: '10.0.0.5' }],
      mac_address: 'fa:16:3e:00:00:05',
    });
    expect(refusalOf(await member.send('POST', '/ports', { port: { network_id: networkId, ...desired } }))).toEqual([
      status,
      type,
    ]);
  });

  it('create nothing and take no address when a bulk request fails', async () => {
    const pools = [{ start: '10.0.0.10', end: '10.0.0.11' }];
    const { networkId } = await makeNetwork(member, '10.0.0.0/24', { allocation_pools: pools });
    const answer = await member.send('POST', '/ports', {
      ports: [{ network_id: networkId }, { network_id: networkId }, { network_id: networkId }],
    });
    expect(refusalOf(answer)).toEqual([409, 'IpAddressGenerationFailure']);
    expect(await member.list('/ports')).toEqual([]);
    await member.make('port', { network_id: networkId });
    await member.make('port', { network_id: networkId });
  });

  it('created in bulk lose their address pairs and options, as in neutron', async () => {
    const { networkId } = await makeNetwork(member, '10.0.0.0/24');
    const desired = {
      network_id: networkId,
      allowed_address_pairs: [{ ip_address: '10.0.0.200' }],
      extra_dhcp_opts: [{ opt_name: 'bootfile-name', opt_value: 'a' }],
    };
    const alone = await member.make('port', desired);
    expect(alone).toMatchObject({
      allowed_address_pairs: [{ ip_address: '10.0.0.200' }],
      extra_dhcp_opts: [{ opt_value: 'a' }],
    });
    const { body } = await member.send('POST', '/ports', { ports: [desired, { network_id: networkId }] });
    expect((body as Json).ports).toMatchObject([
      { allowed_address_pairs: [], extra_dhcp_opts: [] },
      { allowed_address_pairs: [], extra_dhcp_opts: [] },
    ]);
  });

  it('keep their addresses when the list names them again', async () => {
    const { networkId, subnetId } = await makeNetwork(member, '10.0.0.0/24');
    const port = await member.make('port', { network_id: networkId, fixed_ips: [{ ip_address: '10.0.0.5' }] });
    const fixed = async (list: object[]): Promise<string[]> =>
      (await member.change('port', port.id, { fixed_ips: list })).fixed_ips.map((each: Json) => each.ip_address);
    expect(await fixed([{ ip_address: '10.0.0.5' }, { ip_address: '10.0.0.6' }])).toEqual(['10.0.0.5', '10.0.0.6']);
    expect(await fixed([{ subnet_id: subnetId }])).toEqual(['10.0.0.6']);
    expect(await fixed([])).toEqual([]);
  });

  it('turn ACTIVE on the host an administrator binds them to', async () => {
    const { networkId } = await makeNetwork(member, '10.0.0.0/24');
    const { id } = await member.make('port', { network_id: networkId });
    const bound = await admin.change('port', id, { 'binding:host_id': 'h', 'binding:profile': { a: 'b' } });
    expect(bound).toMatchObject({ status: 'ACTIVE', 'binding:vif_type': 'ovs', 'binding:profile': { a: 'b' } });
    expect(await member.get(`/ports/${id}`)).not.toHaveProperty('binding:host_id');
  });
});

describe('changes of resources in use', () => {
  it('are refused for networks and subnets with ports and for groups on ports', async () => {
    const { networkId, subnetId } = await makeNetwork(member, '10.0.0.0/24');
    const { id: group } = await member.make('security_group', { name: 'g' });
    const { id: port } = await member.make('port', { network_id: networkId, security_groups: [group] });
    expect(refusalOf(await member.send('DELETE', `/networks/${networkId}`))).toEqual([409, 'NetworkInUse']);
    expect(refusalOf(await member.send('DELETE', `/subnets/${subnetId}`))).toEqual([409, 'SubnetInUse']);
    expect(refusalOf(await member.send('DELETE', `/security-groups/${group}`))).toEqual([409, 'SecurityGroupInUse']);
    await member.remove('port', port);
    await member.remove('security_group', group);
    await member.remove('network', networkId);
    expect(await member.list('/subnets')).toEqual([]);
  });

  it('are refused for routers with interfaces, and for interfaces and gateways floating IPs need', async () => {
    const external = await makeExternal(admin);
    const { networkId, subnetId } = await makeNetwork(member, '10.0.0.0/24');
    const { id: router } = await member.make('router', { external_gateway_info: { network_id: external } });
    const path = `/routers/${router}`;
    await member.send('PUT', `${path}/add_router_interface`, { subnet_id: subnetId });
    const { id: port } = await member.make('port', { network_id: networkId });
    const floating = await member.make('floatingip', { floating_network_id: external, port_id: port });
    expect(floating).toMatchObject({ router_id: router, status: 'DOWN' });
    await moment();
    expect((await member.get(`/floatingips/${floating.id}`)).status).toBe('ACTIVE');
    expect(refusalOf(await member.send('DELETE', path))).toEqual([409, 'RouterInUse']);
    const removal = await member.send('PUT', `${path}/remove_router_interface`, { subnet_id: subnetId });
    expect(refusalOf(removal)).toEqual([409, 'RouterInterfaceInUseByFloatingIP']);
    const clearing = await member.send('PUT', path, { router: { external_gateway_info: null } });
    expect(refusalOf(clearing)).toEqual([409, 'RouterExternalGatewayInUseByFloatingIp']);
    await member.remove('port', port);
    await moment();
    expect(await member.get(`/floatingips/${floating.id}`)).toMatchObject({ port_id: null, status: 'DOWN' });
  });

  it('are refused for external networks with floating IPs in use, but not with free ones', async () => {
    const external = await makeExternal(admin);
    const { networkId, subnetId } = await makeNetwork(member, '10.0.0.0/24');
    const { id: router } = await member.make('router', { external_gateway_info: { network_id: external } });
    await member.send('PUT', `/routers/${router}/add_router_interface`, { subnet_id: subnetId });
    const { id: port } = await member.make('port', { network_id: networkId });
    const used = await member.make('floatingip', { floating_network_id: external, port_id: port });
    expect(refusalOf(await admin.send('DELETE', `/networks/${external}`))).toEqual([409, 'NetworkInUse']);
    const other = await makeExternal(admin, '198.51.100.0/24');
    const free = await member.make('floatingip', { floating_network_id: other });
    expect((await admin.send('DELETE', `/networks/${other}`)).status).toBe(204);
    expect((await member.send('GET', `/floatingips/${free.id}`)).status).toBe(404);
    expect((await member.get(`/floatingips/${used.id}`)).port_id).toBe(port);
  });

  it('are refused for addresses of routers, unless they are repeated unchanged', async () => {
    const { subnetId } = await makeNetwork(member, '10.0.0.0/24');
    const { id: router } = await member.make('router', {});
    const added = await member.send('PUT', `/routers/${router}/add_router_interface`, { subnet_id: subnetId });
    const { port_id: port } = added.body as { port_id: string };
    const update = (fixed_ips: Json[]) => member.send('PUT', `/ports/${port}`, { port: { fixed_ips } });
    const same = [{ subnet_id: subnetId, ip_address: '10.0.0.1' }];
    expect((await update([{ subnet_id: subnetId }])).body).toMatchObject({ port: { fixed_ips: same } });
    expect((await update([{ ip_address: '10.0.0.1' }])).body).toMatchObject({ port: { fixed_ips: same } });
    for (const fixedIps of [[], [{ ip_address: '10.0.0.9' }], [...same, { subnet_id: subnetId }]]) {
      expect(refusalOf(await update(fixedIps))).toEqual([400, 'BadRequest']);
    }
  });

  it('are refused for ports of routers and trunks', async () => {
    const { networkId, subnetId } = await makeNetwork(member, '10.0.0.0/24');
    const { id: router } = await member.make('router', {});
    const added = await member.send('PUT', `/routers/${router}/add_router_interface`, { subnet_id: subnetId });
    const { port_id: inner } = added.body as Json;
    expect(refusalOf(await member.send('DELETE', `/ports/${inner}`))).toEqual([409, 'ServicePortInUse']);
    const { id: parent } = await member.make('port', { network_id: networkId });
    const { id: child } = await member.make('port', { network_id: networkId });
    const sub = { port_id: child, segmentation_id: 7, segmentation_type: 'vlan' };
    const { id: trunk } = await member.make('trunk', { port_id: parent, sub_ports: [sub] });
    expect(refusalOf(await member.send('DELETE', `/ports/${parent}`))).toEqual([409, 'PortInUseAsTrunkParent']);
    expect(refusalOf(await member.send('DELETE', `/ports/${child}`))).toEqual([409, 'PortInUseAsSubPort']);
    expect((await member.get(`/ports/${parent}`)).trunk_details.trunk_id).toBe(trunk);
    await member.remove('trunk', trunk);
    await member.remove('port', parent);
    await member.remove('port', child);
  });
});

describe('routers', () => {
  it('give their interface the gateway address of the subnet', async () => {
    const { subnetId } = await makeNetwork(member, '10.0.0.0/24');
    const { id } = await member.make('router', {});
    const { body } = await member.send('PUT', `/routers/${id}/add_router_interface`, { subnet_id: subnetId });
    const port = await member.get(`/ports/${(body as Json).port_id}`);
    expect(port).toMatchObject({
      device_owner: 'network:router_interface',
      device_id: id,
      fixed_ips: [{ subnet_id: subnetId, ip_address: '10.0.0.1' }],
      status: 'ACTIVE',
      port_security_enabled: false,
      security_groups: [],
    });
  });

  it('hide the port of their gateway from members', async () => {
    const external = await makeExternal(admin);
    const { id, external_gateway_info: info } = await member.make('router', {
      external_gateway_info: { network_id: external },
    });
    expect(info).toMatchObject({ network_id: external, enable_snat: true });
    expect(await member.list(`/ports?device_id=${id}`)).toEqual([]);
    expect(await admin.list(`/ports?device_id=${id}`)).toHaveLength(1);
  });
});

describe('floating IPs', () => {
  it('move to another port and are refused where no router leads', async () => {
    const external = await makeExternal(admin);
    const { networkId, subnetId } = await makeNetwork(member, '10.0.0.0/24');
    const first = await member.make('port', { network_id: networkId });
    const second = await member.make('port', { network_id: networkId });
    const { id } = await member.make('floatingip', { floating_network_id: external });
    const put = (port: Json): ReturnType<ServiceClient['send']> =>
      member.send('PUT', `/floatingips/${id}`, { floatingip: { port_id: port.id } });
    expect(refusalOf(await put(first))).toEqual([404, 'ExternalGatewayForFloatingIPNotFound']);
    const { id: router } = await member.make('router', { external_gateway_info: { network_id: external } });
    await member.send('PUT', `/routers/${router}/add_router_interface`, { subnet_id: subnetId });
    expect((await put(first)).status).toBe(200);
    const other = await member.send('POST', '/floatingips', {
      floatingip: { floating_network_id: external, port_id: first.id },
    });
    expect(refusalOf(other)).toEqual([409, 'FloatingIPPortAlreadyAssociated']);
    expect(((await put(second)).body as Json).floatingip.fixed_ip_address).toBe(second.fixed_ips[0].ip_address);
  });

  it('run out with the pool and are available again after a deletion', async () => {
    const external = await makeExternal(admin, '203.0.113.0/29');
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.push((await member.make('floatingip', { floating_network_id: external })).id);
    const answer = await member.send('POST', '/floatingips', { floatingip: { floating_network_id: external } });
    expect(refusalOf(answer)).toEqual([409, 'IpAddressGenerationFailure']);
    await member.remove('floatingip', made[2]!);
    await member.make('floatingip', { floating_network_id: external });
  });
});

describe('security group rules', () => {
  it.each([
    [{ protocol: 'TCP' }, 409, 'SecurityGroupRuleExists'],
    [{ protocol: '6' }, 409, 'SecurityGroupRuleExists'],
    [{ remote_ip_prefix: '0.0.0.0/0' }, 409, 'SecurityGroupRuleExists'],
    [{ remote_ip_prefix: 'fd00::/64' }, 400, 'SecurityGroupRuleParameterConflict'],
    [{ protocol: null }, 400, 'SecurityGroupProtocolRequiredWithPorts'],
    [{ port_range_min: 90 }, 400, 'SecurityGroupInvalidPortRange'],
    [{ port_range_max: 70_000 }, 400, 'SecurityGroupInvalidPortValue'],
    [{ protocol: 'any' }, 400, 'SecurityGroupRuleInvalidProtocol'],
    [{ protocol: 'vrrp' }, 400, 'SecurityGroupInvalidProtocolForPort'],
    [{ direction: 'sideways' }, 400, 'HTTPBadRequest'],
  ])('are refused beside a rule for tcp 80: %j', async (change, status, type) => {
    const { id } = await member.make('security_group', { name: 'g' });
    const rule = {
      security_group_id: id,
      direction: 'ingress',
      protocol: 'tcp',
      port_range_min: 80,
      port_range_max: 80,
    };
    await member.make('security_group_rule', rule);
    const answer = await member.send('POST', '/security-group-rules', { security_group_rule: { ...rule, ...change } });
    expect(refusalOf(answer)).toEqual([status, type]);
  });

  it('are deleted with their group and with the group they name', async () => {
    const { id: first } = await member.make('security_group', { name: 'a' });
    const { id: second } = await member.make('security_group', { name: 'b' });
    await member.make('security_group_rule', {
      security_group_id: first,
      direction: 'ingress',
      remote_group_id: second,
    });
    await member.remove('security_group', second);
    const rules = await member.list(`/security-group-rules?security_group_id=${first}`);
    expect(rules.map(({ direction }) => direction)).toEqual(['egress', 'egress']);
  });
});

describe('quotas', () => {
  it('refuse what exceeds them, also in bulk, and count usage', async () => {
    const project = member.user.projectId;
    await admin.send('PUT', `/quotas/${project}`, { quota: { network: 2 } });
    const bulk = await member.send('POST', '/networks', { networks: [{}, {}, {}] });
    expect(refusalOf(bulk)).toEqual([409, 'OverQuota']);
    await member.make('network', {});
    const { quota } = (await member.send('GET', `/quotas/${project}/details.json`)).body as Json;
    expect(quota.network).toEqual({ limit: 2, used: 1, reserved: 0 });
    expect(refusalOf(await member.send('PUT', `/quotas/${project}`, { quota: { network: 9 } }))).toEqual([
      403,
      'PolicyNotAuthorized',
    ]);
  });

  it('are reported as exhausted when a fault rule says so', async () => {
    cloud.cloud.core.faults.set({
      id: 'q',
      when: { operation: 'port.quota' },
      count: 1,
      effect: { kind: 'over-quota' },
    });
    const { networkId } = await makeNetwork(member, '10.0.0.0/24');
    const post = (): ReturnType<ServiceClient['send']> =>
      member.send('POST', '/ports', { port: { network_id: networkId } });
    expect(refusalOf(await post())).toEqual([409, 'OverQuota']);
    expect((await post()).status).toBe(201);
  });
});
