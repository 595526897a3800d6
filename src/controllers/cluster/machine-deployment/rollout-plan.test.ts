import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MachineDeployment } from '../../../api/index.ts';
import { type RolloutLimits, rolloutLimits } from './rollout-limits.ts';
import { planPaused, planRollout, type SetState } from './rollout-plan.ts';

const set = (name: string, spec: number, current = spec, available = current, createdMs = 0): SetState => ({
  name,
  spec,
  current,
  available,
  createdMs,
});
const limits = (replicas: number, maxSurge: number, maxUnavailable: number): RolloutLimits => ({
  replicas,
  maxSurge,
  maxUnavailable,
});

describe('the limits of a rollout', () => {
  const deployment = (replicas: number, maxSurge?: number | string, maxUnavailable?: number | string) =>
    ({
      spec: {
        replicas,
        rollout: {
          strategy: {
            type: 'RollingUpdate',
            rollingUpdate: {
              ...(maxSurge !== undefined && { maxSurge }),
              ...(maxUnavailable !== undefined && { maxUnavailable }),
            },
          },
        },
      },
    }) as MachineDeployment;
  it.each([
    ['defaults', deployment(3), 1, 0],
    ['surge rounds up', deployment(3, '10%', 0), 1, 0],
    ['unavailable rounds down', deployment(3, 0, '50%'), 0, 1],
    ['both nought would never move', deployment(3, 0, '10%'), 0, 1],
    ['no more unavailable than there are', deployment(2, 0, 5), 0, 2],
    ['nothing to be unavailable', deployment(0, 0, 0), 0, 0],
  ])('are computed for: %s', (_, given, maxSurge, maxUnavailable) => {
    expect(rolloutLimits(given)).toMatchObject({ maxSurge, maxUnavailable });
  });
  it('allow no surge and no unavailable machines for OnDelete', () => {
    const given = { spec: { replicas: 3, rollout: { strategy: { type: 'OnDelete' } } } } as MachineDeployment;
    expect(rolloutLimits(given)).toEqual(limits(3, 0, 0));
  });
});

