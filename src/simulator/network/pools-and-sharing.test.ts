import { beforeEach, describe, expect, it } from 'vitest';
import { type TestCloud, testCloud } from '../testing/test-cloud.ts';
import { parseCidr } from './addressing/cidr.ts';
import { firstFree, mergePrefixes, overlapAny, removePrefixes } from './addressing/prefixes.ts';
import {
  type Json,
  makeExternal,
  makeNetwork,
  networkClient,
  refusalOf,
  type ServiceClient,
} from './testing/requests.ts';

let cloud: TestCloud;
let member: ServiceClient;
let other: ServiceClient;
let admin: ServiceClient;

beforeEach(async () => {
  cloud = await testCloud();
  member = networkClient(await cloud.member());
  other = networkClient(await cloud.member('other'));
  admin = networkClient(cloud.admin);
});

describe('prefixes', () => {
  const cidrs = (...texts: string[]) => texts.map((text) => parseCidr(text)!);

  it('are merged, cut and searched', () => {
    expect(mergePrefixes(cidrs('10.0.1.0/24', '10.0.0.0/24', '10.0.0.128/25', '10.1.0.0/16'))).toEqual([
      '10.0.0.0/23',
      '10.1.0.0/16',
    ]);
    expect(removePrefixes(cidrs('10.0.0.0/22'), cidrs('10.0.1.0/24', '10.9.0.0/16'))).toEqual([
      '10.0.0.0/24',
      '10.0.2.0/23',
    ]);
    expect(removePrefixes(cidrs('10.0.0.0/24'), cidrs('10.0.0.0/16'))).toEqual([]);
    expect(overlapAny(cidrs('10.0.0.0/24', '10.3.0.0/16'), cidrs('10.2.0.0/16', '10.3.4.0/24'))).toBe(true);
    expect(overlapAny(cidrs('10.0.0.0/24'), cidrs('10.0.1.0/24'))).toBe(false);
    const free = firstFree(cidrs('10.0.0.0/22'), cidrs('10.0.0.0/24', '10.0.1.0/25'), 24);
    expect(free && mergePrefixes([free])).toEqual(['10.0.2.0/24']);
    expect(firstFree(cidrs('10.0.0.0/24'), cidrs('10.0.0.128/25'), 24)).toBeUndefined();
  });
});

