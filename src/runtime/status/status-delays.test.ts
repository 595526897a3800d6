import { describe, expect, it } from 'vitest';
import { type Clock, ManualClock } from '../../machinery/index.ts';
import { StatusDelays } from './status-delays.ts';

const start = Date.UTC(2026, 0, 1);

describe('delays of the status', () => {
  it('last longer for objects that sum up others, each from its own first change', async () => {
    const clock = new ManualClock(start);
    const delays = new StatusDelays(clock, 2000);
    const reconcile = (): [boolean, boolean, number | undefined] => {
      const delay = delays.begin('key');
      const machine = delay.mayWait('machine');
      const set = delay.mayWait('set', 1.5);
      return [machine, set, delay.end()];
    };
    expect(reconcile()).toEqual([true, true, 2000]);
    await clock.advance(2000);
    expect(reconcile()).toEqual([false, true, 1000]);
    await clock.advance(999);
    expect(reconcile()).toEqual([true, true, 1]);
    await clock.advance(1);
    expect(reconcile()).toEqual([true, false, 1999]);
  });

  it('end when the clock is set back', () => {
    let now = start;
    const clock: Clock = { now: () => now, monotonic: () => now, after: () => () => {} };
    const delays = new StatusDelays(clock, 2000);
    const first = delays.begin('key');
    expect(first.mayWait('machine')).toBe(true);
    first.end();
    now -= 60_000;
    expect(delays.begin('key').mayWait('machine')).toBe(false);
  });
});
