import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RotationObservation, type RotationRecord, rotationStep } from './rotation.ts';

const switched = (since: number): RotationRecord => ({ phase: 'switched', since, settled: since });
const stable: RotationRecord = { phase: 'stable', since: 0 };
const observation = (more: Partial<RotationObservation>): RotationObservation => ({
  record: stable,
  now: 1_000,
  trustedEverywhere: true,
  leavesReplaced: true,
  holdouts: 0,
  overlapMs: 0,
  ...more,
});

describe('a rotation step', () => {
  it.each<[string, Partial<RotationObservation>, string]>([
    ['does not start by itself', {}, 'none'],
    ['begins when it is asked for', { request: 'a' }, 'introduce'],
    ['is not done twice for the same request', { request: 'a', record: { ...stable, request: 'a' } }, 'none'],
    [
      'waits until everybody trusts the next one',
      { record: { phase: 'introduced', since: 0 }, trustedEverywhere: false },
      'wait',
    ],
    ['switches when everybody does', { record: { phase: 'introduced', since: 0 } }, 'switch'],
    ['waits until all leaves are replaced', { record: { phase: 'switched', since: 0 }, leavesReplaced: false }, 'wait'],
    ['notes when they are', { record: { phase: 'switched', since: 0 } }, 'settle'],
    ['waits for nodes with old certificates', { record: switched(0), holdouts: 2 }, 'wait'],
    ['waits until tokens have run out', { record: switched(500), overlapMs: 600 }, 'wait'],
    ['retires the old one then', { record: switched(500), overlapMs: 500 }, 'retire'],
    [
      'waits for nobody beyond the end of the old one',
      { record: switched(0), holdouts: 2, oldNotAfter: 1_000 },
      'retire',
    ],
  ])('%s', (_, more, kind) => {
    expect(rotationStep(observation(more)).kind).toBe(kind);
  });

  it('says when to look again', () => {
    const step = rotationStep(observation({ record: switched(500), overlapMs: 600 }));
    expect(step).toMatchObject({ kind: 'wait', until: 1_100 });
  });
});

/** A peer that presents a certificate and verifies others. */
interface Peer {
  trusts: ReadonlySet<number>;
  shows: number;
  isNode: boolean;
}

describe('peers that adopt published trust in any order', () => {
  const event = fc.oneof(
    fc.record({ kind: fc.constant('trust' as const), peer: fc.nat(5) }),
    fc.record({ kind: fc.constant('leaf' as const), peer: fc.nat(5) }),
    fc.record({ kind: fc.constant('step' as const) }),
    fc.record({ kind: fc.constant('ask' as const) }),
  );

  it('trust each other at every moment', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 120 }), (events) => {
        const peers: Peer[] = Array.from({ length: 6 }, (_, index) => ({
          trusts: new Set([1]),
          shows: 1,
          isNode: index > 3,
        }));
        let record = stable;
        let generations = { current: 1, all: new Set([1]) };
        let made = 1;
        let request: string | undefined;
        let now = 0;
        for (const one of events) {
          now++;
          const peer = 'peer' in one ? peers[one.peer]! : undefined;
          if (one.kind === 'ask') request = `spec ${now}`;
          else if (one.kind === 'trust') peer!.trusts = new Set(generations.all);
          else if (one.kind === 'leaf') peer!.shows = generations.current;
          else {
            const same = (a: ReadonlySet<number>): boolean =>
              a.size === generations.all.size && [...a].every((g) => generations.all.has(g));
            const step = rotationStep({
              record,
              now,
              ...(request !== undefined && { request }),
              trustedEverywhere: peers.every(({ trusts }) => same(trusts)),
              leavesReplaced: peers.every(({ shows, isNode }) => isNode || shows === generations.current),
              holdouts: peers.filter(({ shows, isNode }) => isNode && shows !== generations.current).length,
              overlapMs: 2,
            });
            if (step.kind === 'introduce') {
              made++;
              generations = { ...generations, all: new Set([generations.current, made]) };
            } else if (step.kind === 'switch') generations = { ...generations, current: made };
            else if (step.kind === 'retire') generations = { current: made, all: new Set([made]) };
            if ('record' in step) record = step.record;
          }
          for (const checking of peers) {
            for (const showing of peers) expect(checking.trusts.has(showing.shows)).toBe(true);
          }
        }
      }),
      { numRuns: 200 },
    );
  });
});