describe('subnet pools', () => {
  it('give networks to subnets and are kept while they do', async () => {
    const pool = await member.make('subnetpool', { name: 'p', prefixes: ['10.8.0.0/23', '10.8.2.0/23'] });
    expect(pool).toMatchObject({ prefixes: ['10.8.0.0/22'], min_prefixlen: 8, default_prefixlen: 8, ip_version: 4 });
    const { id: network_id } = await member.make('network', {});
    const wanted = { network_id, ip_version: 4, subnetpool_id: pool.id };
    const first = await member.make('subnet', { ...wanted, prefixlen: 24 });
    expect(first).toMatchObject({ cidr: '10.8.0.0/24', subnetpool_id: pool.id, gateway_ip: '10.8.0.1' });
    expect(await member.make('subnet', { ...wanted, cidr: '10.8.3.0/24' })).toMatchObject({ cidr: '10.8.3.0/24' });
    expect(await member.make('subnet', { ...wanted, prefixlen: 24 })).toMatchObject({ cidr: '10.8.1.0/24' });
    const refused = async (more: object) =>
      refusalOf(await member.send('POST', '/subnets', { subnet: { ...wanted, ...more } }));
    expect(await refused({ prefixlen: 23 })).toEqual([409, 'SubnetAllocationError']);
    expect(await refused({ cidr: '10.9.0.0/24' })).toEqual([409, 'SubnetAllocationError']);
    expect(await refused({ prefixlen: 7 })).toEqual([400, 'MinPrefixSubnetAllocationError']);
    expect(refusalOf(await member.send('DELETE', `/subnetpools/${pool.id}`))).toEqual([400, 'SubnetPoolDeleteError']);
    const elsewhere = { network_id, ip_version: 4, cidr: '10.200.0.0/24' };
    expect((await member.send('POST', '/subnets', { subnet: elsewhere })).status).toBe(201);
  });

  it('have a default named by the operator and limits for each project', async () => {
    const { id: network_id } = await member.make('network', {});
    const subnet = { network_id, ip_version: 4, use_default_subnetpool: true, prefixlen: 25 };
    expect(refusalOf(await member.send('POST', '/subnets', { subnet }))).toEqual([400, 'BadRequest']);
    const body = {
      subnetpool: { name: 'd', prefixes: ['10.0.0.0/16'], is_default: true, shared: true, default_quota: 200 },
    };
    expect((await member.send('POST', '/subnetpools', body)).status).toBe(403);
    expect((await admin.send('POST', '/subnetpools', body)).status).toBe(201);
    expect(refusalOf(await admin.send('POST', '/subnetpools', body))).toEqual([400, 'InvalidInput']);
    expect(await member.make('subnet', subnet)).toMatchObject({ cidr: '10.0.0.0/25' });
    expect(refusalOf(await member.send('POST', '/subnets', { subnet }))).toEqual([409, 'SubnetPoolQuotaExceeded']);
  });

  it('grow and lose only prefixes nobody uses', async () => {
    const { id } = await member.make('subnetpool', { name: 'p', prefixes: ['10.0.0.0/24'] });
    const { id: network_id } = await member.make('network', {});
    await member.make('subnet', { network_id, ip_version: 4, subnetpool_id: id, prefixlen: 24 });
    const added = await member.send('PUT', `/subnetpools/${id}/add_prefixes`, { prefixes: ['10.5.0.0/24'] });
    expect(added.body).toEqual({ prefixes: ['10.0.0.0/24', '10.5.0.0/24'] });
    const removal = (prefix: string) =>
      member.send('PUT', `/subnetpools/${id}/remove_prefixes`, { prefixes: [prefix] });
    expect(refusalOf(await removal('10.0.0.0/28'))).toEqual([400, 'IllegalSubnetPoolPrefixUpdate']);
    expect((await removal('10.5.0.0/25')).body).toEqual({ prefixes: ['10.0.0.0/24', '10.5.0.128/25'] });
    const shrink = { subnetpool: { prefixes: ['10.0.0.0/24'] } };
    expect(refusalOf(await member.send('PUT', `/subnetpools/${id}`, shrink))).toEqual([
      400,
      'IllegalSubnetPoolPrefixUpdate',
    ]);
  });

  it('of one address scope do not overlap, and networks show the scope', async () => {
    const scope = await member.make('address_scope', { name: 's', ip_version: 4 });
    const wanted = { name: 'p', prefixes: ['10.0.0.0/16'], address_scope_id: scope.id };
    const pool = await member.make('subnetpool', wanted);
    expect(refusalOf(await member.send('POST', '/subnetpools', { subnetpool: wanted }))).toEqual([
      409,
      'AddressScopePrefixConflict',
    ]);
    const { id: network_id } = await member.make('network', {});
    await member.make('subnet', { network_id, ip_version: 4, subnetpool_id: pool.id, prefixlen: 24 });
    expect(await member.get(`/networks/${network_id}`)).toMatchObject({ ipv4_address_scope: scope.id });
    expect(refusalOf(await member.send('DELETE', `/address-scopes/${scope.id}`))).toEqual([409, 'AddressScopeInUse']);
    expect((await other.send('GET', `/address-scopes/${scope.id}`)).status).toBe(404);
    const shared = { address_scope: { shared: true } };
    expect((await member.send('PUT', `/address-scopes/${scope.id}`, shared)).status).toBe(403);
    await admin.change('address_scope', scope.id, { shared: true });
    expect(await other.get(`/address-scopes/${scope.id}`)).toMatchObject({ shared: true });
  });
});

describe('address groups', () => {
  it('cannot be deleted while rules name them', async () => {
    const group = await member.make('address_group', { name: 'g', addresses: ['10.0.0.1/32'] });
    const put = (action: string, ...addresses: string[]) =>
      member.send('PUT', `/address-groups/${group.id}/${action}`, { addresses });
    expect((await put('add_addresses', '10.1.0.0/16')).status).toBe(200);
    expect(refusalOf(await put('add_addresses', '10.1.0.0/16'))).toEqual([400, 'AddressesAlreadyExist']);
    expect(refusalOf(await put('remove_addresses', '10.2.0.0/16'))).toEqual([404, 'AddressesNotFound']);
    expect((await put('remove_addresses', '10.0.0.1/32')).body).toMatchObject({
      address_group: { addresses: ['10.1.0.0/16'] },
    });
    const { id: security_group_id } = await member.make('security_group', { name: 'g' });
    const rule = { security_group_id, direction: 'ingress', remote_address_group_id: group.id };
    const { id } = await member.make('security_group_rule', rule);
    expect(refusalOf(await member.send('DELETE', `/address-groups/${group.id}`))).toEqual([409, 'AddressGroupInUse']);
    await member.remove('security_group_rule', id);
    await member.remove('address_group', group.id);
  });

  it('of other projects are unknown', async () => {
    const group = await other.make('address_group', { name: 'g' });
    const { id: security_group_id } = await member.make('security_group', { name: 'g' });
    const rule = { security_group_id, direction: 'ingress', remote_address_group_id: group.id };
    expect(refusalOf(await member.send('POST', '/security-group-rules', { security_group_rule: rule }))).toEqual([
      404,
      'AddressGroupNotFound',
    ]);
  });
});

