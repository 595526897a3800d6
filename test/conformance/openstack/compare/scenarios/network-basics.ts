import type { Scenario } from '../scenario.ts';

const unknown = '00000000-0000-4000-8000-00000000dead';

export const networkDoor: Scenario = {
  name: 'network: the door',
  service: 'network',
  async play(cloud) {
    cloud.unordered('rule_types');
    cloud.as('nobody');
    await cloud.get('/');
    await cloud.get('/v2.0/networks');
    await cloud.get('/v2.0/networks', { headers: { 'X-Auth-Token': 'garbage' } });
    cloud.as('openstack');
    await cloud.get('/v2.0');
    await cloud.get('/v2.0/');
    await cloud.get('/v2.0/nothing');
    await cloud.get('/v3');
    await cloud.post('/v2.0/networks', '{bad');
    await cloud.post('/v2.0/networks', []);
    await cloud.post('/v2.0/networks', {});
    await cloud.post('/v2.0/networks', { net: {} });
    await cloud.post('/v2.0/networks', { network: [] });
    await cloud.post('/v2.0/networks', { network: 'x' });
    await cloud.post('/v2.0/networks', { networks: [] });
    await cloud.post('/v2.0/networks', { networks: [{ bogus: 1 }] });
    await cloud.request('POST', `/v2.0/networks/${unknown}`, { network: {} });
    await cloud.request('PATCH', `/v2.0/networks/${unknown}`, { network: {} });
    await cloud.put('/v2.0/networks', { network: {} });
    await cloud.request('DELETE', '/v2.0/networks');
    await cloud.get('/v2.0/networks.json?name=none');
    await cloud.get(`/v2.0/networks/${unknown}.json`);
    await cloud.get('/v2.0/extensions/trunk');
    await cloud.get('/v2.0/extensions/nothing');
    await cloud.get('/v2.0/agents');
    await cloud.get('/v2.0/availability_zones');
    await cloud.get('/v2.0/subnetpools');
    await cloud.get('/v2.0/address-scopes');
    await cloud.get('/v2.0/address-groups');
    await cloud.get('/v2.0/rbac-policies');
    await cloud.get('/v2.0/qos/policies');
    await cloud.get('/v2.0/qos/rule-types');
    await cloud.get('/v2.0/service-providers');
    await cloud.get('/v2.0/flavors');
    await cloud.get('/v2.0/network-ip-availabilities');
    await cloud.get('/v2.0/segments');
    await cloud.get('/v2.0/local_ips');
    await cloud.get('/v2.0/floatingip_pools');
    await cloud.get('/v2.0/auto-allocated-topology/null');
  },
};

