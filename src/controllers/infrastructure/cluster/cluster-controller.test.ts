import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OpenStackCluster, OpenStackClusters } from '../../../api/index.ts';
import { collect } from '../../../openstack/index.ts';
import { conditionOf } from '../../shared/index.ts';
import { added, footprint, requestsSince } from '../testing/footprint.ts';
import {
  by,
  createInfrastructureWorld,
  createOpenStackCluster,
  type InfrastructureWorld,
  type WorldOptions,
} from '../testing/world.ts';
import { openStackClusterController } from './cluster-controller.ts';

const publicNetwork = '375af7fe-a2c1-4c26-a57d-6d33175a6650';

let world: InfrastructureWorld;
let before: string[];

async function start(options: Partial<WorldOptions> = {}): Promise<void> {
  world = await createInfrastructureWorld({
    controllers: (dependencies) => [openStackClusterController(dependencies)],
    ...options,
  });
  before = await footprint(world.tenant);
}

const find = (name = 'basic-1'): Promise<OpenStackCluster | undefined> => world.find(OpenStackClusters, name);
const get = (name = 'basic-1'): Promise<OpenStackCluster> => world.get(OpenStackClusters, name);
const isProvisioned = async (name = 'basic-1'): Promise<boolean> =>
  (await find(name))?.status?.initialization?.provisioned === true;
const provisioned = (name = 'basic-1'): Promise<void> => world.until(() => isProvisioned(name));
const condition = async (type: string, name = 'basic-1') => conditionOf(await find(name), type);
const untilCondition = (type: string, status: string, name = 'basic-1'): Promise<void> =>
  world.until(async () => (await condition(type, name))?.status === status);
const inCloud = async (): Promise<string[]> => added(before, await footprint(world.tenant));
const key = (name = 'basic-1') => ({ namespace: world.namespace, name });

async function removed(name = 'basic-1'): Promise<void> {
  await world.client.delete(OpenStackClusters, key(name));
  await world.until(async () => (await find(name)) === undefined);
}

const managed = {
  managedSubnets: [{ cidr: '10.6.0.0/24', dnsNameservers: ['8.8.8.8'] }],
  managedSecurityGroups: {},
};
const balanced = { ...managed, apiServer: { managedLoadBalancer: { enabled: true } } };

afterEach(() => world.stop());