describe('QoS policies', () => {
  const policy = (wanted: object = {}) => admin.make('policy', { name: 'q', ...wanted });
  const rule = (id: string, type: string, wanted: object) =>
    admin.send('POST', `/qos/policies/${id}/${type}_rules`, { [`${type}_rule`]: wanted });

  it('belong to the operator and have one rule of each type and direction', async () => {
    const body = { policy: { name: 'q' } };
    expect((await member.send('POST', '/qos/policies', body)).status).toBe(403);
    const { id } = await policy();
    const made = await rule(id, 'bandwidth_limit', { max_kbps: 1000 });
    expect(made).toMatchObject({
      status: 201,
      body: { bandwidth_limit_rule: { max_kbps: 1000, max_burst_kbps: 0, direction: 'egress' } },
    });
    expect(refusalOf(await rule(id, 'bandwidth_limit', { max_kbps: 1 }))).toEqual([409, 'QoSRulesConflict']);
    expect((await rule(id, 'bandwidth_limit', { max_kbps: 1, direction: 'ingress' })).status).toBe(201);
    expect(refusalOf(await rule(id, 'minimum_bandwidth', { min_kbps: 2000 }))).toEqual([
      409,
      'QoSRuleParameterConflict',
    ]);
    expect((await rule(id, 'dscp_marking', { dscp_mark: 7 })).status).toBe(400);
    expect((await rule(id, 'dscp_marking', { dscp_mark: 26 })).status).toBe(201);
    const shown = await admin.get(`/qos/policies/${id}`);
    expect(shown.rules.map(({ type }: Json) => type)).toEqual(['bandwidth_limit', 'bandwidth_limit', 'dscp_marking']);
    const ruleId = (made.body as Json).bandwidth_limit_rule.id;
    const alias = `/qos/alias-bandwidth-limit-rules/${ruleId}`;
    const changed = await admin.send('PUT', alias, { alias_bandwidth_limit_rule: { max_kbps: 5 } });
    expect(changed.body).toMatchObject({ alias_bandwidth_limit_rule: { max_kbps: 5 } });
    expect((await admin.send('DELETE', `/qos/policies/${id}/bandwidth_limit_rules/${ruleId}`)).status).toBe(204);
    expect(await admin.list(`/qos/policies/${id}/bandwidth_limit_rules`)).toHaveLength(1);
    expect(await member.list('/qos/rule-types')).toContainEqual({ type: 'minimum_packet_rate' });
  });

  it('are set on networks, ports, floating IPs and gateways by those who see them', async () => {
    const { id } = await policy();
    const wanted = { network: { qos_policy_id: id } };
    expect(refusalOf(await member.send('POST', '/networks', wanted))).toEqual([404, 'QosPolicyNotFound']);
    await admin.change('policy', id, { shared: true });
    const { networkId, subnetId } = await makeNetwork(member, '10.0.0.0/24');
    await member.change('network', networkId, { qos_policy_id: id });
    const port = await member.make('port', { network_id: networkId });
    expect(port).toMatchObject({ qos_policy_id: null, qos_network_policy_id: id });
    await member.change('port', port.id, { qos_policy_id: id });
    const external = await makeExternal(admin);
    const floating = await member.make('floatingip', { floating_network_id: external, qos_policy_id: id });
    expect(floating).toMatchObject({ qos_policy_id: id });
    const gateway = { network_id: external, qos_policy_id: id };
    const router = await member.make('router', { external_gateway_info: gateway });
    expect(router.external_gateway_info).toMatchObject({ qos_policy_id: id });
    expect(refusalOf(await admin.send('DELETE', `/qos/policies/${id}`))).toEqual([409, 'QosPolicyInUse']);
    await member.change('port', port.id, { qos_policy_id: null });
    await member.change('network', networkId, { qos_policy_id: null });
    await member.change('floatingip', floating.id, { qos_policy_id: null });
    await member.remove('router', router.id);
    await admin.remove('policy', id);
    expect(subnetId).toBeDefined();
  });

  it('that are the default of a project apply to its new networks', async () => {
    const { id } = await policy({ is_default: true, project_id: member.user.projectId });
    expect(await member.make('network', {})).toMatchObject({ qos_policy_id: id });
    expect(await other.make('network', {})).toMatchObject({ qos_policy_id: null });
    const second = { policy: { name: 'r', is_default: true, project_id: member.user.projectId } };
    expect(refusalOf(await admin.send('POST', '/qos/policies', second))).toEqual([
      409,
      'QoSPolicyDefaultAlreadyExists',
    ]);
  });
});

