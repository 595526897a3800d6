import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Clusters, ConfigMaps, Deployments, LatticeClusters, Namespaces, Secrets } from '../../../api/index.ts';
import { getCondition, ManualClock, seededRandom } from '../../../machinery/index.ts';
import { type MemoryClient, memoryClient } from '../../../runtime/testkit/index.ts';
import { pausedAnnotation } from '../../shared/index.ts';
import { bringUp } from '../testing/bring-up.ts';
import { by, createLatticeWorld, type LatticeWorld } from '../testing/world.ts';

const deployment = { namespace: 'capstan-system', name: 'capstan-controllers' };
const inside = { namespace: 'capi-one', name: 'one' };

describe('a LatticeCluster with endpoints', () => {
  let world: LatticeWorld;
  let child: MemoryClient;
  let isDead: boolean;
  let installs: string[];

  beforeEach(async () => {
    child = memoryClient({ clock: new ManualClock(0), random: seededRandom(5) });
    child.seed(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system' } });
    isDead = false;
    installs = [];
    const way = new Proxy(child, {
      get(over, name, receiver) {
        if (isDead) throw new Error('connect ECONNREFUSED 203.0.113.7:6443');
        return Reflect.get(over, name, receiver);
      },
    });
    world = await createLatticeWorld({
      self: {
        connect: async () => ({
          client: way,
          probe: async () => {},
          close: () => {},
          portForward: () => Promise.reject(new Error('nobody forwards here')),
        }),
        installer: {
          deployment,
          objects: async () => [],
          install: async (_, { image = 'usual' }) => {
            installs.push(image);
            child.seed(Deployments, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: deployment } as never);
          },
        },
      },
    });
    const kubeSystem = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system' } };
    await world.client.create(Namespaces, kubeSystem, by).catch(() => {});
    await world.create('one', (spec) => {
      spec.endpoints = {};
    });
    await world.until(async () => (await world.find(Clusters, inside)) !== undefined);
    const metadata = { namespace: 'capi-one', name: 'one-kubeconfig' };
    await world.client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data: { value: 'eA==' } }, by);
    await world.until(async () => (await world.cluster('one')).status?.phase === 'Provisioning');
    await bringUp(world, 'one');
  });
  afterEach(() => world.stop());

  const saying = async (): Promise<{ status: string; message: string } | undefined> =>
    getCondition((await world.cluster('one')).status?.conditions, 'SelfManaged');
  const untilSaid = (text: string): Promise<void> =>
    world.until(async () => (await saying())?.message.includes(text) === true);
  const stage = async (): Promise<string | undefined> =>
    (await world.cluster('one')).metadata.annotations?.['lattice.dev/management'];
  const controllersStart = async (): Promise<void> => {
    await world.until(() => installs.length > 0);
    await child.patch(
      Deployments,
      deployment,
      'merge',
      { status: { availableReplicas: 1 } },
      {
        ...by,
        subresource: 'status',
      },
    );
  };
  /** Simulates the controllers in the cluster: sets Paused. */
  const childSees = async (): Promise<void> => {
    const [found] = (await child.list(LatticeClusters)).items;
    if (!found) return;
    const isResting = found.metadata.annotations?.[pausedAnnotation] !== undefined;
    const conditions = [{ type: 'Paused', status: isResting ? 'True' : 'False' }];
    const status = { phase: 'Ready', readyWorkers: 7, conditions };
    await child.patch(LatticeClusters, { name: 'one' }, 'merge', { status }, { ...by, subresource: 'status' });
  };
  const untilStage = (wanted: string): Promise<void> =>
    world.until(async () => {
      await childSees();
      return (await stage()) === wanted;
    });
  const gone = async (): Promise<boolean> => (await world.find(LatticeClusters, { name: 'one' })) === undefined;
  const remove = (): Promise<unknown> => world.client.delete(LatticeClusters, { name: 'one' });
  /** Simulates the deletion of a Cluster. */
  const untilGone = (): Promise<void> =>
    world.until(async () => {
      if (!isDead) await childSees();
      const live = await world.find(Clusters, inside);
      if (live?.metadata.deletionTimestamp !== undefined && (live.metadata.finalizers ?? []).length > 0) {
        await world.client.patch(Clusters, inside, 'merge', { metadata: { finalizers: [] } }, by);
      }
      return await gone();
    });

  it('stays with its parent and Ready while the controllers in it do not run', async () => {
    await untilSaid('has no available replica');
    expect((await world.cluster('one')).status).toMatchObject({ phase: 'Ready', bootstrapComplete: true });
    await world.pass(60_000);
    expect(installs).toEqual(['usual']);
    expect(await world.find(Clusters, inside)).toBeDefined();
  });

  it('installs the image of the annotation', async () => {
    await untilSaid('has no available replica');
    const metadata = { annotations: { 'lattice.dev/image': 'registry.test/capstan:9' } };
    await world.client.patch(LatticeClusters, { name: 'one' }, 'merge', { metadata }, by);
    await world.until(() => installs.includes('registry.test/capstan:9'));
  });

  it('takes over, shows its own status in the parent, and then writes nothing more', async () => {
    await controllersStart();
    await untilStage('self');
    expect(await world.find(Clusters, inside)).toBeUndefined();
    expect((await world.cluster('one')).status).toMatchObject({ phase: 'Ready', pivotComplete: true, readyWorkers: 7 });
    expect(await saying()).toMatchObject({ status: 'True' });
    await world.pass(60_000);
    const writes = world.writes();
    await world.pass(3_600_000);
    expect(world.writes()).toBe(writes);
  });

  it('is not created again by its parent when somebody edits it there', async () => {
    await controllersStart();
    await untilStage('self');
    const spec = { nodes: { workerPools: { default: { replicas: 9 } } } };
    await world.client.patch(LatticeClusters, { name: 'one' }, 'merge', { spec }, by);
    await world.pass(120_000);
    expect(await world.find(Clusters, inside)).toBeUndefined();
  });

  it('is Unknown while it does not answer, and Ready again afterwards', async () => {
    await controllersStart();
    await untilStage('self');
    const ready = async (): Promise<string | undefined> =>
      getCondition((await world.cluster('one')).status?.conditions, 'Ready')?.status;
    isDead = true;
    await world.until(async () => (await ready()) === 'Unknown');
    expect((await world.cluster('one')).status?.message).toContain('ECONNREFUSED');
    isDead = false;
    await world.until(async () => (await ready()) !== 'Unknown');
  });

  it('limits the size of the status copied to its parent', async () => {
    await controllersStart();
    await untilStage('self');
    const status = { message: 'x'.repeat(100_000) };
    await child.patch(LatticeClusters, { name: 'one' }, 'merge', { status }, { ...by, subresource: 'status' });
    await world.until(async () => (await world.cluster('one')).status?.message?.includes('has a status of') === true);
  });

  it('is deleted by its parent when deletion is requested before the handover', async () => {
    await controllersStart();
    // nothing sets Paused there, so nothing is handed over
    await world.until(
      async () => (await stage()) === 'pivoting' && (await child.list(LatticeClusters)).items.length > 0,
    );
    await remove();
    await world.until(
      async () => (await world.find(Clusters, inside))?.metadata.deletionTimestamp !== undefined || (await gone()),
    );
    expect((await child.list(Clusters, { namespace: 'capi-one' })).items).toEqual([]);
    await untilGone();
  });

  it('returns to its parent and is deleted when it is deleted in the cluster', async () => {
    await controllersStart();
    await untilStage('self');
    await child.delete(LatticeClusters, { name: 'one' });
    await untilGone();
    expect((await child.list(Clusters, { namespace: 'capi-one' })).items).toEqual([]);
    expect(await world.find(Secrets, { namespace: 'lattice-system', name: 'one-kubeconfig' })).toBeUndefined();
  });

  it('that is lost is deleted once an annotation confirms the loss', async () => {
    await controllersStart();
    await untilStage('self');
    isDead = true;
    await remove();
    await untilSaid('lattice.dev/lost');
    await world.pass(600_000);
    expect(await gone()).toBe(false);
    const metadata = { annotations: { 'lattice.dev/lost': '' } };
    await world.client.patch(LatticeClusters, { name: 'one' }, 'merge', { metadata }, by);
    await untilGone();
  });

  it('that is lost in the middle of a pivot stays with its parent and can be deleted', async () => {
    await controllersStart();
    const block = { annotations: { 'clusterctl.cluster.x-k8s.io/block-move': '' } };
    await world.client.patch(Clusters, inside, 'merge', { metadata: block }, by);
    await world.until(async () => {
      await childSees();
      return (await world.find(ConfigMaps, { namespace: 'capi-one', name: 'capstan-move' })) !== undefined;
    });
    isDead = true;
    await remove();
    const metadata = { annotations: { 'lattice.dev/lost': '' } };
    await world.client.patch(LatticeClusters, { name: 'one' }, 'merge', { metadata }, by);
    await untilGone();
  });
});
