import { describe, expect, it } from 'vitest';
import { requeueDelayMs } from './requeue-delay.ts';

describe('an etcd that is not as desired is looked at again', () => {
  it.each([
    ['soon at first', 0, 100],
    ['after as long as one has waited already', 350, 350],
    ['after a second at most', 5_000, 1_000],
    ['seldom when nothing has come of it for long', 60_001, 10_000],
  ])('%s', (_, uneasyForMs, expected) => {
    expect(requeueDelayMs(uneasyForMs, { isAnyRunning: true })).toBe(expected);
  });

  it('seldom while no member runs, because its Pod tells when one does', () => {
    expect(requeueDelayMs(0, { isAnyRunning: false })).toBe(10_000);
  });
});
