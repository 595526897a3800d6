import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Deployment, ReplicaSet } from '../../../api/index.ts';
import { rolloutLimits } from './limits.ts';
import { growCurrent, rollingStep } from './rolling-step.ts';

interface Sizes {
  replicas: number;
  available: number;
}

const setOf = (name: string, { replicas, available }: Sizes): ReplicaSet => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name },
  spec: { replicas },
  status: { replicas, availableReplicas: available },
});

const deploymentOf = (replicas: number, maxSurge: number | string, maxUnavailable: number | string): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd' },
  spec: { replicas, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } } },
});

describe('the limits of a rollout', () => {
  it.each([
    ['25%', '25%', 3, { maxSurge: 1, maxUnavailable: 0 }],
    ['25%', '25%', 10, { maxSurge: 3, maxUnavailable: 2 }],
    [0, '1%', 10, { maxSurge: 0, maxUnavailable: 1 }],
    [0, 20, 10, { maxSurge: 0, maxUnavailable: 10 }],
    ['100%', 0, 4, { maxSurge: 4, maxUnavailable: 0 }],
    [1, 1, 0, { maxSurge: 0, maxUnavailable: 0 }],
  ])('with surge %s and unavailable %s of %i', (surge, unavailable, replicas, limits) => {
    expect(rolloutLimits(deploymentOf(replicas, surge, unavailable))).toEqual(limits);
  });
});

describe('a rolling update', () => {
  it('keeps its limits at every step, in whatever order Pods become available, and finishes', () => {
    const amount = fc.oneof(
      fc.nat(5),
      fc.integer({ min: 0, max: 100 }).map((share) => `${share}%`),
    );
    const start = fc.array(fc.nat(6), { minLength: 1, maxLength: 3 });
    const isZero = (value: number | string): boolean => value === 0 || value === '0%';
    fc.assert(
      fc.property(
        fc.nat(10),
        amount,
        amount,
        start,
        fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
        (desired, surge, unavailable, oldSizes, dice) => {
          fc.pre(!(isZero(surge) && isZero(unavailable)));
          const deployment = deploymentOf(desired, surge, unavailable);
          const { maxSurge, maxUnavailable } = rolloutLimits(deployment);
          const old = oldSizes.map((replicas) => ({ replicas, available: replicas }));
          const current: Sizes = { replicas: 0, available: 0 };
          const total = (): number => [current, ...old].reduce((sum, { replicas }) => sum + replicas, 0);
          const available = (): number => [current, ...old].reduce((sum, one) => sum + one.available, 0);
          current.replicas = growCurrent(
            deployment,
            undefined,
            old.map((sizes, index) => setOf(`o${index}`, sizes)),
          );
          const isOver = (): boolean => current.available === desired && total() === desired;
          for (let step = 0; step < 200 && !isOver(); step++) {
            const ceiling = Math.max(total(), desired + maxSurge);
            const floor = Math.min(available(), desired - maxUnavailable);
            const sets = old.map((sizes, index) => setOf(`o${index}`, sizes));
            for (const { set, replicas } of rollingStep(deployment, setOf('c', current), sets)) {
              const target = set.metadata.name === 'c' ? current : old[Number(set.metadata.name!.slice(1))]!;
              // ReplicaSets delete unavailable Pods first.
              target.available = Math.min(target.available, replicas);
              target.replicas = replicas;
            }
            expect(total()).toBeLessThanOrEqual(ceiling);
            expect(available()).toBeGreaterThanOrEqual(floor);
            for (const sizes of [current, ...old]) {
              if (sizes.available < sizes.replicas && dice.next().value! < 0.7) sizes.available++;
            }
          }
          expect(current).toEqual({ replicas: desired, available: desired });
          expect(old.every(({ replicas }) => replicas === 0)).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });
});