export const networks: Scenario = {
  name: 'network: networks',
  service: 'network',
  async play(cloud) {
    const { network } = await cloud.post('/v2.0/networks', { network: { name: 'cmp-net' } });
    const path = `/v2.0/networks/${network.id}`;
    await cloud.get(path);
    await cloud.get(`${path}?fields=id&fields=name`);
    await cloud.get('/v2.0/networks?name=cmp-net');
    await cloud.get('/v2.0/networks?name=cmp-net&fields=name&fields=bogus');
    for (const filter of [
      'name=cmp-net&admin_state_up=false',
      'name=cmp-net&admin_state_up=maybe',
      'name=cmp-net&status=ACTIVE',
      'name=cmp-net&status=active',
      'name=cmp-net&shared=True',
      'name=cmp-net&router:external=false',
      'name=cmp-net&router%3Aexternal=true',
      'name=cmp-net&mtu=1450',
      'name=cmp-net&mtu=x',
      'name=cmp-net&name=other',
      'name=',
      `name=cmp-net&id=${network.id}`,
      'name=cmp-net&bogus=1',
      'name=cmp-net&bogus=1&worse=2',
      'name=cmp-net&provider:network_type=vxlan',
      'name=cmp-net&tags=x',
      'name=cmp-net&not-tags=x',
      'name=cmp-net&revision_number=1',
      'name=cmp-net&created_at=x',
      'name=cmp-net&subnets=x',
      'name=cmp-net&description=',
      'name=cmp-net&is_default=false',
      'name=cmp-net&tenant_id=x',
      'name=cmp-net&sort_key=name',
      'name=cmp-net&sort_key=name&sort_dir=up',
      'name=cmp-net&sort_key=bogus&sort_dir=asc',
      'name=cmp-net&sort_key=mtu&sort_dir=asc',
      'name=cmp-net&limit=x',
      'name=cmp-net&limit=-1',
      'name=cmp-net&limit=0',
      'name=cmp-net&limit=1',
      'name=cmp-net&limit=2',
      'name=nothing&limit=2',
      `name=cmp-net&limit=1&marker=${network.id}`,
      `name=cmp-net&limit=1&marker=${network.id}&page_reverse=True`,
      `name=cmp-net&limit=1&marker=${unknown}`,
      `name=cmp-net&marker=${unknown}`,
    ]) {
      await cloud.get(`/v2.0/networks?${filter}&fields=id&fields=name`);
    }
    await cloud.put(path, { network: { name: 'cmp-other', description: 'd', admin_state_up: false } });
    await cloud.put(path, { network: { name: 'cmp-net' } }, { headers: { 'If-Match': 'revision_number=0' } });
    await cloud.put(path, { network: { name: 'cmp-net' } }, { headers: { 'If-Match': 'revision_number=2' } });
    await cloud.put(path, { network: {} });
    await cloud.put(path, { networks: [] });
    await cloud.put(path, {});
    for (const change of [
      { name: 7 },
      { name: null },
      { name: 'x'.repeat(256) },
      { admin_state_up: 'maybe' },
      { admin_state_up: 'off' },
      { id: network.id },
      { status: 'DOWN' },
      { tenant_id: network.tenant_id },
      { project_id: network.tenant_id },
      { shared: true },
      { 'router:external': true },
      { 'provider:network_type': 'flat' },
      { mtu: 1400 },
      { mtu: 'x' },
      { mtu: -1 },
      { mtu: 60 },
      { mtu: 9000 },
      { dns_domain: 'example' },
      { dns_domain: 'example.org.' },
      { port_security_enabled: false },
      { tags: ['x'] },
      { bogus: 1 },
      { bogus: 1, worse: 2 },
      { qos_policy_id: unknown },
      { availability_zone_hints: [] },
    ]) {
      await cloud.put(path, { network: change });
    }
    for (const desired of [
      { shared: true },
      { shared: 'True', 'router:external': true },
      { 'provider:network_type': 'vxlan' },
      { 'provider:network_type': 'vxlan', 'provider:physical_network': 'x', 'provider:segmentation_id': 7 },
      { is_default: true },
      { is_default: false },
      { mtu: 1300, name: 'cmp-mtu' },
      { id: unknown },
      { status: 'DOWN' },
      { tags: [] },
      { tenant_id: 'someone-else' },
      { project_id: 'a', tenant_id: 'b' },
      { name: null },
      { admin_state_up: null },
      { availability_zone_hints: ['nowhere'] },
      { availability_zone_hints: 'nowhere' },
      { description: 'x'.repeat(256) },
      { vlan_transparent: true },
    ]) {
      await cloud.post('/v2.0/networks', { network: desired });
    }
    await cloud.post('/v2.0/networks', { networks: [{ name: 'cmp-a' }, { name: 'cmp-b' }] });
    await cloud.post('/v2.0/networks', { networks: [{ name: 'cmp-c' }, { name: 7 }] });
    await cloud.get('/v2.0/networks?name=cmp-a&name=cmp-b&name=cmp-c&sort_key=name&sort_dir=desc&fields=name');
    await cloud.get(`/v2.0/networks/${unknown}`);
    await cloud.put(`/v2.0/networks/${unknown}`, { network: { name: 'x' } });
    await cloud.delete(`/v2.0/networks/${unknown}`);
    await cloud.get('/v2.0/networks/nope');
    cloud.as('admin');
    await cloud.get(path);
    await cloud.get(`/v2.0/networks?name=cmp-net`);
    await cloud.put(path, { network: { shared: true } });
    cloud.as('openstack');
    await cloud.get(path);
    await cloud.delete(path);
    await cloud.get(path);
  },
};

