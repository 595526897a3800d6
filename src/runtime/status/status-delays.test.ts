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

  it('are not longer when the clock is set back', () => {
    let now = start;
    const clock: Clock = { now: () => now, monotonic: () => now, after: () => () => {} };
    const delays = new StatusDelays(clock, 2000);
    const mayWait = (times = 1): boolean => {
      const delay = delays.begin('key');
      const answer = delay.mayWait('machine', times);
      delay.end();
      return answer;
    };
    expect(mayWait()).toBe(true);
    now -= 60_000;
    expect(mayWait()).toBe(true);
    now += 1_000;
    expect(mayWait()).toBe(true);
    now += 1_000;
    expect(mayWait()).toBe(false);
  });

  it('are shortened by a change that may wait less', async () => {
    const clock = new ManualClock(start);
    const delays = new StatusDelays(clock, 2000);
    const reconcile = (times: number): [boolean, number | undefined] => {
      const delay = delays.begin('key');
      return [delay.mayWait('set', times), delay.end()];
    };
    expect(reconcile(3)).toEqual([true, 6000]);
    await clock.advance(1000);
    expect(reconcile(1.5)).toEqual([true, 3000]);
    await clock.advance(2999);
    expect(reconcile(3)).toEqual([true, 1]);
    await clock.advance(1);
    expect(reconcile(3)).toEqual([false, undefined]);
  });
});