describe('a rolling update', () => {
  const plan = (current: SetState, old: SetState[], bounds: RolloutLimits) =>
    Object.fromEntries(planRollout('RollingUpdate', current, old, bounds));

  it.each<[string, SetState, SetState[], RolloutLimits, Record<string, number>]>([
    ['fills an empty deployment at once', set('new', 0), [], limits(3, 1, 0), { new: 3 }],
    ['begins with the surge', set('new', 0), [set('old', 3)], limits(3, 1, 0), { new: 1 }],
    ['waits for the new machine', set('new', 1, 1, 0), [set('old', 3)], limits(3, 1, 0), {}],
    ['takes one old down when a new one is available', set('new', 1), [set('old', 3)], limits(3, 1, 0), { old: 2 }],
    ['does not surge while an old one is still leaving', set('new', 1), [set('old', 2, 3)], limits(3, 1, 0), {}],
    ['surges again when it has left', set('new', 1), [set('old', 2)], limits(3, 1, 0), { new: 2 }],
    ['begins with the old where no surge is allowed', set('new', 0), [set('old', 3)], limits(3, 0, 1), { old: 2 }],
    ['uses both', set('new', 0), [set('old', 10)], limits(10, 3, 2), { new: 3, old: 8 }],
    [
      'takes ill old machines first',
      set('new', 1),
      [set('a', 2, 2, 2, 1), set('b', 1, 1, 0, 2)],
      limits(3, 1, 0),
      { b: 0 },
    ],
    ['gives up old machines that were never made', set('new', 1), [set('old', 3, 1, 1)], limits(3, 1, 0), { old: 2 }],
    ['scales the current set down with the deployment', set('new', 5), [], limits(2, 1, 0), { new: 2 }],
    ['empties all sets for nought replicas', set('new', 1), [set('old', 2)], limits(0, 1, 0), { new: 0, old: 0 }],
    [
      'removes one ill old machine when nothing else moves',
      set('new', 1),
      [set('old', 3, 3, 1)],
      limits(3, 1, 0),
      { old: 2 },
    ],
  ])('%s', (_, current, old, bounds, expected) => {
    expect(plan(current, old, bounds)).toEqual(expected);
  });

  it('ends, and never exceeds the surge or undercuts the available minimum', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 0, max: 4 }),
        fc.integer({ min: 0, max: 4 }),
        fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 3 }),
        fc.infiniteStream(fc.nat({ max: 5 })),
        (replicas, surge, unavailable, oldSizes, dice) => {
          const bounds = limits(
            replicas,
            surge,
            surge === 0 && unavailable === 0 ? 1 : Math.min(unavailable, replicas),
          );
          const old = oldSizes.map((size, index) => set(`old-${index}`, size, size, size, index));
          const sets = [...old, set('new', 0, 0, 0, 99)];
          const current = sets.at(-1)!;
          const most = Math.max(
            replicas + bounds.maxSurge,
            old.reduce((sum, { current: count }) => sum + count, 0),
          );
          for (let step = 0; step < 400; step++) {
            const done = current.available === replicas && old.every(({ current: count }) => count === 0);
            if (done) return;
            const before = sets.reduce((sum, { available }) => sum + available, 0);
            for (const [name, size] of planRollout('RollingUpdate', current, old, bounds)) {
              sets.find((candidate) => candidate.name === name)!.spec = size;
            }
            // random progress: machines are created, become available, or are deleted, available ones first
            for (const candidate of sets) {
              const move = dice.next().value ?? 0;
              if (candidate.current < candidate.spec && move > 1) candidate.current++;
              else if (candidate.current > candidate.spec && move > 1) {
                candidate.current--;
                candidate.available = Math.max(Math.min(candidate.available - 1, candidate.current), 0);
              } else if (candidate.available < candidate.current && move > 2) candidate.available++;
            }
            const total = sets.reduce((sum, { current: count }) => sum + count, 0);
            const available = sets.reduce((sum, candidate) => sum + candidate.available, 0);
            expect(total).toBeLessThanOrEqual(most);
            expect(available).toBeGreaterThanOrEqual(Math.min(before, replicas - bounds.maxUnavailable));
          }
          expect.fail('the rollout did not end');
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('the OnDelete strategy', () => {
  const plan = (current: SetState, old: SetState[], bounds: RolloutLimits) =>
    Object.fromEntries(planRollout('OnDelete', current, old, bounds));
  it.each<[string, SetState, SetState[], RolloutLimits, Record<string, number>]>([
    ['leaves old machines alone', set('new', 0), [set('old', 3)], limits(3, 0, 0), {}],
    ['follows a deletion', set('new', 0), [set('old', 3, 2)], limits(3, 0, 0), { old: 2 }],
    ['fills the gap with a new one', set('new', 0), [set('old', 2)], limits(3, 0, 0), { new: 1 }],
    ['scales up with new machines', set('new', 0), [set('old', 3)], limits(5, 0, 0), { new: 2 }],
    [
      'scales down old ones, oldest set first',
      set('new', 1),
      [set('b', 2, 2, 2, 2), set('a', 1, 1, 1, 1)],
      limits(2, 0, 0),
      { a: 0, b: 1 },
    ],
  ])('%s', (_, current, old, bounds, expected) => {
    expect(plan(current, old, bounds)).toEqual(expected);
  });
});

describe('a paused machine deployment', () => {
  const plan = (current: SetState | undefined, old: SetState[], bounds: RolloutLimits) =>
    Object.fromEntries(planPaused(current, old, bounds, { rolling: true }));
  it.each<[string, SetState | undefined, SetState[], RolloutLimits, Record<string, number>]>([
    ['scales its only set', set('new', 3), [], limits(5, 1, 0), { new: 5 }],
    [
      'scales the last old set where there is no current one',
      undefined,
      [set('a', 0, 0, 0, 1), set('b', 0, 0, 0, 2)],
      limits(2, 1, 0),
      { b: 2 },
    ],
    ['keeps the shape while growing', set('new', 2), [set('old', 2)], limits(7, 1, 0), { new: 4, old: 4 }],
    ['keeps the shape while shrinking', set('new', 4), [set('old', 4)], limits(3, 1, 0), { new: 2, old: 2 }],
    ['stays as it is otherwise', set('new', 1), [set('old', 3)], limits(3, 1, 0), {}],
    ['lets the old go when the current set is complete', set('new', 3), [set('old', 1)], limits(3, 1, 0), { old: 0 }],
  ])('%s', (_, current, old, bounds, expected) => {
    expect(plan(current, old, bounds)).toEqual(expected);
  });
});