/** Tags, tested on networks for all resources. */
export const tags: Scenario = {
  name: 'network: tags',
  service: 'network',
  async play(cloud) {
    const { network } = await cloud.post('/v2.0/networks', { network: { name: 'cmp-tags' } });
    const { network: other } = await cloud.post('/v2.0/networks', { network: { name: 'cmp-tags' } });
    const path = `/v2.0/networks/${network.id}/tags`;
    await cloud.get(path);
    await cloud.put(path, { tags: ['b', 'a'] });
    await cloud.get(path);
    await cloud.put(`${path}/c`);
    await cloud.put(`${path}/c`);
    await cloud.get(`${path}/c`);
    await cloud.get(`${path}/d`);
    await cloud.put(`/v2.0/networks/${other.id}/tags`, { tags: ['a', 'z'] });
    for (const filter of ['tags=a', 'tags=a,b', 'tags-any=b,z', 'not-tags=a,b', 'not-tags-any=b', 'tags=a&tags=b']) {
      await cloud.get(`/v2.0/networks?name=cmp-tags&${filter}&fields=id&fields=tags&sort_key=id&sort_dir=asc`);
    }
    await cloud.get(`/v2.0/networks/${network.id}?fields=tags&fields=revision_number`);
    await cloud.delete(`${path}/c`);
    await cloud.delete(`${path}/c`);
    for (const body of [
      { tags: 'x' },
      { tags: ['x', 'x'] },
      { tags: ['x'.repeat(256)] },
      { tags: [7] },
      { tags: ['with space', 'comma,comma'] },
      { tags: [''] },
      { tags: [] },
      {},
      { bogus: [] },
      { tags: ['x'], bogus: 1 },
    ]) {
      await cloud.put(path, body);
    }
    await cloud.request('POST', path, { tags: ['x'] });
    await cloud.put(`${path}/${'y'.repeat(256)}`);
    await cloud.put(`${path}/q`, { a: 1 });
    await cloud.delete(path);
    await cloud.get(path);
    for (const kind of ['networks', 'ports', 'routers', 'security-groups', 'floatingips', 'trunks', 'subnets']) {
      await cloud.get(`/v2.0/${kind}/${unknown}/tags`);
      await cloud.put(`/v2.0/${kind}/${unknown}/tags`, { tags: [] });
    }
    await cloud.get(`/v2.0/security-group-rules/${unknown}/tags`);
  },
};

export const sharing: Scenario = {
  name: 'network: sharing',
  service: 'network',
  async play(cloud) {
    const { network } = await cloud.post('/v2.0/networks', { network: { name: 'cmp-shared' } });
    const { projects } = await cloud.until('/projects?name=admin', () => true, { service: 'identity' }, 'admin');
    const target = projects[0].id as string;
    const base = {
      object_type: 'network',
      object_id: network.id,
      action: 'access_as_shared',
      target_tenant: target,
    };
    for (const desired of [
      {},
      { ...base, object_type: 'bogus' },
      { ...base, object_id: unknown },
      { ...base, object_id: 'x' },
      { ...base, target_tenant: '*' },
      { ...base, bogus: 1 },
    ]) {
      await cloud.post('/v2.0/rbac-policies', { rbac_policy: desired });
    }
    const { rbac_policy: policy } = await cloud.post('/v2.0/rbac-policies', { rbac_policy: base });
    await cloud.post('/v2.0/rbac-policies', { rbac_policy: base });
    await cloud.get(`/v2.0/rbac-policies/${policy.id}`);
    await cloud.get(`/v2.0/rbac-policies?object_id=${network.id}`);
    await cloud.get(`/v2.0/networks/${network.id}?fields=shared`);
    await cloud.put(`/v2.0/rbac-policies/${policy.id}`, { rbac_policy: { action: 'x' } });
    await cloud.delete(`/v2.0/rbac-policies/${policy.id}`);
    await cloud.get(`/v2.0/rbac-policies/${policy.id}`);
    cloud.as('admin');
    await cloud.put(`/v2.0/networks/${network.id}`, { network: { shared: true } }).then((answer) => {
      cloud.records.at(-1)!.body = { shared: answer.network.shared };
    });
    await cloud.get(`/v2.0/rbac-policies?object_id=${network.id}`);
    await cloud.put(`/v2.0/networks/${network.id}`, { network: { shared: false } }).then((answer) => {
      cloud.records.at(-1)!.body = { shared: answer.network.shared };
    });
    await cloud.get(`/v2.0/rbac-policies?object_id=${network.id}`);
  },
};