describe('an OpenStackCluster with managed resources and no load balancer', () => {
  beforeEach(() => start());

  it('creates network, router, security groups and floating IP under the names of upstream', async () => {
    await createOpenStackCluster(world, 'basic-1', managed);
    await provisioned();
    const { namespace } = world;
    const cluster = await get();
    const mark = cluster.metadata.annotations?.['infrastructure.cluster.x-k8s.io/owner-mark'];
    expect(mark).toBe(cluster.metadata.uid);
    const name = `k8s-clusterapi-cluster-${namespace}-basic-1`;
    expect(await inCloud()).toEqual([
      `floating IP Created by cluster-api-provider-openstack cluster ${namespace}-basic-1 [owner ${mark} api]`,
      `network ${name}`,
      'port network:router_interface',
      `router ${name}`,
      `security group k8s-cluster-${namespace}-basic-1-secgroup-controlplane`,
      `security group k8s-cluster-${namespace}-basic-1-secgroup-worker`,
      `subnet ${name}`,
    ]);
    const [address] = await collect(world.tenant.network.floatingIps.list());
    expect(cluster.spec.controlPlaneEndpoint).toEqual({ host: address?.address, port: 6443 });
    expect(cluster.status).toMatchObject({
      network: { name, subnets: [{ cidr: '10.6.0.0/24' }] },
      externalNetwork: { name: 'public' },
      router: { name },
      failureDomains: [
        { name: 'az2', controlPlane: true },
        { name: 'az3', controlPlane: true },
        { name: 'nova', controlPlane: true },
      ],
    });
    for (const type of [
      'Ready',
      'NetworkReady',
      'RouterReady',
      'SecurityGroupsReady',
      'APIEndpointReady',
      'OpenStackAuthenticationSucceeded',
    ]) {
      expect(await condition(type), type).toMatchObject({ status: 'True', reason: 'Ready' });
    }
  });

  it('needs fewer than half of the requests that upstream needs', async () => {
    await createOpenStackCluster(world, 'basic-1', managed);
    await provisioned();
    expect(world.requests.length).toBeLessThanOrEqual(20);
  });

  it('writes nothing and only requests shared lists for an hour once it is ready', async () => {
    await createOpenStackCluster(world, 'basic-1', managed);
    await provisioned();
    await world.pass(30_000);
    const writes = world.writes();
    const start = world.requests.length;
    await world.pass(3_600_000);
    expect(world.writes()).toBe(writes);
    const kinds = new Set(requestsSince(world, start));
    expect([...kinds].sort()).toEqual(
      ['floatingips', 'networks', 'ports', 'routers', 'security-groups'].map((kind) => `GET /network/v2.0/${kind}`),
    );
    expect(world.requests.length - start).toBeLessThanOrEqual(2 * 71 + 3 * 36);
  });

  it('writes nothing after a restart, and requests one list per kind of resource', async () => {
    await createOpenStackCluster(world, 'basic-1', managed);
    await provisioned();
    await world.pass(30_000);
    const writes = world.writes();
    const start = world.requests.length;
    await world.restart();
    await world.pass(30_000);
    expect(world.writes()).toBe(writes);
    expect(requestsSince(world, start).filter((line) => !line.startsWith('GET '))).toEqual([]);
    expect(requestsSince(world, start).length).toBeLessThanOrEqual(12);
  });

  it('is deleted without a trace, and leaves resources that are not its own', async () => {
    const { network } = world.tenant;
    const foreign = await network.networks.create({ name: `k8s-clusterapi-cluster-${world.namespace}-basic-1` });
    await network.securityGroups.create({ name: `k8s-cluster-${world.namespace}-basic-1-secgroup-worker` });
    await network.floatingIps.create({ networkId: publicNetwork });
    before = await footprint(world.tenant);
    await createOpenStackCluster(world, 'basic-1', managed);
    await provisioned();
    expect((await get()).status?.network?.id).not.toBe(foreign.id);
    await removed();
    expect(await footprint(world.tenant)).toEqual(before);
  });

  it('is deleted completely although its status was lost', async () => {
    await createOpenStackCluster(world, 'basic-1', managed);
    await provisioned();
    await world.halt();
    const { status: _, ...rest } = await get();
    await world.client.update(OpenStackClusters, { ...rest, status: {} } as OpenStackCluster, {
      ...by,
      subresource: 'status',
    });
    await world.client.delete(OpenStackClusters, key());
    await world.restart();
    await world.until(async () => (await find()) === undefined);
    expect(await footprint(world.tenant)).toEqual(before);
  });

  it('rebuilds its status from the cloud after a move', async () => {
    await createOpenStackCluster(world, 'basic-1', managed);
    await provisioned();
    const was = (await get()).status;
    const there = await inCloud();
    await world.halt();
    await world.client.update(OpenStackClusters, { ...(await get()), status: {} } as OpenStackCluster, {
      ...by,
      subresource: 'status',
    });
    await world.restart();
    await provisioned();
    const { conditions: _, ...now } = (await get()).status ?? {};
    expect(was).toMatchObject(now);
    expect(await inCloud()).toEqual(there);
  });

  it('waits with its deletion for foreign ports on the network, and names them', async () => {
    await createOpenStackCluster(world, 'basic-1', managed);
    await provisioned();
    const networkId = (await get()).status?.network?.id ?? '';
    const port = await world.tenant.network.ports.create({ networkId, name: 'in-the-way' });
    await world.client.delete(OpenStackClusters, key());
    await world.until(async () => (await condition('Ready'))?.reason === 'DeletionBlocked');
    expect((await condition('Ready'))?.message).toMatch(/network .* is still in use by port in-the-way/);
    await world.tenant.network.ports.delete(port.id);
    await world.until(async () => (await find()) === undefined);
    expect(await footprint(world.tenant)).toEqual(before);
  });

  it('finishes its deletion although a policy forbids one call, and names what is left', async () => {
    await createOpenStackCluster(world, 'basic-1', managed);
    await provisioned();
    world.cloud.operator.faults.set({
      id: 'policy',
      when: { service: 'network', method: 'DELETE', path: '/v2.0/security-groups/*' },
      effect: { kind: 'status', status: 403, message: 'disallowed by policy' },
    });
    await removed();
    expect(await inCloud()).toHaveLength(2);
    const warning = world.entries.find(({ message }) => message === 'Cloud resources are left behind');
    expect(JSON.stringify(warning)).toContain('secgroup-controlplane');
  });
});