describe('RBAC policies', () => {
  const grant = (object_type: string, object_id: string, target_tenant: string) =>
    member.make('rbac_policy', { object_type, object_id, target_tenant, action: 'access_as_shared' });

  it('keep their id when they are changed to another project', async () => {
    const { id: network } = await member.make('network', {});
    const third = networkClient(await cloud.member('third'));
    const made = await grant('network', network, other.user.projectId);
    const changed = await member.change('rbac_policy', made.id, { target_tenant: third.user.projectId });
    expect(changed).toEqual({ ...made, target_tenant: third.user.projectId });
    expect((await other.send('GET', `/networks/${network}`)).status).toBe(404);
    expect((await third.send('GET', `/networks/${network}`)).status).toBe(200);
  });

  it('let others use a security group and cannot be removed while they do', async () => {
    const { id: group } = await member.make('security_group', { name: 'g' });
    const { networkId } = await makeNetwork(other, '10.0.0.0/24');
    const port = { network_id: networkId, security_groups: [group] };
    expect(refusalOf(await other.send('POST', '/ports', { port }))).toEqual([404, 'SecurityGroupNotFound']);
    const made = await grant('security_group', group, other.user.projectId);
    expect((await other.list('/security-groups')).map(({ id }) => id)).toContain(group);
    expect(await other.get(`/security-groups/${group}`)).toMatchObject({ shared: true });
    const { id: portId } = await other.make('port', port);
    expect(refusalOf(await member.send('DELETE', `/rbac-policies/${made.id}`))).toEqual([409, 'RbacPolicyInUse']);
    await other.remove('port', portId);
    await member.remove('rbac_policy', made.id);
    expect((await other.send('GET', `/security-groups/${group}`)).status).toBe(404);
    expect((await other.send('PUT', `/security-groups/${group}`, { security_group: { name: 'x' } })).status).toBe(404);
  });

  it('share subnet pools and address groups', async () => {
    const { id: pool } = await member.make('subnetpool', { name: 'p', prefixes: ['10.0.0.0/16'] });
    await grant('subnetpool', pool, other.user.projectId);
    expect(await other.get(`/subnetpools/${pool}`)).toMatchObject({ shared: true });
    const { id: addresses } = await member.make('address_group', { name: 'a' });
    const made = await grant('address_group', addresses, other.user.projectId);
    expect((await other.send('GET', `/address-groups/${addresses}`)).status).toBe(200);
    await member.remove('address_group', addresses);
    expect((await member.send('GET', `/rbac-policies/${made.id}`)).status).toBe(404);
  });
});

describe('subnets', () => {
  it('with service types are used only for ports of these owners', async () => {
    const { networkId } = await makeNetwork(member, '10.0.0.0/24', { service_types: ['compute:nova'] });
    const body = { port: { network_id: networkId } };
    expect(refusalOf(await member.send('POST', '/ports', body))).toEqual([
      409,
      'IpAddressGenerationFailureNoMatchingSubnet',
    ]);
    const { id: open } = await member.make('subnet', { network_id: networkId, ip_version: 4, cidr: '10.1.0.0/24' });
    const plain = await member.make('port', { network_id: networkId });
    expect(plain.fixed_ips).toMatchObject([{ subnet_id: open }]);
    const server = await member.make('port', { network_id: networkId, device_owner: 'compute:nova' });
    expect(server.fixed_ips).toMatchObject([{ ip_address: expect.stringMatching(/^10\.0\.0\./) }]);
    const wrong = {
      subnet: { network_id: networkId, ip_version: 4, cidr: '10.2.0.0/24', service_types: ['nonsense'] },
    };
    expect((await member.send('POST', '/subnets', wrong)).status).toBe(400);
  });

  it('keep a gateway address that a router has', async () => {
    const { subnetId } = await makeNetwork(member, '10.0.0.0/24');
    const { id: router } = await member.make('router', {});
    const change = {
      subnet: { gateway_ip: '10.0.0.254', allocation_pools: [{ start: '10.0.0.2', end: '10.0.0.200' }] },
    };
    await member.send('PUT', `/routers/${router}/add_router_interface`, { subnet_id: subnetId });
    expect(refusalOf(await member.send('PUT', `/subnets/${subnetId}`, change))).toEqual([409, 'GatewayIpInUse']);
    await member.send('PUT', `/routers/${router}/remove_router_interface`, { subnet_id: subnetId });
    expect((await member.send('PUT', `/subnets/${subnetId}`, change)).status).toBe(200);
  });
});

