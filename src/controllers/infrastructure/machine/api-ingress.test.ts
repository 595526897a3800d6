import { afterEach, describe, expect, it } from 'vitest';
import { Clusters, Machines, OpenStackClusters, OpenStackMachines, OpenStackServers } from '../../../api/index.ts';
import { collect, type FloatingIp, type Member } from '../../../openstack/index.ts';
import { openStackServerController } from '../server/server-controller.ts';
import { type ApiLoadBalancer, createBalancedCluster } from '../testing/load-balancers.ts';
import {
  createMachine,
  deleteMachine,
  joinNodes,
  machineCondition,
  machineIsReady,
  setClusterStatus,
  setMachineHealth,
  usualClusterStatus,
} from '../testing/machines.ts';
import { leftBehind, usualNetwork } from '../testing/servers.ts';
import { by, createInfrastructureWorld, createOpenStackCluster, type InfrastructureWorld } from '../testing/world.ts';
import { openStackMachineController } from './machine-controller.ts';

let world: InfrastructureWorld;

afterEach(async () => {
  await world.stop();
});

const openWorld = async (): Promise<InfrastructureWorld> => {
  world = await createInfrastructureWorld({
    controllers: (dependencies) => [openStackServerController(dependencies), openStackMachineController(dependencies)],
  });
  return world;
};
const controlPlane = (name: string): Promise<unknown> => createMachine(world, name, { controlPlane: true });
const ingress = (name: string): Promise<string> => machineCondition(world, name, 'APIServerIngressReady');
const portOf = async (name: string): Promise<string> =>
  (await world.get(OpenStackServers, name)).status?.resources?.ports?.[0]?.id ?? '';

