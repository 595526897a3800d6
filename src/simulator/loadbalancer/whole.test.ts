import { beforeEach, describe, expect, it } from 'vitest';
import {
  type Json,
  loadBalancerClient,
  makeNetwork,
  networkClient,
  type ServiceClient,
} from '../network/testing/requests.ts';
import { type TestCloud, testCloud } from '../testing/test-cloud.ts';

let cloud: TestCloud;
let octavia: ServiceClient;
let operator: ServiceClient;
let network: ServiceClient;
let subnetId: string;
let networkId: string;

beforeEach(async () => {
  cloud = await testCloud();
  const user = await cloud.member();
  octavia = loadBalancerClient(user);
  operator = loadBalancerClient(cloud.admin);
  network = networkClient(user);
  ({ networkId, subnetId } = await makeNetwork(network, '10.0.0.0/24'));
});

const settle = (): Promise<void> => cloud.clock.advance(30_000);

async function make(kind: string, wanted: object): Promise<Json> {
  const made = await octavia.make(kind, wanted);
  await settle();
  return made;
}

describe('a load balancer made in one request', () => {
  it('creates L7 policies with their rules and pools', async () => {
    const pool = { name: 'other', protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN' };
    const rule = { type: 'PATH', compare_type: 'STARTS_WITH', value: '/api' };
    const listener = {
      protocol: 'HTTP',
      protocol_port: 80,
      default_pool: { name: 'main', protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN' },
      l7policies: [
        { name: 'a', action: 'REDIRECT_TO_POOL', redirect_pool: pool, rules: [rule] },
        { name: 'b', action: 'REJECT', position: 1 },
      ],
    };
    const lb = await make('loadbalancer', { vip_subnet_id: subnetId, listeners: [listener] });
    expect(lb.listeners[0].l7policies).toMatchObject([
      { name: 'b', position: 1, rules: [] },
      { name: 'a', position: 2, rules: [{ value: '/api' }] },
    ]);
    const policies = await octavia.list('/l7policies');
    expect(policies.map(({ provisioning_status }) => provisioning_status)).toEqual(['ACTIVE', 'ACTIVE']);
    const other = (await octavia.list('/pools')).find(({ name }: Json) => name === 'other');
    expect(policies.find(({ name }: Json) => name === 'a').redirect_pool_id).toBe(other.id);
  });

  it('has further addresses on its port', async () => {
    const { id: more } = await network.make('subnet', { network_id: networkId, ip_version: 4, cidr: '10.1.0.0/24' });
    const additional_vips = [{ subnet_id: more, ip_address: '10.1.0.7' }];
    const lb = await make('loadbalancer', { vip_subnet_id: subnetId, additional_vips });
    expect(lb).toMatchObject({ additional_vips });
    const port = await network.get(`/ports/${lb.vip_port_id}`);
    expect(port.fixed_ips.map(({ ip_address }: Json) => ip_address)).toContain('10.1.0.7');
    const twice = { vip_subnet_id: subnetId, additional_vips: [{ subnet_id: subnetId }] };
    expect((await octavia.send('POST', '/loadbalancers', { loadbalancer: twice })).status).toBe(400);
  });

  it('carries a QoS policy its owner may use', async () => {
    const admin = networkClient(cloud.admin);
    const { id } = await admin.make('policy', { name: 'q' });
    const wanted = { vip_subnet_id: subnetId, vip_qos_policy_id: id };
    expect((await octavia.send('POST', '/loadbalancers', { loadbalancer: wanted })).status).toBe(400);
    await admin.change('policy', id, { shared: true });
    const lb = await make('loadbalancer', wanted);
    expect(lb).toMatchObject({ vip_qos_policy_id: id });
    expect(await network.get(`/ports/${lb.vip_port_id}`)).toMatchObject({ qos_policy_id: id });
    expect(await octavia.change('loadbalancer', lb.id, { vip_qos_policy_id: null })).toMatchObject({
      vip_qos_policy_id: null,
    });
  });
});

it('accepts a number of a short list as text', async () => {
  const lb = await make('loadbalancer', { vip_subnet_id: subnetId });
  const wanted = { loadbalancer_id: lb.id, protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN' };
  const { id: pool_id } = await make('pool', wanted);
  const monitor = { pool_id, type: 'HTTP', delay: 5, timeout: 3, max_retries: 2, http_version: '1.0' };
  expect(await make('healthmonitor', monitor)).toMatchObject({ http_version: 1 });
  const body = { healthmonitor: { http_version: '1.2' } };
  const [{ id }] = (await octavia.list('/healthmonitors')) as [Json];
  expect((await octavia.send('PUT', `/healthmonitors/${id}`, body)).status).toBe(400);
});

describe('L7 policies', () => {
  it('keep an unbroken order whatever is inserted, moved or removed', async () => {
    const lb = await make('loadbalancer', { vip_subnet_id: subnetId });
    const { id: listener_id } = await make('listener', { loadbalancer_id: lb.id, protocol: 'HTTP', protocol_port: 80 });
    const put = (name: string, position?: number) =>
      make('l7policy', { listener_id, name, action: 'REJECT', ...(position && { position }) });
    const order = async () =>
      (await octavia.list('/l7policies?sort=position:asc')).map(({ name, position }: Json) => `${position} ${name}`);
    const a = await put('a');
    await put('b');
    await put('c', 1);
    expect(await order()).toEqual(['1 c', '2 a', '3 b']);
    await octavia.change('l7policy', a.id, { position: 3 });
    await settle();
    expect(await order()).toEqual(['1 c', '2 b', '3 a']);
    const [first] = await octavia.list('/l7policies?name=c');
    await octavia.remove('l7policy', first.id);
    await settle();
    expect(await order()).toEqual(['1 b', '2 a']);
  });

  it('drop their target when their action changes', async () => {
    const lb = await make('loadbalancer', { vip_subnet_id: subnetId });
    const { id: listener_id } = await make('listener', { loadbalancer_id: lb.id, protocol: 'HTTP', protocol_port: 80 });
    const url = { listener_id, action: 'REDIRECT_TO_URL', redirect_url: 'http://a.example' };
    const { id } = await make('l7policy', url);
    expect(await octavia.change('l7policy', id, { action: 'REJECT' })).toMatchObject({
      redirect_url: null,
      redirect_http_code: null,
    });
  });
});

describe('operators', () => {
  it('change profiles that no flavor uses', async () => {
    const profile = { name: 'p', provider_name: 'amphora', flavor_data: '{}' };
    const { id } = await operator.make('flavorprofile', profile);
    expect(await operator.change('flavorprofile', id, { flavor_data: '{"a":1}' })).toMatchObject({
      flavor_data: '{"a":1}',
    });
    await operator.make('flavor', { name: 'f', flavor_profile_id: id });
    const change = (flavorprofile: object) => operator.send('PUT', `/flavorprofiles/${id}`, { flavorprofile });
    expect((await change({ flavor_data: '{}' })).status).toBe(409);
    expect((await change({ name: 'q' })).status).toBe(200);
    expect((await octavia.send('PUT', `/flavorprofiles/${id}`, { flavorprofile: { name: 'x' } })).status).toBe(403);
  });

  it('see what providers can do', async () => {
    const capabilities = await operator.list('/providers/amphora/flavor_capabilities');
    expect(capabilities.map(({ name }) => name)).toContain('compute_flavor');
    expect(await operator.list('/providers/amphora/availability_zone_capabilities')).not.toEqual([]);
    expect((await operator.send('GET', '/providers/nobody/flavor_capabilities')).status).toBe(400);
    expect((await octavia.send('GET', '/providers/amphora/flavor_capabilities')).status).toBe(403);
  });

  it('find everything without `lbaas` in the path too', async () => {
    const { user } = operator;
    const quota = `/load-balancer/v2.0/quotas/${octavia.user.projectId}`;
    expect((await user.request('PUT', quota, { quota: { pool: 3 } })).status).toBe(202);
    expect((await octavia.get(`/quotas/${octavia.user.projectId}`)).pool).toBe(3);
    expect((await user.request('GET', '/load-balancer/v2.0/loadbalancers')).status).toBe(200);
  });
});

it('lets a global observer see all projects and change nothing', async () => {
  const lb = await make('loadbalancer', { vip_subnet_id: subnetId });
  const observer = loadBalancerClient(await cloud.member('watch', ['reader', 'load-balancer_global_observer']));
  expect((await observer.list('/loadbalancers')).map(({ id }) => id)).toEqual([lb.id]);
  expect((await observer.send('GET', `/loadbalancers/${lb.id}`)).status).toBe(200);
  expect((await observer.send('DELETE', `/loadbalancers/${lb.id}`)).status).toBe(403);
});
