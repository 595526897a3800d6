import { afterEach, describe, expect, it } from 'vitest';
import { OpenStackMachines, OpenStackServers } from '../../../api/index.ts';
import { collect } from '../../../openstack/index.ts';
import { openStackServerController } from '../server/server-controller.ts';
import { createBalancedCluster } from '../testing/load-balancers.ts';
import { createMachine, machineCondition, setClusterStatus, usualClusterStatus } from '../testing/machines.ts';
import { leftBehind } from '../testing/servers.ts';
import {
  createInfrastructureWorld,
  createOpenStackCluster,
  type Fate,
  type InfrastructureWorld,
} from '../testing/world.ts';
import { openStackMachineController } from './machine-controller.ts';

let world: InfrastructureWorld;

afterEach(async () => {
  await world.stop();
});

const openWorld = async (): Promise<void> => {
  world = await createInfrastructureWorld({
    controllers: (dependencies) => [openStackServerController(dependencies), openStackMachineController(dependencies)],
  });
};
const isServed = async (name: string): Promise<boolean> =>
  (await machineCondition(world, name, 'APIServerIngressReady')).startsWith('True');

/** Token requests and shared lists. */
const isRoutine = /auth\/tokens|servers\/detail\?(sort|changes)|loadbalancers\?project_id|floatingips\?project_id/;

type CloudFault = Exclude<Fate, 'pass'>;

/** Injects a fault at each request in the life of a control plane machine in turn; returns the number of requests. */
async function liveThrough(
  fate: CloudFault,
  crashes: boolean,
  check: (name: string) => Promise<void>,
): Promise<number> {
  for (let n = 1; ; n++) {
    const name = `cp${n}`;
    let seen = 0;
    world.setFate(({ path }) => (isRoutine.test(path) || ++seen !== n ? 'pass' : fate));
    const struck = (): boolean => seen >= n;
    await createMachine(world, name, { controlPlane: true });
    await world.until(async () => (crashes && struck()) || (await isServed(name)));
    if (crashes) await world.restart();
    await world.until(() => isServed(name));
    await check(name);
    const wasStruck = struck();
    const { client, namespace } = world;
    await client.delete(OpenStackMachines, { namespace, name });
    const isGone = async (): Promise<boolean> => (await world.find(OpenStackMachines, name)) === undefined;
    await world.until(async () => (crashes && !wasStruck && struck()) || (await isGone()));
    if (crashes && !wasStruck && struck()) await world.restart();
    await world.until(isGone);
    world.setFate(undefined);
    expect((await leftBehind(world)).filter((what) => what.includes(name))).toEqual([]);
    if (!struck()) return n - 1;
  }
}

describe.each<[string, CloudFault, boolean]>([
  ['fails', 'fail', false],
  ['is carried out though its answer is lost, and the program crashes', 'lose', true],
])('when a cloud request %s', (_, fate, crashes) => {
  it('a machine is in each pool once, and in none when it is deleted', { timeout: 120_000 }, async () => {
    await openWorld();
    const balancer = await createBalancedCluster(world, 'c1', [6443, 8132]);
    const names = async (): Promise<string[]> =>
      [...(await balancer.members(6443)), ...(await balancer.members(8132))].map(({ name }) => name);
    const requests = await liveThrough(fate, crashes, async (name) => {
      const mine = (await names()).filter((member) => member.endsWith(`-${name}`));
      expect(mine).toHaveLength(2);
    });
    expect(await names()).toEqual([]);
    expect(requests).toBeGreaterThanOrEqual(12);
  });

  it('the floating IP is attached to a machine, and survives it', { timeout: 120_000 }, async () => {
    await openWorld();
    const { network } = world.tenant;
    const [external] = await collect(network.networks.list({ external: true }));
    const floating = await network.floatingIps.create({ networkId: external!.id });
    await createOpenStackCluster(world, 'c1', { controlPlaneEndpoint: { host: floating.address, port: 6443 } });
    await setClusterStatus(world, 'c1', await usualClusterStatus(world));
    const requests = await liveThrough(fate, crashes, async (name) => {
      const port = (await world.get(OpenStackServers, name)).status?.resources?.ports?.[0]?.id;
      expect((await network.floatingIps.get(floating.id)).portId).toBe(port);
    });
    expect(requests).toBeGreaterThanOrEqual(5);
    expect(await collect(network.floatingIps.list())).toMatchObject([{ id: floating.id, portId: undefined }]);
  });
});
