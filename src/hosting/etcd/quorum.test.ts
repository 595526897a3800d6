import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasQuorum, judgeAddition, judgeRemoval, type MemberView, quorumOf } from './quorum.ts';

const member = (id: string, more: Partial<MemberView> = {}): MemberView => ({
  id,
  name: id,
  isLearner: false,
  healthy: true,
  ...more,
});
const members = (text: string): MemberView[] =>
  [...text].map((letter, index) =>
    member(`m${index}`, {
      healthy: letter === 'h' || letter === 'l',
      isLearner: letter === 'l' || letter === 'L',
      ...(letter === 'u' && { name: '' }),
    }),
  );

describe('the etcd quorum', () => {
  it.each([
    [1, 1],
    [2, 2],
    [3, 2],
    [4, 3],
    [5, 3],
  ])('of %d members is %d', (voters, quorum) => {
    expect(quorumOf(voters)).toBe(quorum);
  });
});

// h healthy, x unhealthy, l learner, L unhealthy learner, u announced but never started
describe('removal of an etcd member', () => {
  it.each<[string, number, boolean]>([
    ['hhh', 0, true],
    ['hhx', 2, true],
    ['hhx', 0, false],
    ['hxx', 2, false],
    ['hh', 0, true],
    ['hx', 1, false],
    ['h', 0, false],
    ['hhhl', 0, false],
    ['hhhl', 3, true],
    ['hhhL', 3, true],
    ['hhu', 2, true],
    ['hhu', 0, false],
    ['hhhhx', 0, true],
    ['hhhxx', 4, true],
    ['hhhxx', 0, false],
  ])('from %s without %d is safe: %s', (text, index, safe) => {
    expect(judgeRemoval(members(text), `m${index}`).safe).toBe(safe);
  });

  it('is safe when the member is already gone', () => {
    expect(judgeRemoval(members('hxx'), 'other')).toEqual({ safe: true });
  });
});

describe('adding an etcd member', () => {
  it.each<[string, boolean]>([
    ['h', true],
    ['hh', true],
    ['hhh', true],
    ['hhx', false],
    ['hx', false],
    ['hhl', false],
    ['hu', false],
    ['hhhhx', true],
  ])('to %s is safe: %s', (text, safe) => {
    expect(judgeAddition(members(text)).safe).toBe(safe);
  });
});

describe('any sequence of allowed membership changes', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('remove' as const), index: fc.nat(8) }),
    fc.record({ kind: fc.constant('add' as const), comesUp: fc.boolean() }),
    fc.record({ kind: fc.constant('heal' as const), index: fc.nat(8) }),
    fc.record({ kind: fc.constant('promote' as const), index: fc.nat(8) }),
  );

  it('keeps the majority', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 40 }), (count, steps) => {
        let state = Array.from({ length: count }, (_, index) => member(`s${index}`));
        let next = 0;
        for (const one of steps) {
          if (one.kind === 'remove') {
            const target = state[one.index % state.length];
            if (target && judgeRemoval(state, target.id).safe) state = state.filter(({ id }) => id !== target.id);
          } else if (one.kind === 'add') {
            // the second member starts as a learner; beyond that, the check already assumes the worst case
            const learner = state.length === 1;
            const added = member(`n${next++}`, { healthy: one.comesUp, isLearner: learner });
            if (judgeAddition(state).safe) state = [...state, added];
          } else {
            const target = state[one.index % state.length];
            if (!target) continue;
            const change = one.kind === 'heal' ? { healthy: true } : target.healthy ? { isLearner: false } : {};
            state = state.map((other) => (other === target ? { ...other, ...change } : other));
          }
          expect(hasQuorum(state)).toBe(true);
        }
      }),
    );
  });
});
