import { describe, expect, it } from 'vitest';
import { requeueDelayMs } from './requeue-delay.ts';

describe('the requeue delay of an etcd that is not as desired', () => {
  it.each([
    ['soon at first', 0, 100],
    ['after as long as one has waited already', 350, 350],
    ['after a second at most', 5_000, 1_000],
    ['seldom after a long time without progress', 60_001, 10_000],
  ])('looks again %s', (_, uneasyForMs, expected) => {
    expect(requeueDelayMs(uneasyForMs, { isAnyRunning: true })).toBe(expected);
  });

  it('is 10 s while no member runs, because its Pod reports when one does', () => {
    expect(requeueDelayMs(0, { isAnyRunning: false })).toBe(10_000);
  });
});