it('forwards single ports of a floating IP to several machines', async () => {
  const external = await makeExternal(admin);
  const { networkId, subnetId } = await makeNetwork(member, '10.0.0.0/24');
  const { id: router } = await member.make('router', { external_gateway_info: { network_id: external } });
  await member.send('PUT', `/routers/${router}/add_router_interface`, { subnet_id: subnetId });
  const { id: floating } = await member.make('floatingip', { floating_network_id: external });
  const ports = [
    await member.make('port', { network_id: networkId }),
    await member.make('port', { network_id: networkId }),
  ];
  const path = `/floatingips/${floating}/port_forwardings`;
  const post = (external_port: number, port: Json, more: object = {}) =>
    member.send('POST', path, {
      port_forwarding: { external_port, internal_port: 22, internal_port_id: port.id, protocol: 'tcp', ...more },
    });
  const made = await post(2201, ports[0]);
  expect(made).toMatchObject({
    status: 201,
    body: { port_forwarding: { internal_ip_address: ports[0].fixed_ips[0].ip_address } },
  });
  expect((await post(2202, ports[1])).status).toBe(201);
  expect(refusalOf(await post(2201, ports[1], { internal_port: 23 }))).toEqual([400, 'BadRequest']);
  const range = { external_port_range: '3000:3001', internal_port_range: '80:81', internal_port_id: ports[0].id };
  const ranged = await member.send('POST', path, { port_forwarding: { ...range, protocol: 'udp' } });
  expect(ranged.status).toBe(201);
  expect((ranged.body as Json).port_forwarding).not.toHaveProperty('external_port');
  const uneven = { ...range, external_port_range: '4000:4005', protocol: 'udp' };
  expect((await member.send('POST', path, { port_forwarding: uneven })).status).toBe(400);
  await member.send('DELETE', `${path}/${(ranged.body as Json).port_forwarding.id}`);
  await cloud.clock.advance(1000);
  expect(await member.get(`/floatingips/${floating}`)).toMatchObject({
    status: 'ACTIVE',
    router_id: router,
    port_forwardings: [{ external_port: 2201 }, { external_port: 2202 }],
  });
  const whole = { floatingip: { port_id: ports[0].id } };
  expect(refusalOf(await member.send('PUT', `/floatingips/${floating}`, whole))).toEqual([
    409,
    'FipInUseByPortForwarding',
  ]);
  expect(refusalOf(await member.send('DELETE', `/floatingips/${floating}`))).toEqual([409, 'FipInUseByPortForwarding']);
  const one = `${path}/${(made.body as Json).port_forwarding.id}`;
  const change = { port_forwarding: { external_port: 2203 } };
  expect((await member.send('PUT', one, change)).body).toMatchObject({ port_forwarding: { external_port: 2203 } });
  expect((await other.send('GET', one)).status).toBe(404);
  expect((await member.send('DELETE', one)).status).toBe(204);
  await member.remove('port', ports[1].id);
  expect(await member.list(path)).toEqual([]);
  await member.remove('floatingip', floating);
});