describe('the floating IP of an API', () => {
  let floating: FloatingIp;

  const openCluster = async (): Promise<void> => {
    await openWorld();
    const [external] = await collect(world.tenant.network.networks.list({ external: true }));
    floating = await world.tenant.network.floatingIps.create({ networkId: external!.id });
    await createOpenStackCluster(world, 'c1', { controlPlaneEndpoint: { host: floating.address, port: 6443 } });
    await setClusterStatus(world, 'c1', await usualClusterStatus(world));
  };
  const holder = async (): Promise<string | undefined> =>
    (await world.tenant.network.floatingIps.get(floating.id)).portId;
  const leadsTo = async (name: string): Promise<boolean> => (await holder()) === (await portOf(name));

  it('is attached to the first machine, stays there, and outlives it', async () => {
    await openCluster();
    await controlPlane('cp1');
    await world.until(() => leadsTo('cp1'));
    await world.until(async () => (await ingress('cp1')).startsWith('True'));
    await controlPlane('cp2');
    await world.until(() => machineIsReady(world, 'cp2'));
    await setMachineHealth(world, 'cp1', 'True');
    await setMachineHealth(world, 'cp2', 'True');
    await world.pass(120_000);
    expect(await leadsTo('cp1')).toBe(true);
    const [writes, requests] = [world.writes(), world.requests.length];
    await world.pass(1_800_000);
    expect(world.writes()).toBe(writes);
    expect(world.requests.slice(requests).filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(world.requests.length - requests).toBeLessThanOrEqual(70);
    await deleteMachine(world, 'cp1');
    expect(await leadsTo('cp2')).toBe(true);
    await deleteMachine(world, 'cp2');
    expect(await leftBehind(world)).toEqual([]);
    expect(await holder()).toBeUndefined();
  });

  it('moves to the replacement of the only machine once that answers', async () => {
    await openCluster();
    await controlPlane('cp1');
    await world.until(() => leadsTo('cp1'));
    await setMachineHealth(world, 'cp1', 'True');
    await controlPlane('cp2');
    await world.until(() => machineIsReady(world, 'cp2'));
    const { client, namespace } = world;
    const finalizers = ['test/hook'];
    await client.patch(Machines, { namespace, name: 'cp1' }, 'merge', { metadata: { finalizers } }, by);
    await client.delete(Machines, { namespace, name: 'cp1' });
    await world.pass(30_000);
    expect(await leadsTo('cp1')).toBe(true);
    await setMachineHealth(world, 'cp2', 'True');
    await world.until(() => leadsTo('cp2'));
    await deleteMachine(world, 'cp1');
    expect(await leadsTo('cp2')).toBe(true);
  });

  it('is listed before the machine name, also once Nova shows it', async () => {
    await openCluster();
    await controlPlane('cp1');
    const types = async (): Promise<string[]> =>
      ((await world.get(OpenStackMachines, 'cp1')).status?.addresses ?? []).map(({ type }) => type);
    await world.until(async () => (await types()).includes('ExternalIP'));
    expect(await types()).toEqual(['InternalIP', 'ExternalIP', 'InternalDNS']);
  });

  it('leaves a machine whose API does not answer for a while, and a stopped one', async () => {
    await openCluster();
    for (const name of ['cp1', 'cp2', 'cp3']) await controlPlane(name);
    await world.until(async () => (await holder()) !== undefined);
    for (const name of ['cp1', 'cp2', 'cp3']) {
      await world.until(() => machineIsReady(world, name));
      await setMachineHealth(world, name, 'True');
    }
    const holding = async (): Promise<string> => {
      for (const name of ['cp1', 'cp2', 'cp3']) if (await leadsTo(name)) return name;
      return 'nobody';
    };
    const first = await holding();
    await setMachineHealth(world, first, 'False');
    await world.pass(30_000);
    expect(await holding()).toBe(first);
    await world.until(async () => (await holding()) !== first);
    const second = await holding();
    const external = async (name: string): Promise<string[]> =>
      ((await world.get(OpenStackMachines, name)).status?.addresses ?? [])
        .filter(({ type }) => type === 'ExternalIP')
        .map(({ address }) => address);
    await world.until(async () => (await external(second)).includes(floating.address));
    await world.until(async () => !(await external(first)).includes(floating.address));
    const server = (await world.get(OpenStackServers, second)).status!.instanceID!;
    for (const name of ['cp1', 'cp2', 'cp3']) if (name !== first) await setMachineHealth(world, name, 'Unknown');
    world.cloud.operator.stopServer(server);
    await world.until(async () => ![first, second].includes(await holding()));
  });

  it('is reported when deleted, and attached again once it was created again', async () => {
    await openCluster();
    await controlPlane('cp1');
    await world.until(() => leadsTo('cp1'));
    await world.until(async () => (await ingress('cp1')).startsWith('True'));
    const { address, networkId, projectId } = floating;
    await world.tenant.network.floatingIps.delete(floating.id);
    await world.until(async () => (await ingress('cp1')).startsWith('False'));
    expect(await ingress('cp1')).toContain(`Floating IP ${address} of the API does not exist in this project any more`);
    await world.pass(600_000);
    floating = await world.admin.network.floatingIps.create({ networkId, address, projectId });
    await world.until(() => leadsTo('cp1'));
    await world.until(async () => (await ingress('cp1')).startsWith('True'));
  });

  it('is attached again when detached, and left on a foreign port', async () => {
    await openCluster();
    await controlPlane('cp1');
    await world.until(() => leadsTo('cp1'));
    world.cloud.operator.moveFloatingIp(floating.id, null);
    await world.until(() => leadsTo('cp1'));
    const network = await world.tenant.network.networks.find(usualNetwork);
    const foreign = await world.tenant.network.ports.create({ networkId: network!.id, name: 'foreign' });
    world.cloud.operator.moveFloatingIp(floating.id, foreign.id);
    await world.until(async () => (await ingress('cp1')).startsWith('False FloatingIPError'));
    expect(await ingress('cp1')).toContain(foreign.id);
    expect(await holder()).toBe(foreign.id);
    world.cloud.operator.moveFloatingIp(floating.id, null);
    await world.until(() => leadsTo('cp1'));
  });

  it('is ignored when the API is reached in another way', async () => {
    await openWorld();
    await createOpenStackCluster(world, 'c1', {
      apiServer: { enableFloatingIP: false, fixedIP: '10.6.0.5' },
      controlPlaneEndpoint: { host: '10.6.0.5', port: 6443 },
    });
    await setClusterStatus(world, 'c1', await usualClusterStatus(world));
    await controlPlane('cp1');
    await world.until(() => machineIsReady(world, 'cp1'));
    expect(await ingress('cp1')).toBe('');
    expect(world.requests.filter(({ path }) => path.includes('floatingips'))).toEqual([]);
  });
});

describe('the load balancer of an API', () => {
  let balancer: ApiLoadBalancer;

  const openCluster = async (): Promise<void> => {
    await openWorld();
    balancer = await createBalancedCluster(world, 'c1', [6443, 8132]);
  };
  const members = (port: number): Promise<Member[]> => balancer.members(port);

  it('has every machine as a member of all pools, and removes it before its server', async () => {
    await openCluster();
    for (const name of ['cp1', 'cp2']) await controlPlane(name);
    await world.until(
      async () => (await ingress('cp1')).startsWith('True') && (await ingress('cp2')).startsWith('True'),
    );
    for (const port of [6443, 8132]) {
      const list = await members(port);
      expect(list.map(({ name }) => name).toSorted()).toEqual(
        ['cp1', 'cp2'].map((name) => `k8s-clusterapi-cluster-${world.namespace}-c1-kubeapi-${port}-${name}`),
      );
      const addresses = await Promise.all(
        ['cp1', 'cp2'].map(async (name) => (await world.get(OpenStackMachines, name)).status!.addresses![0]!.address),
      );
      expect(list.map(({ address }) => address).toSorted()).toEqual(addresses.toSorted());
      expect(list.every(({ protocolPort }) => protocolPort === port)).toBe(true);
    }
    await joinNodes(world, ['cp1', 'cp2']);
    await world.pass(120_000);
    const [writes, requests] = [world.writes(), world.requests.length];
    await world.pass(1_800_000);
    expect(world.writes()).toBe(writes);
    const since = world.requests.slice(requests);
    expect(since.filter(({ path }) => !/servers\/detail|lbaas\/loadbalancers\?/.test(path))).toEqual([]);

    const left: string[] = [];
    world.setFate(({ method, path }) => {
      if (method === 'DELETE')
        left.push(path.includes('/members/') ? 'member' : path.includes('/servers/') ? 'server' : 'port');
      return 'pass';
    });
    await deleteMachine(world, 'cp1');
    expect(left).toEqual(['member', 'member', 'server', 'port']);
    expect(await members(6443)).toHaveLength(1);
    expect(await members(8132)).toHaveLength(1);
  });

  it('gets a member back that somebody removed', async () => {
    await openCluster();
    await controlPlane('cp1');
    await world.until(async () => (await ingress('cp1')).startsWith('True'));
    const [member] = await members(6443);
    await world.pass(120_000);
    await world.tenant.loadBalancer.members(balancer.poolId(6443)).delete(member!.id);
    await world.until(async () => (await members(6443)).length === 0);
    await world.until(async () => (await members(6443)).length === 1);
    await world.until(async () => (await ingress('cp1')).startsWith('True'));
  });

  it('does not block deletion of a machine when it is broken or being deleted', async () => {
    await openCluster();
    for (const name of ['cp1', 'cp2']) await controlPlane(name);
    await world.until(
      async () => (await ingress('cp1')).startsWith('True') && (await ingress('cp2')).startsWith('True'),
    );
    world.cloud.operator.breakLoadBalancer(balancer.id);
    await deleteMachine(world, 'cp1');
    const { client, namespace } = world;
    await client.patch(Clusters, { namespace, name: 'c1' }, 'merge', { metadata: { finalizers: ['test/hook'] } }, by);
    await client.delete(Clusters, { namespace, name: 'c1' });
    await deleteMachine(world, 'cp2');
    expect((await leftBehind(world)).filter((what) => what.startsWith('server'))).toEqual([]);
    expect(await world.find(OpenStackClusters, 'c1')).toBeDefined();
  });
});
