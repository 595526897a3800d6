import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OpenStackClusterSpec, OpenStackClusters, OpenStackServers } from '../../../api/index.ts';
import { openStackClusterController } from '../cluster/cluster-controller.ts';
import { openStackServerController } from '../server/server-controller.ts';
import { footprint } from '../testing/footprint.ts';
import { createMachine, deleteMachine, joinNodes, machineCondition, machineIsReady } from '../testing/machines.ts';
import { lookAsMadeByUpstream } from '../testing/made-by-upstream.ts';
import { createInfrastructureWorld, createOpenStackCluster, type InfrastructureWorld } from '../testing/world.ts';
import { openStackMachineController } from './machine-controller.ts';

let world: InfrastructureWorld;
let before: string[];

beforeEach(async () => {
  world = await createInfrastructureWorld({
    controllers: (dependencies) => [
      openStackClusterController(dependencies),
      openStackServerController(dependencies),
      openStackMachineController(dependencies),
    ],
  });
  before = await footprint(world.tenant);
});
afterEach(() => world.stop());

const managed: Partial<OpenStackClusterSpec> = {
  managedSubnets: [{ cidr: '10.8.0.0/24' }],
  managedSecurityGroups: {},
};
const balanced: Partial<OpenStackClusterSpec> = { ...managed, apiServer: { managedLoadBalancer: {} } };
const withVolume = { rootVolume: { sizeGiB: 20 } };

const isServed = async (): Promise<boolean> =>
  (await machineCondition(world, 'cp', 'APIServerIngressReady')).startsWith('True');
const isProvisioned = async (): Promise<boolean> =>
  (await world.get(OpenStackClusters, 'c1')).status?.initialization?.provisioned === true;
const standing = async (): Promise<boolean> =>
  (await isProvisioned()) && (await isServed()) && (await machineIsReady(world, 'w'));

async function build(spec: Partial<OpenStackClusterSpec>): Promise<void> {
  await createOpenStackCluster(world, 'c1', spec);
  await createMachine(world, 'cp', { controlPlane: true });
  await createMachine(world, 'w', { spec: withVolume });
  await world.until(standing);
  await joinNodes(world, ['cp', 'w']);
  await world.pass(60_000);
  await world.halt();
}

/** Requests that modify the cloud. */
const changesSince = (start: number): string[] =>
  world.requests
    .slice(start)
    .filter(({ method, path }) => method !== 'GET' && !path.includes('tokens'))
    .map(({ method, path }) => `${method} ${path}`);

async function removeAll(): Promise<void> {
  for (const name of ['w', 'cp']) await deleteMachine(world, name);
  await world.client.delete(OpenStackClusters, { namespace: world.namespace, name: 'c1' });
  await world.until(async () => (await world.find(OpenStackClusters, 'c1')) === undefined);
}

describe('a cluster created by upstream', () => {
  it.each<[string, Partial<OpenStackClusterSpec>]>([
    ['a floating IP', managed],
    ['a load balancer', balanced],
  ])('behind %s is adopted without a change, and deleted without a trace', { timeout: 120_000 }, async (_, spec) => {
    await build(spec);
    await lookAsMadeByUpstream(world);
    const start = world.requests.length;
    await world.restart();
    await world.pass(600_000);
    expect(changesSince(start)).toEqual([]);
    expect(await standing()).toBe(true);
    await removeAll();
    expect(await footprint(world.tenant)).toEqual(before);
  });

  it.each<[string, Partial<OpenStackClusterSpec>]>([
    ['a floating IP', managed],
    ['a load balancer', balanced],
  ])('behind %s is found by upstream’s names after a move without status', { timeout: 120_000 }, async (_, spec) => {
    await build(spec);
    const there = await footprint(world.tenant);
    await lookAsMadeByUpstream(world, { withoutStatus: true });
    const unmarked = await footprint(world.tenant);
    await world.restart();
    await world.until(standing);
    expect(unmarked.length).toBe(there.length);
    expect(await footprint(world.tenant)).toEqual(unmarked);
    await removeAll();
    expect(await footprint(world.tenant)).toEqual(before);
  });

  it('is deleted completely when its deletion was already under way', { timeout: 120_000 }, async () => {
    await build(managed);
    await lookAsMadeByUpstream(world);
    await world.client.delete(OpenStackClusters, { namespace: world.namespace, name: 'c1' });
    await world.restart();
    for (const name of ['w', 'cp']) await deleteMachine(world, name);
    await world.until(async () => (await world.find(OpenStackClusters, 'c1')) === undefined);
    expect(await footprint(world.tenant)).toEqual(before);
  });

  it('keeps the floating IP that the user brought', { timeout: 120_000 }, async () => {
    const external = (await world.tenant.network.networks.find('public'))!;
    const { address } = await world.tenant.network.floatingIps.create({ networkId: external.id, description: 'mine' });
    before = await footprint(world.tenant);
    await build({ ...managed, apiServer: { floatingIP: address } });
    await lookAsMadeByUpstream(world);
    await world.restart();
    await removeAll();
    expect(await footprint(world.tenant)).toEqual(before);
  });

  it('gets the annotation begun-by with the name of upstream', { timeout: 120_000 }, async () => {
    await build(managed);
    await lookAsMadeByUpstream(world);
    await world.restart();
    const begunBy = async (): Promise<(string | undefined)[]> =>
      [await world.get(OpenStackClusters, 'c1'), await world.get(OpenStackServers, 'cp')].map(
        ({ metadata }) => metadata.annotations?.['infrastructure.cluster.x-k8s.io/begun-by'],
      );
    await world.until(async () => (await begunBy()).every((provider) => provider === 'cluster-api-provider-openstack'));
  });
});
