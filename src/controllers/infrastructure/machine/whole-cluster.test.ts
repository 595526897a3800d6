import { afterEach, describe, expect, it } from 'vitest';
import { type OpenStackClusterSpec, OpenStackClusters, OpenStackServers } from '../../../api/index.ts';
import { collect } from '../../../openstack/index.ts';
import { openStackClusterController } from '../cluster/cluster-controller.ts';
import { openStackServerController } from '../server/server-controller.ts';
import { createMachine, deleteMachine, joinNodes, machineCondition, machineIsReady } from '../testing/machines.ts';
import { leftBehind } from '../testing/servers.ts';
import { createInfrastructureWorld, createOpenStackCluster, type InfrastructureWorld } from '../testing/world.ts';
import { openStackMachineController } from './machine-controller.ts';

let world: InfrastructureWorld;

afterEach(async () => {
  await world.stop();
});

const openWorld = async (): Promise<void> => {
  world = await createInfrastructureWorld({
    controllers: (dependencies) => [
      openStackClusterController(dependencies),
      openStackServerController(dependencies),
      openStackMachineController(dependencies),
    ],
  });
};
const isServed = async (name: string): Promise<boolean> =>
  (await machineCondition(world, name, 'APIServerIngressReady')).startsWith('True');
const managed: Partial<OpenStackClusterSpec> = {
  managedSubnets: [{ cidr: '10.8.0.0/24' }],
  managedSecurityGroups: {},
};
const isProvisioned = async (): Promise<boolean> =>
  (await world.get(OpenStackClusters, 'c1')).status?.initialization?.provisioned === true;

describe('a cluster of OpenStackMachines', () => {
  it.each<[string, Partial<OpenStackClusterSpec>]>([
    ['a floating IP', managed],
    ['a load balancer', { ...managed, apiServer: { managedLoadBalancer: {} } }],
  ])('behind %s becomes ready, is quiet, and is deleted without a trace', { timeout: 120_000 }, async (_, spec) => {
    await openWorld();
    const { tenant } = world;
    const before = await leftBehind(world);
    await createOpenStackCluster(world, 'c1', spec);
    const controlPlanes = ['cp1', 'cp2', 'cp3'];
    for (const name of controlPlanes) await createMachine(world, name, { controlPlane: true });
    await world.until(
      async () => (await isProvisioned()) && (await Promise.all(controlPlanes.map(isServed))).every(Boolean),
    );
    const { status } = await world.get(OpenStackClusters, 'c1');
    const [port] = (await world.get(OpenStackServers, 'cp1')).status!.resources!.ports!;
    const { securityGroupIds } = await tenant.network.ports.get(port!.id);
    expect(securityGroupIds).toEqual([status!.controlPlaneSecurityGroup!.id]);

    const workers = Array.from({ length: 10 }, (__, index) => `w${index}`);
    const requests = world.requests.length;
    for (const name of workers) await createMachine(world, name);
    await world.until(async () =>
      (await Promise.all(workers.map((name) => machineIsReady(world, name)))).every(Boolean),
    );
    expect((world.requests.length - requests) / workers.length).toBeLessThanOrEqual(12);

    await joinNodes(world, [...controlPlanes, ...workers]);
    await world.pass(180_000);
    const [writes, asked] = [world.writes(), world.requests.length];
    await world.pass(3_600_000);
    expect(world.writes()).toBe(writes);
    const changes = world.requests
      .slice(asked)
      .filter(({ method, path }) => method !== 'GET' && !path.includes('tokens'));
    expect(changes).toEqual([]);

    for (const name of [...workers, ...controlPlanes]) await deleteMachine(world, name);
    await world.client.delete(OpenStackClusters, { namespace: world.namespace, name: 'c1' });
    await world.until(async () => (await world.find(OpenStackClusters, 'c1')) === undefined);
    expect(await leftBehind(world)).toEqual(before);
    expect(await collect(tenant.network.floatingIps.list())).toEqual([]);
    expect(await collect(tenant.loadBalancer.loadBalancers.list())).toEqual([]);
  });
});