describe('smaller rules of neutron', () => {
  it('require the groups of a port to be all stateful or all stateless', async () => {
    const { networkId } = await makeNetwork(member, '10.0.0.0/24');
    const { id: a } = await member.make('security_group', { name: 'a' });
    const { id: b } = await member.make('security_group', { name: 'b', stateful: false });
    const body = { port: { network_id: networkId, security_groups: [a, b] } };
    expect(refusalOf(await member.send('POST', '/ports', body))).toEqual([409, 'SecurityGroupConflict']);
  });

  it('keep a network external while a floating IP of it exists, used or not', async () => {
    const external = await makeExternal(admin);
    const { id } = await member.make('floatingip', { floating_network_id: external });
    const body = { network: { 'router:external': false } };
    expect(refusalOf(await admin.send('PUT', `/networks/${external}`, body))).toEqual([409, 'ExternalNetworkInUse']);
    await member.remove('floatingip', id);
    expect((await admin.send('PUT', `/networks/${external}`, body)).status).toBe(200);
  });

  it('keep the address of a gateway when one more of the same subnet is asked for', async () => {
    const external = await makeExternal(admin);
    const router = await admin.make('router', { external_gateway_info: { network_id: external } });
    const [held] = router.external_gateway_info.external_fixed_ips;
    const info = { network_id: external, external_fixed_ips: [held, { subnet_id: held.subnet_id }] };
    const changed = await admin.change('router', router.id, { external_gateway_info: info });
    expect(changed.external_gateway_info.external_fixed_ips).toEqual([held]);
    const other = { network_id: external, external_fixed_ips: [{ ...held, ip_address: '203.0.113.77' }] };
    const moved = await admin.change('router', router.id, { external_gateway_info: other });
    expect(moved.external_gateway_info.external_fixed_ips).toMatchObject([{ ip_address: '203.0.113.77' }]);
  });

  it('give a port another MAC address for null', async () => {
    const { networkId } = await makeNetwork(member, '10.0.0.0/24');
    const port = await member.make('port', { network_id: networkId });
    const changed = await admin.change('port', port.id, { mac_address: null });
    expect(changed.mac_address).toMatch(/^fa:16:3e:/);
    expect(changed.mac_address).not.toBe(port.mac_address);
  });

  it('store the NUMA affinity of a port', async () => {
    const { networkId } = await makeNetwork(member, '10.0.0.0/24');
    const { id } = await member.make('port', { network_id: networkId, numa_affinity_policy: 'preferred' });
    expect(await admin.get(`/ports/${id}`)).toMatchObject({ numa_affinity_policy: 'preferred' });
    await admin.change('port', id, { numa_affinity_policy: null });
    expect(await admin.get(`/ports/${id}`)).toMatchObject({ numa_affinity_policy: null });
  });

  it('refuse attributes that no extension offers', async () => {
    const { networkId } = await makeNetwork(member, '10.0.0.0/24');
    const port = { network_id: networkId, device_profile: 'x' };
    expect((await admin.send('POST', '/ports', { port })).status).toBe(400);
    expect((await admin.send('POST', '/networks', { network: { segments: [] } })).status).toBe(400);
  });

  it('refuse a quota below the usage when it is to be checked', async () => {
    await member.make('network', {});
    const put = (quota: object) => admin.send('PUT', `/quotas/${member.user.projectId}`, { quota });
    expect((await put({ network: 0, check_limit: true })).status).toBe(400);
    expect((await put({ network: 0, check_limit: false })).status).toBe(200);
  });

  it('find service providers by their type', async () => {
    expect(await member.list('/service-providers?service_type=L3_ROUTER_NAT')).toHaveLength(1);
    expect(await member.list('/service-providers?service_type=VPN')).toEqual([]);
  });

  it('show operators how many addresses networks have left', async () => {
    const { networkId } = await makeNetwork(member, '10.0.0.0/29');
    await member.make('port', { network_id: networkId });
    expect(await admin.get(`/network-ip-availabilities/${networkId}`)).toMatchObject({
      total_ips: 5,
      used_ips: 1,
      subnet_ip_availability: [{ cidr: '10.0.0.0/29', total_ips: 5, used_ips: 1, ip_version: 4 }],
    });
    expect(await admin.list(`/network-ip-availabilities?network_id=${networkId}&ip_version=6`)).toEqual([]);
    expect(await member.list('/network-ip-availabilities')).toEqual([]);
  });

  it('serve every collection their extensions add', async () => {
    const extensions = (await member.list('/extensions')).map(({ alias }) => alias);
    const collections: Readonly<Record<string, string>> = {
      'address-group': 'address-groups',
      'address-scope': 'address-scopes',
      agent: 'agents',
      availability_zone: 'availability_zones',
      'floatingip-pools': 'floatingip_pools',
      'network-ip-availability': 'network-ip-availabilities',
      qos: 'qos/policies',
      quotas: 'quotas',
      'rbac-policies': 'rbac-policies',
      router: 'routers',
      'security-group': 'security-groups',
      'service-type': 'service-providers',
      subnet_allocation: 'subnetpools',
      trunk: 'trunks',
    };
    for (const [alias, path] of Object.entries(collections)) {
      expect(extensions).toContain(alias);
      expect((await admin.send('GET', `/${path}`)).status).toBe(200);
    }
  });
});
