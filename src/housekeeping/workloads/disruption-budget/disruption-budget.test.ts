import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Deployments, type PodDisruptionBudget, PodDisruptionBudgets, Pods } from '../../../api/index.ts';
import { isTooManyRequests } from '../../../machinery/index.ts';
import { template, type WorkloadWorld, workloadWorld } from '../testing/workload-world.ts';

let world: WorkloadWorld;
beforeEach(async () => {
  world = await workloadWorld({ parts: ['deployments', 'disruptionBudgets'] });
});
afterEach(() => world.stop());

const labels = { app: 'web' };

async function begin(spec: PodDisruptionBudget['spec'], replicas = 4): Promise<void> {
  await world.create(Deployments, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: { replicas, selector: { matchLabels: labels }, template: template(labels) },
  });
  await world.create(PodDisruptionBudgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web' },
    spec: { selector: { matchLabels: labels }, ...spec },
  });
  await world.until(async () => (await status()).currentHealthy === replicas);
}

const status = async (): Promise<NonNullable<PodDisruptionBudget['status']>> =>
  (await world.get(PodDisruptionBudgets, 'web')).status ?? {};

const evict = (name: string): Promise<unknown> =>
  world.client.createSubresource(
    Pods,
    { namespace: world.namespace, name },
    'eviction',
    { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: world.namespace } },
    { fieldManager: 'test' },
  );

describe('a PodDisruptionBudget', () => {
  it.each([
    ['maxUnavailable: 1', { maxUnavailable: 1 }, { desiredHealthy: 3, disruptionsAllowed: 1, expectedPods: 4 }],
    ['maxUnavailable: 50%', { maxUnavailable: '50%' }, { desiredHealthy: 2, disruptionsAllowed: 2, expectedPods: 4 }],
    ['minAvailable: 3', { minAvailable: 3 }, { desiredHealthy: 3, disruptionsAllowed: 1, expectedPods: 4 }],
    ['minAvailable: 60%', { minAvailable: '60%' }, { desiredHealthy: 3, disruptionsAllowed: 1, expectedPods: 4 }],
    ['minAvailable: 100%', { minAvailable: '100%' }, { desiredHealthy: 4, disruptionsAllowed: 0, expectedPods: 4 }],
  ])('computes its status for %s', async (_, spec, expected) => {
    await begin(spec);
    expect(await status()).toMatchObject({ ...expected, currentHealthy: 4, observedGeneration: 1 });
    const reason = expected.disruptionsAllowed > 0 ? 'SufficientPods' : 'InsufficientPods';
    expect((await status()).conditions).toMatchObject([{ type: 'DisruptionAllowed', reason }]);
    expect(await world.writesAtRest()).toBe(0);
  });

  it('limits evictions and recovers when the Pods are back', async () => {
    await begin({ maxUnavailable: 1 });
    world.fate = ({ metadata }) => (metadata.annotations?.['look'] ? 'ready' : 'running');
    await world.redecide();
    const [first, second] = await world.pods();
    await evict(first!.metadata.name!);
    const refused = await evict(second!.metadata.name!).catch((error: unknown) => error);
    expect(isTooManyRequests(refused)).toBe(true);
    await world.until(async () => (await world.pods()).length === 4);
    await world.clock.advance(1_000);
    expect(await status()).toMatchObject({ disruptionsAllowed: 0, currentHealthy: 3 });
    await world.redecide();
    await world.until(async () => (await status()).disruptionsAllowed === 1);
    await evict(second!.metadata.name!);
  });

  it.each([
    ['AlwaysAllow', { maxUnavailable: 0, unhealthyPodEvictionPolicy: 'AlwaysAllow' }, true],
    ['its default, while others are too few', { maxUnavailable: 0 }, false],
    ['its default, while the others are enough', { minAvailable: 3 }, true],
  ])('decides about evicting an unready Pod with %s: %#', async (_, spec, isAllowed) => {
    await begin(spec);
    const [broken] = await world.pods();
    const name = broken!.metadata.name!;
    world.fate = ({ metadata }) => (metadata.name === name ? 'running' : 'ready');
    await world.redecide();
    await world.until(async () => (await status()).currentHealthy === 3);
    const refused = await evict(name).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(isTooManyRequests(refused)).toBe(!isAllowed);
  });

  it('trusts an eviction that never began for no longer than two minutes', async () => {
    await begin({ maxUnavailable: 2 });
    const [pod] = await world.pods();
    const disruptedPods = { [pod!.metadata.name!]: '2026-01-01T00:00:00Z' };
    await world.patchStatus(PodDisruptionBudgets, 'web', { disruptedPods });
    await world.until(async () => (await status()).currentHealthy === 3);
    await world.until(async () => (await status()).currentHealthy === 4);
    expect((await status()).disruptedPods).toBeUndefined();
    expect(world.clock.now()).toBeGreaterThanOrEqual(Date.UTC(2026, 0, 1, 0, 2));
  });
});
