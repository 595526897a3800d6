import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Candidate, chooseHolder } from './api-address-holder.ts';

const machine = (name: string, more: Partial<Candidate> = {}): Candidate => ({
  name,
  createdAt: `2026-01-01T00:00:0${name.length}Z`,
  portId: `port-${name}`,
  isLeaving: false,
  isOutdated: false,
  isRunning: true,
  hasJoined: true,
  answers: true,
  ...more,
});
const fresh = { hasJoined: false, answers: undefined };

describe('the holder of the API floating IP', () => {
  it.each<[string, string | undefined, Candidate[], string]>([
    ['goes to the first machine before it answers', undefined, [machine('a', fresh)], 'a'],
    ['waits for a server that runs', undefined, [machine('a', { ...fresh, isRunning: false })], 'stay'],
    ['waits for a port', undefined, [machine('a', { ...fresh, portId: undefined })], 'stay'],
    ['goes to the oldest of several', undefined, [machine('bb', fresh), machine('a', fresh)], 'a'],
    ['prefers a machine that answers to an older one', undefined, [machine('a', fresh), machine('bb')], 'bb'],
    [
      'prefers a machine that has joined to an older one',
      undefined,
      [machine('a', fresh), machine('bb', { answers: undefined })],
      'bb',
    ],
    [
      'leaves for a machine that stays, not for one the rollout replaces next',
      'port-a',
      [machine('a', { isLeaving: true }), machine('bb', { isOutdated: true }), machine('ccc')],
      'ccc',
    ],
    ['is not given to a machine that goes', undefined, [machine('a', { isLeaving: true }), machine('bb', fresh)], 'bb'],
    ['is given back to the last one while it drains', undefined, [machine('a', { isLeaving: true })], 'a'],
    ['stays with a machine that serves', 'port-a', [machine('a'), machine('bb')], 'stay'],
    [
      'stays though nobody can tell whether the holder serves',
      'port-a',
      [machine('a', { answers: undefined }), machine('bb')],
      'stay',
    ],
    [
      'leaves a machine that goes when another answers',
      'port-a',
      [machine('a', { isLeaving: true }), machine('bb')],
      'bb',
    ],
    [
      'stays with a machine that goes until another answers',
      'port-a',
      [machine('a', { isLeaving: true }), machine('bb', { answers: undefined })],
      'stay',
    ],
    [
      'stays with a machine that goes when all go',
      'port-a',
      [machine('a', { isLeaving: true }), machine('bb', { isLeaving: true })],
      'stay',
    ],
    ['leaves a dead API', 'port-a', [machine('a', { answers: false }), machine('bb')], 'bb'],
    [
      'does not leave a dead API for one that may be dead too',
      'port-a',
      [machine('a', { answers: false }), machine('bb', { answers: undefined })],
      'stay',
    ],
    [
      'leaves a stopped machine for one that has joined',
      'port-a',
      [machine('a', { isRunning: false, answers: undefined }), machine('bb', { answers: undefined })],
      'bb',
    ],
    [
      'does not leave a stopped machine for one that never joined',
      'port-a',
      [machine('a', { isRunning: false, answers: undefined }), machine('bb', fresh)],
      'stay',
    ],
    ['is left where somebody else put it', 'port-z', [machine('a')], 'foreign'],
  ])('is chosen: %s', (_, current, machines, expected) => {
    const holding = chooseHolder(current, machines);
    expect(holding.kind === 'give' ? holding.to.name : holding.kind).toBe(expected);
  });

  const anyMachine = fc.record({
    isLeaving: fc.boolean(),
    isRunning: fc.boolean(),
    hasJoined: fc.boolean(),
    answers: fc.constantFrom(true, false, undefined),
    hasPort: fc.boolean(),
  });

  it('never alternates: once given, the address stays', () => {
    fc.assert(
      fc.property(fc.array(anyMachine, { maxLength: 5 }), fc.nat(5), (list, at) => {
        const machines = list.map(({ hasPort, ...more }, index) =>
          machine('x'.repeat(index + 1), { ...more, ...(!hasPort && { portId: undefined }) }),
        );
        const first = chooseHolder(machines[at]?.portId, machines);
        if (first.kind !== 'give') return;
        const second = chooseHolder(first.to.portId, machines);
        expect(second.kind === 'stay' || (second.kind === 'give' && machines[at]?.portId === undefined)).toBe(true);
        if (second.kind === 'give') expect(chooseHolder(second.to.portId, machines).kind).toBe('stay');
      }),
    );
  });
});