describe('manual changes in the cloud', () => {
  beforeEach(async () => {
    await start();
    await createOpenStackCluster(world, 'basic-1', managed);
    await provisioned();
    await world.pass(10_000);
  });

  it('are repaired: a deleted rule and a foreign rule of a managed group', async () => {
    const id = (await get()).status?.controlPlaneSecurityGroup?.id ?? '';
    const { securityGroups, securityGroupRules } = world.tenant.network;
    const rules = (await securityGroups.get(id)).rules;
    const api = rules.find(({ portRangeMin }) => portRangeMin === 6443);
    await securityGroupRules.delete(api?.id ?? '');
    await securityGroupRules.create({
      securityGroupId: id,
      direction: 'ingress',
      protocol: 'tcp',
      portRangeMin: 1,
      portRangeMax: 65535,
    });
    await world.until(async () => {
      const now = (await securityGroups.get(id)).rules;
      return now.length === 6 && now.some(({ portRangeMin }) => portRangeMin === 6443);
    });
  });

  it('are repaired: a removed router interface', async () => {
    const { status } = await get();
    const { routers, ports } = world.tenant.network;
    const subnetId = status?.network?.subnets?.[0]?.id ?? '';
    await routers.removeInterface(status?.router?.id ?? '', { subnetId });
    await world.until(async () => (await collect(ports.list({ deviceId: status?.router?.id ?? '' }))).length === 1);
  });

  it('are repaired: a deleted router', async () => {
    const { status } = await get();
    const { routers } = world.tenant.network;
    const id = status?.router?.id ?? '';
    await routers.removeInterface(id, { subnetId: status?.network?.subnets?.[0]?.id ?? '' });
    await routers.delete(id);
    await world.until(async () => {
      const now = (await get()).status?.router?.id;
      return now !== undefined && now !== id && (await condition('Ready'))?.status === 'True';
    });
    expect((await inCloud()).filter((line) => line.startsWith('router'))).toHaveLength(1);
  });

  it('are reported with a cure: a deleted floating IP that cannot be created again', async () => {
    const host = (await get()).spec.controlPlaneEndpoint?.host ?? '';
    const { floatingIps } = world.tenant.network;
    await floatingIps.delete((await floatingIps.find(host))?.id ?? '');
    await untilCondition('APIEndpointReady', 'False');
    expect((await condition('APIEndpointReady'))?.message).toMatch(
      new RegExp(`floating IP ${host}, at which the cluster is reached, was deleted .*let an administrator create it`),
    );
    expect((await get()).spec.controlPlaneEndpoint?.host).toBe(host);
    // the address now belongs to another cluster, which keeps it
    const { projectId } = await floatingIps.create({ networkId: publicNetwork });
    const again = { networkId: publicNetwork, address: host, projectId };
    const { floatingIps: anyAddress } = world.admin.network;
    const foreign = await anyAddress.create({ ...again, description: 'Created for somebody [owner else api]' });
    await world.clock.advance(3_600_000);
    expect((await condition('APIEndpointReady'))?.status).toBe('False');
    await anyAddress.delete(foreign.id);
    await anyAddress.create(again);
    await untilCondition('APIEndpointReady', 'True');
    expect((await get()).spec.controlPlaneEndpoint?.host).toBe(host);
  });
});

