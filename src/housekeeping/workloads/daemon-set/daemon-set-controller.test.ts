import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DaemonSet, type DaemonSetSpec, DaemonSets, Nodes, Pods } from '../../../api/index.ts';
import { template, type WorkloadWorld, workloadWorld } from '../testing/workload-world.ts';

let world: WorkloadWorld;
beforeEach(async () => {
  world = await workloadWorld({ parts: ['daemonSets'] });
});
afterEach(() => world.stop());

const labels = { app: 'agent' };

function daemonSet(spec: Partial<DaemonSetSpec> = {}): DaemonSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'agent' },
    spec: { selector: { matchLabels: labels }, template: template(labels), ...spec },
  };
}

const get = (): Promise<DaemonSet> => world.get(DaemonSets, 'agent');
const nodesWithPod = async (): Promise<string[]> => (await world.pods()).map(({ spec }) => spec.nodeName!).sort();
const images = async (): Promise<string[]> => (await world.pods()).map(({ spec }) => spec.containers[0]!.image!);
const setImage = (image: string): Promise<DaemonSet> =>
  world.patch(DaemonSets, 'agent', { spec: { template: template(labels, image) as never } });

async function isSettled(): Promise<boolean> {
  const { status, metadata } = await get();
  return (
    status?.observedGeneration === metadata.generation &&
    (status?.numberAvailable ?? 0) === status?.desiredNumberScheduled &&
    (status?.updatedNumberScheduled ?? 0) === status?.desiredNumberScheduled &&
    (await world.pods()).length === status?.desiredNumberScheduled
  );
}

describe('a DaemonSet', () => {
  it('runs a Pod on every node that fits and follows nodes and their taints', async () => {
    await world.addNode('node-2');
    await world.addNode('tainted', { taints: [{ key: 'dedicated', effect: 'NoSchedule' }] });
    await world.create(DaemonSets, daemonSet());
    await world.until(isSettled);
    expect(await nodesWithPod()).toEqual(['node-1', 'node-2']);
    const [pod] = await world.pods();
    expect(pod!.metadata.labels).toMatchObject({ 'pod-template-generation': '1' });
    expect(pod!.metadata.labels!['controller-revision-hash']).toMatch(/^[a-z0-9]+$/);
    expect((await get()).status).toMatchObject({ desiredNumberScheduled: 2, numberReady: 2, numberMisscheduled: 0 });
    expect(await world.writesAtRest()).toBe(0);
    await world.addNode('node-3');
    await world.until(async () => (await nodesWithPod()).length === 3);
    await world.patch(Nodes, 'node-2', { spec: { taints: [{ key: 'gone', effect: 'NoExecute' }] } });
    await world.until(async () => (await nodesWithPod()).join() === 'node-1,node-3');
  });

  it('leaves a Pod on a node that only stops taking new ones', async () => {
    await world.create(DaemonSets, daemonSet());
    await world.until(isSettled);
    await world.patch(Nodes, 'node-1', { spec: { taints: [{ key: 'full', effect: 'NoSchedule' }] } });
    await world.until(async () => (await get()).status?.numberMisscheduled === 1);
    expect(await nodesWithPod()).toEqual(['node-1']);
  });

  it('updates within its limit of unavailable nodes', async () => {
    for (const name of ['node-2', 'node-3', 'node-4']) await world.addNode(name);
    await world.create(
      DaemonSets,
      daemonSet({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } } }),
    );
    await world.until(isSettled);
    const counts = await world.watchCounts();
    await setImage('agent:2');
    await world.until(isSettled);
    expect(counts()).toEqual({ most: 4, fewestReady: 2 });
    expect(new Set(await images())).toEqual(new Set(['agent:2']));
  });

  it('makes the new Pod before the old one goes when surge is allowed', async () => {
    await world.addNode('node-2');
    const rollingUpdate = { maxUnavailable: 0, maxSurge: 1 };
    await world.create(DaemonSets, daemonSet({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } }));
    await world.until(isSettled);
    const counts = await world.watchCounts();
    await setImage('agent:2');
    await world.until(isSettled);
    expect(counts()).toEqual({ most: 3, fewestReady: 2 });
    expect(await images()).toEqual(['agent:2', 'agent:2']);
  });

  it('waits for the user to delete Pods when its strategy says so', async () => {
    await world.create(DaemonSets, daemonSet({ updateStrategy: { type: 'OnDelete' } }));
    await world.until(isSettled);
    await setImage('agent:2');
    await world.clock.advance(5_000);
    expect(await images()).toEqual(['app:1']);
    await world.remove(Pods, (await world.pods())[0]!.metadata.name!);
    await world.until(isSettled);
    expect(await images()).toEqual(['agent:2']);
  });

  it('replaces failed Pods with growing pauses', async () => {
    world.fate = () => 'failed';
    await world.create(DaemonSets, daemonSet());
    const seen = new Set<string>();
    const times: number[] = [];
    await world.until(async () => {
      for (const { metadata } of await world.pods()) {
        if (seen.has(metadata.uid!)) continue;
        seen.add(metadata.uid!);
        times.push(world.clock.now());
      }
      return seen.size === 5;
    });
    const pauses = times.slice(1).map((time, index) => time - times[index]!);
    expect(pauses.map((ms) => Math.round(ms / 1_000))).toEqual([1, 2, 4, 8]);
  });
});
