import { beforeEach, describe, expect, it } from 'vitest';
import {
  type Json,
  loadBalancerClient,
  makeNetwork,
  networkClient,
  type ServiceClient,
} from '../network/testing/requests.ts';
import { type TestAnswer, type TestCloud, testCloud } from '../testing/test-cloud.ts';

const unknown = '00000000-0000-4000-8000-00000000dead';

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

/** Longer than any step. */
const settle = (): Promise<void> => cloud.clock.advance(30_000);

async function makeActive(desired: object = {}): Promise<Json> {
  const { id } = await octavia.make('loadbalancer', { name: 'lb', vip_subnet_id: subnetId, ...desired });
  await settle();
  return octavia.get(`/loadbalancers/${id}`);
}

async function makePart(kind: string, desired: object): Promise<Json> {
  const made = await octavia.make(kind, desired);
  await settle();
  return made;
}

const faultOf = ({ status, body }: TestAnswer): [number, string] => [status, (body as Json)?.faultstring];

describe('a load balancer', () => {
  it('has its port at once and becomes ACTIVE in its own time', async () => {
    const made = await octavia.make('loadbalancer', { name: 'lb', vip_subnet_id: subnetId, vip_address: '10.0.0.50' });
    expect(made).toMatchObject({
      provisioning_status: 'PENDING_CREATE',
      operating_status: 'OFFLINE',
      vip_address: '10.0.0.50',
      listeners: [],
    });
    const port = await network.get(`/ports/${made.vip_port_id}`);
    expect(port).toMatchObject({
      name: `octavia-lb-${made.id}`,
      device_owner: 'Octavia',
      device_id: `lb-${made.id}`,
      admin_state_up: false,
    });
    await settle();
    expect(await octavia.get(`/loadbalancers/${made.id}`)).toMatchObject({
      provisioning_status: 'ACTIVE',
      operating_status: 'ONLINE',
    });
  });

  it.each([
    [{}, 400, 'Validation failure: VIP must contain one of: vip_port_id, vip_network_id, vip_subnet_id.'],
    [{ vip_subnet_id: unknown }, 400, `Subnet ${unknown} not found.`],
    [{ vip_network_id: unknown }, 400, `Network ${unknown} not found.`],
    [{ vip_port_id: unknown }, 400, `Port ${unknown} not found.`],
    [
      { vip_subnet_id: 'x' },
      400,
      "Invalid input for field/attribute vip_subnet_id. Value: 'x'. Value should be UUID format",
    ],
    [{ bogus: 1 }, 400, 'Unknown attribute for argument load_balancer.loadbalancer: bogus'],
  ])('%j is refused', async (desired, status, message) => {
    expect(faultOf(await octavia.send('POST', '/loadbalancers', { loadbalancer: desired }))).toEqual([status, message]);
  });

  it('requires a role of octavia, not only one in the project', async () => {
    const plain = loadBalancerClient(await cloud.member('plain', ['member', 'reader']));
    const refusal = [403, 'Policy does not allow this request to be performed.'];
    expect(faultOf(await plain.send('GET', '/loadbalancers'))).toEqual(refusal);
    const foreign = loadBalancerClient(await cloud.member('foreign'));
    const { id } = await makeActive();
    expect(faultOf(await foreign.send('GET', `/loadbalancers/${id}`))).toEqual(refusal);
    expect(await foreign.list('/loadbalancers')).toEqual([]);
  });

  it('cannot be changed while it is pending', async () => {
    const { id } = await octavia.make('loadbalancer', { vip_subnet_id: subnetId });
    const pending = [409, `Invalid state PENDING_CREATE of loadbalancer resource ${id}`];
    expect(faultOf(await octavia.send('PUT', `/loadbalancers/${id}`, { loadbalancer: { name: 'x' } }))).toEqual(
      pending,
    );
    expect(faultOf(await octavia.send('DELETE', `/loadbalancers/${id}`))).toEqual(pending);
    const listener = { loadbalancer_id: id, protocol: 'TCP', protocol_port: 80 };
    expect(faultOf(await octavia.send('POST', '/listeners', { listener }))).toEqual([
      409,
      `Load Balancer ${id} is immutable and cannot be updated.`,
    ]);
  });

  it('is deleted with children only as a whole, port and group included', async () => {
    const lb = await makeActive();
    const listener = await makePart('listener', { loadbalancer_id: lb.id, protocol: 'TCP', protocol_port: 80 });
    await makePart('pool', { listener_id: listener.id, protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN' });
    expect(faultOf(await octavia.send('DELETE', `/loadbalancers/${lb.id}`))).toEqual([
      400,
      `Validation failure: Cannot delete Load Balancer ${lb.id} - it has children`,
    ]);
    expect((await octavia.send('DELETE', `/loadbalancers/${lb.id}?cascade=true`)).status).toBe(204);
    expect((await octavia.get(`/loadbalancers/${lb.id}`)).provisioning_status).toBe('PENDING_DELETE');
    await settle();
    for (const kind of ['loadbalancers', 'listeners', 'pools']) expect(await octavia.list(`/${kind}`)).toEqual([]);
    expect((await network.send('GET', `/ports/${lb.vip_port_id}`)).status).toBe(404);
    expect(await networkClient(cloud.admin).list(`/security-groups?name=lb-${lb.id}`)).toEqual([]);
  });

  it('leaves a port of the user alone', async () => {
    const port = await network.make('port', { network_id: networkId });
    const lb = await makeActive({ vip_subnet_id: undefined, vip_port_id: port.id });
    expect(lb.vip_address).toBe(port.fixed_ips[0].ip_address);
    await octavia.remove('loadbalancer', lb.id);
    await settle();
    expect((await network.get(`/ports/${port.id}`)).device_owner).toBe('');
  });

  it('is created as a whole from one body', async () => {
    const pool = {
      name: 'p',
      protocol: 'HTTP',
      lb_algorithm: 'ROUND_ROBIN',
      healthmonitor: { type: 'HTTP', delay: 5, timeout: 3, max_retries: 2 },
      members: [{ address: '10.0.0.5', protocol_port: 80 }],
    };
    const lb = await makeActive({
      listeners: [{ name: 'l', protocol: 'HTTP', protocol_port: 80, default_pool: pool }],
    });
    const { statuses } = (await octavia.send('GET', `/loadbalancers/${lb.id}/status`)).body as Json;
    const [listener] = statuses.loadbalancer.listeners;
    expect(listener).toMatchObject({ name: 'l', provisioning_status: 'ACTIVE' });
    expect(listener.pools[0]).toMatchObject({
      name: 'p',
      health_monitor: { type: 'HTTP', operating_status: 'ONLINE' },
      members: [{ address: '10.0.0.5', operating_status: 'ONLINE' }],
    });
  });
});

describe('the health of a pool', () => {
  it('follows its current members: a deleted member takes its fault with it', async () => {
    cloud = await testCloud({
      machineHost: {
        powerOn: () => {},
        powerOff: () => {},
        removed: () => {},
        answers: (_landing, tcpPort) => tcpPort === 80,
      },
    });
    const user = await cloud.member();
    octavia = loadBalancerClient(user);
    network = networkClient(user);
    ({ networkId, subnetId } = await makeNetwork(network, '10.0.0.0/24'));
    const port = await network.make('port', { network_id: networkId });
    const address = port.fixed_ips[0].ip_address;
    const lb = await makeActive();
    const pool = await makePart('pool', { loadbalancer_id: lb.id, protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN' });
    await makePart('healthmonitor', { pool_id: pool.id, type: 'TCP', delay: 5, timeout: 3, max_retries: 2 });
    for (const protocol_port of [80, 81]) {
      await octavia.send('POST', `/pools/${pool.id}/members`, { member: { address, protocol_port } });
      await settle();
    }
    expect((await octavia.get(`/pools/${pool.id}`)).operating_status).toBe('DEGRADED');
    const members = (await octavia.list(`/pools/${pool.id}/members`)) as Json[];
    const bad = members.find((member) => member['protocol_port'] === 81)!;
    expect((await octavia.send('DELETE', `/pools/${pool.id}/members/${bad['id']}`)).status).toBe(204);
    await settle();
    expect((await octavia.get(`/pools/${pool.id}`)).operating_status).toBe('ONLINE');
    expect((await octavia.get(`/loadbalancers/${lb.id}`)).operating_status).toBe('ONLINE');
  });
});

describe('parts', () => {
  it('make the load balancer and their parents pending until they have settled', async () => {
    const lb = await makeActive();
    const listener = await makePart('listener', { loadbalancer_id: lb.id, protocol: 'TCP', protocol_port: 80 });
    const pool = await makePart('pool', { listener_id: listener.id, protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN' });
    const member = await octavia.send('POST', `/pools/${pool.id}/members`, {
      member: { address: '10.0.0.5', protocol_port: 80 },
    });
    const statusOf = async (path: string): Promise<string> => (await octavia.get(path)).provisioning_status;
    const all = [`/loadbalancers/${lb.id}`, `/listeners/${listener.id}`, `/pools/${pool.id}`];
    for (const path of all) expect(await statusOf(path)).toBe('PENDING_UPDATE');
    const memberPath = `/pools/${pool.id}/members/${(member.body as Json).member.id}`;
    expect(await statusOf(memberPath)).toBe('PENDING_CREATE');
    await settle();
    for (const path of [...all, memberPath]) expect(await statusOf(path)).toBe('ACTIVE');
  });

  it('open the ports that listeners listen on for the allowed clients', async () => {
    const lb = await makeActive();
    await makePart('listener', {
      loadbalancer_id: lb.id,
      protocol: 'TCP',
      protocol_port: 6443,
      allowed_cidrs: ['10.0.0.7/8'],
    });
    const [group] = await networkClient(cloud.admin).list(`/security-groups?name=lb-${lb.id}`);
    const ingress = group.security_group_rules.filter(({ direction }: Json) => direction === 'ingress');
    expect(ingress).toMatchObject([
      { protocol: 'tcp', port_range_min: 6443, port_range_max: 6443, remote_ip_prefix: '10.0.0.0/8' },
    ]);
    expect((await network.get(`/ports/${lb.vip_port_id}`)).security_groups).toEqual([group.id]);
  });

  it.each([
    [
      { protocol: 'HTTP' },
      409,
      'Another Listener on this Load Balancer is already using protocol TCP and protocol_port 80',
    ],
    [
      { protocol_port: 0 },
      400,
      "Invalid input for field/attribute protocol_port. Value: '0'. Value should be greater or equal to 1",
    ],
    [
      { protocol_port: 81, allowed_cidrs: ['fd00::/64'] },
      400,
      'Validation failure: CIDR fd00::/64 IP version incompatible with VIP 10.0.0.50 IP version.',
    ],
    [{ protocol_port: 81, default_pool_id: unknown }, 404, `Pool ${unknown} not found.`],
    [
      { protocol_port: 81, insert_headers: { 'X-Forwarded-For': 'true' } },
      400,
      'insert-headers is not a valid option for a TCP protocol listener.',
    ],
  ])('beside a listener on tcp 80, %j is refused and nothing is left pending', async (desired, status, message) => {
    const lb = await makeActive({ vip_address: '10.0.0.50' });
    const listener = { loadbalancer_id: lb.id, protocol: 'TCP', protocol_port: 80 };
    await makePart('listener', listener);
    const answer = await octavia.send('POST', '/listeners', { listener: { ...listener, ...desired } });
    expect(faultOf(answer)).toEqual([status, message]);
    expect((await octavia.get(`/loadbalancers/${lb.id}`)).provisioning_status).toBe('ACTIVE');
  });

  it('have members replaced as a set, recognised by address and port', async () => {
    const lb = await makeActive();
    const pool = await makePart('pool', { loadbalancer_id: lb.id, protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN' });
    const path = `/pools/${pool.id}/members`;
    const replace = async (query: string, ...members: object[]): Promise<string[]> => {
      expect((await octavia.send('PUT', `${path}${query}`, { members })).status).toBe(202);
      await settle();
      return (await octavia.list(`${path}?sort=address`)).map(({ address, weight }) => `${address} ${weight}`);
    };
    const one = { address: '10.0.0.1', protocol_port: 80 };
    const two = { address: '10.0.0.2', protocol_port: 80 };
    expect(await replace('', one, { ...two, weight: 5 })).toEqual(['10.0.0.1 1', '10.0.0.2 5']);
    expect(await replace('', { ...two, weight: 7 })).toEqual(['10.0.0.2 7']);
    expect(await replace('?additive_only=true', one)).toEqual(['10.0.0.1 1', '10.0.0.2 7']);
    expect(await replace('')).toEqual([]);
  });

  it('allow one monitor for a pool, which checks its members', async () => {
    const lb = await makeActive();
    const pool = await makePart('pool', { loadbalancer_id: lb.id, protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN' });
    const monitor = { pool_id: pool.id, type: 'TCP', delay: 5, timeout: 3, max_retries: 3 };
    const made = await makePart('healthmonitor', monitor);
    expect(faultOf(await octavia.send('POST', '/healthmonitors', { healthmonitor: monitor }))).toEqual([
      409,
      'This pool already has a health monitor',
    ]);
    expect((await octavia.get(`/pools/${pool.id}`)).healthmonitor_id).toBe(made.id);
  });

  it('remove a pool from its listeners unless a policy needs it', async () => {
    const lb = await makeActive();
    const listener = await makePart('listener', { loadbalancer_id: lb.id, protocol: 'HTTP', protocol_port: 80 });
    const pool = await makePart('pool', { listener_id: listener.id, protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN' });
    const policy = await makePart('l7policy', {
      listener_id: listener.id,
      action: 'REDIRECT_TO_POOL',
      redirect_pool_id: pool.id,
    });
    const rule = { type: 'PATH', compare_type: 'STARTS_WITH', value: '/api' };
    expect((await octavia.send('POST', `/l7policies/${policy.id}/rules`, { rule })).status).toBe(201);
    await settle();
    expect(faultOf(await octavia.send('DELETE', `/pools/${pool.id}`))).toEqual([
      409,
      `Pool ${pool.id} is in use by L7 policy ${policy.id}`,
    ]);
    expect((await octavia.send('DELETE', `/l7policies/${policy.id}`)).status).toBe(204);
    await settle();
    await octavia.remove('pool', pool.id);
    await settle();
    expect((await octavia.get(`/listeners/${listener.id}`)).default_pool_id).toBeNull();
  });
});

describe('faults of load balancers', () => {
  it('end a failed creation in ERROR, which can be deleted but not changed', async () => {
    cloud.cloud.core.faults.set({ id: 'e', when: { operation: 'loadbalancer.create' }, effect: { kind: 'error' } });
    const { id } = await makeActive();
    expect(await octavia.get(`/loadbalancers/${id}`)).toMatchObject({ provisioning_status: 'ERROR' });
    const put = await octavia.send('PUT', `/loadbalancers/${id}`, { loadbalancer: { name: 'x' } });
    expect(faultOf(put)).toEqual([409, `Invalid state ERROR of loadbalancer resource ${id}`]);
    await octavia.remove('loadbalancer', id);
    await settle();
    expect(await octavia.list('/loadbalancers')).toEqual([]);
  });

  it('keep a stuck step from ever ending', async () => {
    cloud.cloud.core.faults.set({ id: 's', when: { operation: 'loadbalancer.create' }, effect: { kind: 'stuck' } });
    expect((await makeActive()).provisioning_status).toBe('PENDING_CREATE');
  });

  it('let operators repair a broken load balancer by failover', async () => {
    const lb = await makeActive();
    const { core } = cloud.cloud;
    expect(core.state.transact(() => core.services.loadBalancer.breakLoadBalancer(lb.id))).toBe(true);
    expect((await octavia.get(`/loadbalancers/${lb.id}`)).provisioning_status).toBe('ERROR');
    expect((await octavia.send('PUT', `/loadbalancers/${lb.id}/failover`)).status).toBe(403);
    expect((await operator.send('PUT', `/loadbalancers/${lb.id}/failover`)).status).toBe(202);
    await settle();
    expect((await octavia.get(`/loadbalancers/${lb.id}`)).provisioning_status).toBe('ACTIVE');
  });

  it('include a full quota, which refuses and leaves no port behind', async () => {
    await operator.send('PUT', `/quotas/${octavia.user.projectId}`, { quota: { load_balancer: 1 } });
    await makeActive();
    const answer = await octavia.send('POST', '/loadbalancers', { loadbalancer: { vip_subnet_id: subnetId } });
    expect(faultOf(answer)).toEqual([403, 'Quota has been met for resources: Load Balancer']);
    expect(await network.list('/ports')).toHaveLength(1);
  });
});

describe('lists', () => {
  it('can be filtered, sorted, paged and reduced to fields', async () => {
    for (const name of ['c', 'a', 'b'])
      await octavia.make('loadbalancer', { name, vip_subnet_id: subnetId, tags: [name] });
    const names = async (query: string): Promise<string[]> =>
      (await octavia.list(`/loadbalancers?${query}`)).map(({ name }) => name);
    expect(await names('sort=name')).toEqual(['a', 'b', 'c']);
    expect(await names('tags=b')).toEqual(['b']);
    expect(await names('name=A')).toEqual(['a']);
    const { body } = await octavia.send('GET', '/loadbalancers?sort=name&limit=2&fields=name');
    const { loadbalancers, loadbalancers_links: links } = body as Json;
    expect(loadbalancers).toEqual([{ name: 'a' }, { name: 'b' }]);
    expect(await names(links[0].href.split('?')[1])).toEqual(['c']);
    expect(faultOf(await octavia.send('GET', '/loadbalancers?bogus=1'))).toEqual([
      400,
      'One or more arguments are either duplicate or invalid',
    ]);
  });
});

describe('flavors and zones', () => {
  it('are offered by operators and chosen by members', async () => {
    const profile = await operator.make('flavorprofile', { name: 'p', provider_name: 'amphora', flavor_data: '{}' });
    const flavor = await operator.make('flavor', { name: 'small', flavor_profile_id: profile.id });
    expect((await octavia.send('POST', '/flavors', { flavor: {} })).status).toBe(403);
    expect(await octavia.list('/flavors?name=small')).toMatchObject([{ id: flavor.id, enabled: true }]);
    const lb = await makeActive({ flavor_id: flavor.id });
    expect(lb).toMatchObject({ flavor_id: flavor.id, provider: 'amphora' });
    expect((await operator.send('DELETE', `/flavors/${flavor.id}`)).status).toBe(409);
  });
});