describe('an OpenStackCluster with a load balancer', () => {
  it('creates listener, pool and monitor for every port, and a floating IP', async () => {
    await start();
    await createOpenStackCluster(world, 'basic-1', {
      ...managed,
      tags: ['team-a'],
      apiServer: {
        port: 443,
        managedLoadBalancer: {
          enabled: true,
          additionalPorts: [8132],
          allowedCIDRs: ['192.0.2.7', '198.51.100.0/24'],
          monitor: { delay: 20, maxRetries: 4 },
        },
      },
    });
    await provisioned();
    const cluster = await get();
    const name = `k8s-clusterapi-cluster-${world.namespace}-basic-1-kubeapi`;
    const there = await inCloud();
    for (const kind of ['listener', 'pool', 'health monitor']) {
      expect(there.filter((line) => line.startsWith(`${kind} `))).toEqual([
        `${kind} ${name}-443`,
        `${kind} ${name}-8132`,
      ]);
    }
    const { loadBalancer, network } = world.tenant;
    const [balancer] = await collect(loadBalancer.loadBalancers.list({ name }));
    const [address] = await collect(network.floatingIps.list({ portId: balancer?.vipPortId ?? '' }));
    expect(cluster.spec.controlPlaneEndpoint).toEqual({ host: address?.address, port: 443 });
    expect(balancer?.tags).toEqual(['team-a']);
    expect(address?.tags).toEqual(['team-a']);
    expect(cluster.status?.apiServerManagedLoadBalancer).toMatchObject({
      name,
      ip: address?.address,
      internalIP: balancer?.vipAddress,
      allowedCIDRs: ['10.6.0.0/24', `${cluster.status?.router?.ips?.[0]}/32`, '192.0.2.7/32', '198.51.100.0/24'],
    });
    const [listener] = await collect(loadBalancer.listeners.list({ name: `${name}-443` }));
    expect(listener?.allowedCidrs).toEqual(cluster.status?.apiServerManagedLoadBalancer?.allowedCIDRs);
    const [monitor] = await collect(loadBalancer.healthMonitors.list({ name: `${name}-443` }));
    expect(monitor).toMatchObject({ delay: 20, timeout: 5, maxRetries: 4, maxRetriesDown: 3 });
    const group = await network.securityGroups.get(cluster.status?.controlPlaneSecurityGroup?.id ?? '');
    expect(group.rules.flatMap(({ portRangeMin }) => portRangeMin ?? []).sort((a, b) => a - b)).toEqual([
      443, 2379, 8132, 10250, 10250,
    ]);
    await removed();
    expect(await footprint(world.tenant)).toEqual(before);
  });

  it('creates a listener again that somebody deleted', async () => {
    await start();
    await createOpenStackCluster(world, 'basic-1', balanced);
    await provisioned();
    await world.pass(10_000);
    const { listeners } = world.tenant.loadBalancer;
    const [listener] = await collect(listeners.list());
    await listeners.delete(listener?.id ?? '');
    await world.until(async () => {
      const [now] = await collect(listeners.list());
      return now !== undefined && now.id !== listener?.id && now.defaultPoolId === listener?.defaultPoolId;
    });
    expect((await inCloud()).filter((line) => line.startsWith('pool'))).toHaveLength(1);
  });

  it('changes allowed addresses and monitor in place', async () => {
    await start();
    await createOpenStackCluster(world, 'basic-1', balanced);
    await provisioned();
    await world.client.patch(
      OpenStackClusters,
      key(),
      'merge',
      { spec: { apiServer: { managedLoadBalancer: { allowedCIDRs: ['192.0.2.0/24'], monitor: { delay: 30 } } } } },
      by,
    );
    const { listeners, healthMonitors } = world.tenant.loadBalancer;
    await world.until(async () => {
      const [listener] = await collect(listeners.list());
      const [monitor] = await collect(healthMonitors.list());
      return listener?.allowedCidrs.includes('192.0.2.0/24') === true && monitor?.delay === 30;
    });
  });

  it('replaces a load balancer that failed on creation, and keeps one that was in use', async () => {
    await start();
    await createOpenStackCluster(world, 'basic-1', balanced);
    const { loadBalancers } = world.tenant.loadBalancer;
    const only = async () => (await collect(loadBalancers.list()))[0];
    await world.until(async () => (await only()) !== undefined);
    const first = await only();
    world.cloud.operator.breakLoadBalancer(first?.id ?? '');
    await provisioned();
    const second = await only();
    expect(second?.id).not.toBe(first?.id);
    await world.pass(10_000);
    world.cloud.operator.breakLoadBalancer(second?.id ?? '');
    await untilCondition('APIEndpointReady', 'False');
    expect((await condition('APIEndpointReady'))?.message).toMatch(/is in ERROR; ask the operator/);
    expect((await only())?.id).toBe(second?.id);
    expect((await get()).status?.initialization?.provisioned).toBe(true);
  });

  it('writes nothing for an hour once it is ready', async () => {
    await start();
    await createOpenStackCluster(world, 'basic-1', balanced);
    await provisioned();
    await world.pass(60_000);
    const writes = world.writes();
    const start2 = world.requests.length;
    await world.pass(3_600_000);
    expect(world.writes()).toBe(writes);
    expect(requestsSince(world, start2).every((line) => line.startsWith('GET '))).toBe(true);
    expect(new Set(requestsSince(world, start2)).size).toBe(6);
  });
});
