import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  collect,
  type HealthMonitorSpec,
  type Listener,
  type ListenerSpec,
  type LoadBalancer,
  type MemberSpec,
  type Pool,
  type PoolSpec,
} from '../../src/openstack/index.ts';
import { contract } from './support/contract.ts';
import { createRoutedLab, type Lab } from './support/lab.ts';
import { nobody, refused } from './support/refused.ts';
import { uniqueName } from './support/tenant.ts';
import { until, untilGone } from './support/wait.ts';

contract('load balancers', (cloud) => {
  let lab: Lab;
  let balancer: LoadBalancer;
  let listener: Listener;
  let pool: Pool;
  const octavia = () => cloud.member.loadBalancer;
  const active = (id: string): Promise<LoadBalancer> =>
    until(
      () => octavia().loadBalancers.get(id),
      ({ provisioningStatus }) => provisioningStatus === 'ACTIVE' || provisioningStatus === 'ERROR',
    );
  /** Waits for the load balancer first, because it accepts one change at a time. */
  const change = async <T>(make: () => Promise<T>): Promise<T> => {
    await active(balancer.id);
    const made = await make();
    await active(balancer.id);
    return made;
  };
  beforeAll(async () => {
    lab = await createRoutedLab(cloud);
    balancer = await octavia().loadBalancers.create({
      name: uniqueName('lb'),
      vipSubnetId: lab.subnet.id,
      tags: ['t1', 't2'],
      description: 'd',
    });
  });
  afterAll(async () => {
    await active(balancer.id);
    await octavia().loadBalancers.delete(balancer.id, { cascade: true });
    await untilGone(() => octavia().loadBalancers.get(balancer.id));
  });

  describe('offers of a cloud', () => {
    it('include providers, flavors, zones and quotas', async () => {
      expect((await octavia().providers()).map(({ name }) => name)).toContain('amphora');
      expect(await collect(octavia().flavors.list())).toEqual(expect.any(Array));
      expect(await octavia().availabilityZones()).toEqual(expect.any(Array));
      expect(Object.keys(await octavia().quotas(cloud.tenant.projectId)).toSorted()).toEqual(
        ['health_monitor', 'l7policy', 'l7rule', 'listener', 'load_balancer', 'member', 'pool'].toSorted(),
      );
      const path = `/lbaas/quotas/${nobody.replaceAll('-', '')}`;
      await refused(octavia().service.request({ method: 'GET', path }), {
        status: 403,
        kind: 'forbidden',
        says: 'Policy does not allow this request to be performed.',
      });
    });
  });

  describe('a new load balancer', () => {
    it('is pending, with an address and a port from the first moment', async () => {
      expect(balancer).toMatchObject({
        provisioningStatus: 'PENDING_CREATE',
        operatingStatus: 'OFFLINE',
        vipSubnetId: lab.subnet.id,
        vipNetworkId: lab.network.id,
        listenerIds: [],
        poolIds: [],
        description: 'd',
        adminStateUp: true,
        provider: 'amphora',
        flavorId: undefined,
      });
      expect(balancer.tags.toSorted()).toEqual(['t1', 't2']);
      const port = await cloud.member.network.ports.get(balancer.vipPortId!);
      expect(port).toMatchObject({
        name: `octavia-lb-${balancer.id}`,
        deviceOwner: 'Octavia',
        deviceId: `lb-${balancer.id}`,
        fixedIps: [{ address: balancer.vipAddress }],
      });
    });

    it('cannot be changed while pending, until it is active', async () => {
      const { provisioningStatus } = await octavia().loadBalancers.get(balancer.id);
      if (provisioningStatus === 'PENDING_CREATE') {
        // A raw request, because the client itself would wait.
        const impatient = {
          method: 'POST',
          path: '/lbaas/listeners',
          json: { listener: { loadbalancer_id: balancer.id, protocol: 'TCP', protocol_port: 1 } },
        } as const;
        const answer = await cloud.wire({
          ...impatient,
          url: `${await octavia().service.endpoint()}/lbaas/listeners`,
          token: await tokenOf(),
        });
        if (answer.status !== 201) {
          expect(answer.status).toBe(409);
          expect(answer.json.faultstring).toBe(`Load Balancer ${balancer.id} is immutable and cannot be updated.`);
        }
      }
      expect((await active(balancer.id)).provisioningStatus).toBe('ACTIVE');
    });

    const tokenOf = async (): Promise<string> => {
      const { credential } = cloud.tenant.config;
      if (credential.method !== 'password') throw new Error('not a password');
      const answer = await cloud.wire({
        method: 'POST',
        url: `${cloud.tenant.config.authUrl}/auth/tokens`,
        json: {
          auth: {
            identity: {
              methods: ['password'],
              password: { user: { id: cloud.tenant.userId, password: credential.password } },
            },
            scope: { project: { id: cloud.tenant.projectId } },
          },
        },
      });
      return answer.headers['x-subject-token']!;
    };

    it('takes a floating IP on its port', async () => {
      const ip = await cloud.member.network.floatingIps.create({
        networkId: cloud.world.external.id,
        portId: balancer.vipPortId!,
      });
      expect(ip.fixedAddress).toBe(balancer.vipAddress);
      await cloud.member.network.floatingIps.delete(ip.id);
    });

    it('is found by name, tag, address and port', async () => {
      const { loadBalancers } = octavia();
      expect((await loadBalancers.find(balancer.name))?.id).toBe(balancer.id);
      for (const filter of [
        { tags: ['t1', 't2'] },
        { vipAddress: balancer.vipAddress },
        { vipPortId: balancer.vipPortId },
        { id: balancer.id },
      ]) {
        expect(
          (await collect(loadBalancers.list(filter))).map(({ id }) => id),
          JSON.stringify(filter),
        ).toEqual([balancer.id]);
      }
      expect(await collect(loadBalancers.list({ tags: ['t1', 'nope'] }))).toEqual([]);
      const answer = await octavia().service.request({
        method: 'GET',
        path: '/lbaas/loadbalancers',
        query: { fields: ['id', 'name'] },
      });
      expect(answer.members('loadbalancers')).toEqual([{ id: balancer.id, name: balancer.name }]);
      expect(answer.object()['loadbalancers_links']).toEqual([]);
    });

    it('can be renamed', async () => {
      const changed = await change(() => octavia().loadBalancers.update(balancer.id, { description: 'e' }));
      expect(changed).toMatchObject({ description: 'e', provisioningStatus: 'PENDING_UPDATE' });
    });
  });

  describe('creation of a load balancer', () => {
    it.each<[string, object, number, string]>([
      [
        'without a source of the address',
        {},
        400,
        'Validation failure: VIP must contain one of: vip_port_id, vip_network_id, vip_subnet_id.',
      ],
      ['with an unknown subnet', { vipSubnetId: nobody }, 400, `Subnet ${nobody} not found.`],
      ['with an unknown network', { vipNetworkId: nobody }, 400, `Network ${nobody} not found.`],
      ['with an unknown port', { vipPortId: nobody }, 400, `Port ${nobody} not found.`],
    ])('is refused %s', async (_what, desired, status, says) => {
      await refused(octavia().loadBalancers.create({ name: uniqueName('lb'), ...desired }), { status, says });
    });

    it.each<[string, object, string]>([
      ['with an unknown provider', { provider: 'nope' }, "Provider 'nope' is not enabled."],
      ['with an unknown flavor', { flavorId: nobody }, 'Validation failure: Invalid flavor_id.'],
      ['with an unknown zone', { availabilityZone: 'nope' }, 'Validation failure: Invalid availability zone.'],
    ])('is refused with 400 %s', async (_what, desired, says) => {
      const call = octavia().loadBalancers.create({ name: uniqueName('lb'), vipSubnetId: lab.subnet.id, ...desired });
      await refused(call, { status: 400, says });
    });

    it('is refused with unknown attributes', async () => {
      const json = { loadbalancer: { vip_subnet_id: lab.subnet.id, bogus: 1 } };
      await refused(octavia().service.request({ method: 'POST', path: '/lbaas/loadbalancers', json }), {
        status: 400,
        says: 'Unknown attribute for argument load_balancer.loadbalancer: bogus',
      });
      await refused(octavia().service.request({ method: 'GET', path: '/lbaas/loadbalancers', query: { bogus: 'x' } }), {
        status: 400,
        says: 'One or more arguments are either duplicate or invalid',
      });
      await refused(
        octavia().service.request({ method: 'GET', path: '/lbaas/loadbalancers', query: { limit: 1, marker: 'nope' } }),
        { status: 400 },
      );
    });
  });

  describe('listeners', () => {
    const desired = (more: Partial<ListenerSpec> = {}): ListenerSpec => ({
      name: uniqueName('listener'),
      loadBalancerId: balancer.id,
      protocol: 'TCP',
      protocolPort: 6443,
      ...more,
    });

    it('make the load balancer pending while they are created', async () => {
      await active(balancer.id);
      listener = await octavia().listeners.create(
        desired({ allowedCidrs: ['10.0.0.0/8', '192.0.2.0/24'], tags: ['l'] }),
      );
      expect(listener).toMatchObject({
        provisioningStatus: 'PENDING_CREATE',
        protocol: 'TCP',
        protocolPort: 6443,
        connectionLimit: -1,
        defaultPoolId: undefined,
        loadBalancerIds: [balancer.id],
        timeoutClientData: 50_000,
        timeoutMemberConnect: 5000,
        tags: ['l'],
      });
      expect(listener.allowedCidrs.toSorted()).toEqual(['10.0.0.0/8', '192.0.2.0/24']);
      expect((await active(balancer.id)).listenerIds).toEqual([listener.id]);
      expect((await octavia().listeners.get(listener.id)).provisioningStatus).toBe('ACTIVE');
    });

    it('are found by name and load balancer, and changed', async () => {
      expect((await octavia().listeners.find(listener.name))?.id).toBe(listener.id);
      expect(await collect(octavia().listeners.list({ loadBalancerId: balancer.id }))).toHaveLength(1);
      const changed = await change(() => octavia().listeners.update(listener.id, { allowedCidrs: ['10.0.0.0/8'] }));
      expect(changed.allowedCidrs).toEqual(['10.0.0.0/8']);
    });

    it('refuse settings that do not fit', async () => {
      await active(balancer.id);
      const create = (more: Partial<ListenerSpec>) => octavia().listeners.create(desired(more));
      await refused(create({}), {
        status: 409,
        kind: 'conflict',
        says: 'Another Listener on this Load Balancer is already using protocol TCP and protocol_port 6443',
      });
      await refused(create({ protocolPort: 80, allowedCidrs: ['bogus'] }), {
        status: 400,
        says: 'Value should be IPv4 or IPv6 CIDR format',
      });
      await refused(create({ protocolPort: 80, allowedCidrs: ['fd00::/64'] }), {
        status: 400,
        says: 'Validation failure: CIDR fd00::/64 IP version incompatible with VIP',
      });
      await refused(create({ protocolPort: 80, loadBalancerId: nobody }), { status: 404 });
      await refused(create({ protocolPort: 80, protocol: 'BOGUS' }), {
        status: 400,
        says: "Value: 'BOGUS'. Value should be one of:",
      });
      const json = { listener: { loadbalancer_id: balancer.id, protocol: 'TCP' } };
      await refused(octavia().service.request({ method: 'POST', path: '/lbaas/listeners', json }), {
        status: 400,
        says: "Invalid input for field/attribute protocol_port. Value: 'None'. Mandatory field missing.",
      });
    });
  });

  describe('pools', () => {
    const desired = (more: Partial<PoolSpec> = {}): PoolSpec => ({
      name: uniqueName('pool'),
      listenerId: listener.id,
      protocol: 'TCP',
      algorithm: 'ROUND_ROBIN',
      ...more,
    });

    it('become the default of their listener', async () => {
      pool = await change(() => octavia().pools.create(desired()));
      expect(pool).toMatchObject({
        protocol: 'TCP',
        algorithm: 'ROUND_ROBIN',
        listenerIds: [listener.id],
        loadBalancerIds: [balancer.id],
        memberIds: [],
        sessionPersistence: undefined,
      });
      expect((await octavia().listeners.get(listener.id)).defaultPoolId).toBe(pool.id);
      expect((await octavia().pools.find(pool.name))?.id).toBe(pool.id);
    });

    it('refuse settings that do not fit', async () => {
      await active(balancer.id);
      await refused(octavia().pools.create(desired()), {
        status: 409,
        kind: 'conflict',
        says: 'This listener already has a default pool',
      });
      await refused(octavia().pools.create(desired({ listenerId: undefined })), {
        status: 400,
        says: 'Must provide at least one of: loadbalancer_id, listener_id',
      });
    });
  });

  describe('members', () => {
    const members = () => octavia().members(pool.id);
    const desired = (more: Partial<MemberSpec> = {}): MemberSpec => ({
      address: '10.20.0.50',
      protocolPort: 6443,
      ...more,
    });

    it('are added and removed', async () => {
      const member = await change(() => members().create(desired({ name: 'm', tags: ['x'] })));
      expect(member).toMatchObject({
        address: '10.20.0.50',
        protocolPort: 6443,
        weight: 1,
        backup: false,
        subnetId: undefined,
        operatingStatus: 'NO_MONITOR',
        tags: ['x'],
      });
      expect((await members().find('m'))?.id).toBe(member.id);
      await refused(members().create(desired()), {
        status: 409,
        kind: 'conflict',
        says: 'Another member on this pool is already using ip 10.20.0.50 on protocol_port 6443',
      });
      await refused(members().create(desired({ address: '10.20.0.51', subnetId: nobody })), {
        status: 400,
        says: `Subnet ${nobody} not found.`,
      });
      expect(await change(() => members().update(member.id, { weight: 5 }))).toMatchObject({ weight: 5 });
      expect(await change(() => members().delete(member.id))).toBe(true);
      expect(await members().delete(member.id)).toBe(false);
    });

    it('are replaced all at once', async () => {
      await change(() => members().replaceAll([desired({ name: 'a' }), desired({ name: 'b', address: '10.20.0.51' })]));
      await change(() =>
        members().replaceAll([
          desired({ name: 'b', address: '10.20.0.51' }),
          desired({ name: 'c', address: '10.20.0.52' }),
        ]),
      );
      const found = await collect(members().list());
      expect(found.map(({ address }) => address).toSorted()).toEqual(['10.20.0.51', '10.20.0.52']);
      expect(await collect(members().list({ address: '10.20.0.52' }))).toHaveLength(1);
    });
  });

  describe('monitors', () => {
    const desired = (more: Partial<HealthMonitorSpec> = {}): HealthMonitorSpec => ({
      name: uniqueName('monitor'),
      poolId: pool.id,
      type: 'TCP',
      delay: 10,
      timeout: 5,
      maxRetries: 3,
      ...more,
    });

    it('check a pool, one for each', async () => {
      const monitor = await change(() => octavia().healthMonitors.create(desired()));
      expect(monitor).toMatchObject({
        type: 'TCP',
        delay: 10,
        timeout: 5,
        maxRetries: 3,
        maxRetriesDown: 3,
        httpMethod: undefined,
        poolIds: [pool.id],
      });
      expect((await octavia().pools.get(pool.id)).healthMonitorId).toBe(monitor.id);
      expect((await octavia().healthMonitors.find(monitor.name))?.id).toBe(monitor.id);
      await refused(octavia().healthMonitors.create(desired()), {
        status: 409,
        kind: 'conflict',
        says: 'This pool already has a health monitor',
      });
      await refused(octavia().healthMonitors.create(desired({ poolId: nobody })), { status: 404 });
      expect(await change(() => octavia().healthMonitors.update(monitor.id, { delay: 20 }))).toMatchObject({
        delay: 20,
      });
    });
  });

  describe('a complete load balancer', () => {
    it('shows a tree of states and statistics', async () => {
      const tree = (await octavia().loadBalancers.statusTree(balancer.id))['loadbalancer'];
      expect(tree).toMatchObject({
        id: balancer.id,
        listeners: [
          { id: listener.id, pools: [{ id: pool.id, health_monitor: { type: 'TCP' }, members: expect.any(Array) }] },
        ],
      });
      expect(await octavia().loadBalancers.stats(balancer.id)).toMatchObject({
        bytesIn: expect.any(Number),
        activeConnections: expect.any(Number),
      });
    });

    it('is hidden from strangers, and its failover is refused to members', async () => {
      const stranger = await cloud.stranger();
      const error = await refused(stranger.cloud.loadBalancer.loadBalancers.get(balancer.id), { status: 403 });
      expect(error.kind).toBe('forbidden');
      await refused(octavia().loadBalancers.failover(balancer.id), { status: 403 });
    });

    it('is deleted only after its children or together with them', async () => {
      await active(balancer.id);
      await refused(octavia().loadBalancers.delete(balancer.id), {
        status: 400,
        says: `Validation failure: Cannot delete Load Balancer ${balancer.id} - it has children`,
      });
    });

    it('accepts quick changes one after another from a patient client', async () => {
      // Three changes without waiting: octavia answers 409 and the client retries.
      await active(balancer.id);
      const names = ['x', 'y', 'z'].map((name) => uniqueName(name));
      for (const [index, name] of names.entries()) {
        await octavia().listeners.create({
          name,
          loadBalancerId: balancer.id,
          protocol: 'TCP',
          protocolPort: 9000 + index,
        });
      }
      await active(balancer.id);
      expect(await collect(octavia().listeners.list({ loadBalancerId: balancer.id }))).toHaveLength(4);
    });
  });

  it('are deleted with everything below them', async () => {
    const { loadBalancers } = octavia();
    const other = await loadBalancers.create({ name: uniqueName('lb'), vipNetworkId: lab.network.id });
    await active(other.id);
    const below = await octavia().listeners.create({
      name: uniqueName('l'),
      loadBalancerId: other.id,
      protocol: 'TCP',
      protocolPort: 80,
    });
    await active(other.id);
    expect(await loadBalancers.delete(other.id, { cascade: true })).toBe(true);
    await untilGone(() => loadBalancers.get(other.id));
    await refused(octavia().listeners.get(below.id), { status: 404 });
    await untilGone(() => cloud.member.network.ports.get(other.vipPortId!));
    expect(await loadBalancers.delete(other.id)).toBe(false);
  });
});
