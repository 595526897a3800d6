import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Nodes, type Pod, Pods } from '../../../api/index.ts';
import { type WorkloadWorld, workloadWorld } from '../testing/workload-world.ts';

let world: WorkloadWorld;
beforeEach(async () => {
  world = await workloadWorld({ parts: ['podGarbage'] });
});
afterEach(() => world.stop());

const create = (spec: Partial<Pod['spec']> = {}): Promise<Pod> =>
  world.create(Pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i' }], nodeName: 'node-1', ...spec },
  });
const isGone = async (): Promise<boolean> => (await world.pods()).length === 0;
const taint = (effect: string): Promise<unknown> =>
  world.patch(Nodes, 'node-1', { spec: { taints: [{ key: 'broken', effect, timeAdded: '2026-01-01T00:00:00Z' }] } });

describe('a Pod', () => {
  it('is deleted some time after its node is gone, even if no kubelet says that it has ended', async () => {
    world.mayEnd = () => false;
    await create();
    await world.client.delete(Nodes, { name: 'node-1' });
    await world.clock.advance(30_000);
    expect(await isGone()).toBe(false);
    await world.until(isGone);
  });

  it.each([
    ['at once without a toleration', [], 0],
    [
      'after the time it tolerates',
      [{ key: 'broken', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 120 }],
      120_000,
    ],
  ])('leaves a node that evicts Pods: %s', async (_, tolerations, afterMs) => {
    await create({ tolerations });
    const began = Date.UTC(2026, 0, 1);
    await taint('NoExecute');
    await world.until(isGone);
    expect(world.clock.now() - began).toBeGreaterThanOrEqual(afterMs);
    expect(await world.reasons('p')).toContain('TaintManagerEviction');
  });

  it.each([
    [
      'its node is gone',
      () => world.client.delete(Nodes, { name: 'node-1' }),
      { reason: 'DeletionByPodGC', message: 'PodGC: node no longer exists' },
      'Failed',
    ],
    [
      'its node sends it away',
      () => taint('NoExecute'),
      { reason: 'DeletionByTaintManager', message: 'Taint manager: deleting due to NoExecute taint' },
      'Running',
    ],
  ])('reports that it was disrupted when %s', async (_, disrupt, condition, phase) => {
    world.mayEnd = () => false;
    await create({ tolerations: [] });
    await world.until(async () => (await world.get(Pods, 'p')).status?.phase === 'Running');
    await world.patch(Pods, 'p', { metadata: { finalizers: ['example.com/hold'] } });
    await disrupt();
    await world.until(async () => (await world.get(Pods, 'p')).metadata.deletionTimestamp !== undefined);
    const { status } = await world.get(Pods, 'p');
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'DisruptionTarget', status: 'True', ...condition }),
    );
    expect(status?.phase).toBe(phase);
  });

  it.each([
    ['the node only takes no new ones', 'NoSchedule', []],
    ['it tolerates that for ever', 'NoExecute', [{ operator: 'Exists' }]],
  ])('stays when %s', async (_, effect, tolerations) => {
    await create({ tolerations });
    await taint(effect);
    await world.clock.advance(600_000);
    expect(await isGone()).toBe(false);
  });
});
