import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from './clock.ts';

describe('ManualClock', () => {
  it('fires timers by due time, then by creation, and none that were cancelled', async () => {
    const plan = fc.array(fc.record({ ms: fc.nat(50), isCancelled: fc.boolean() }), { maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(plan, async (timers) => {
        const clock = new ManualClock(0);
        const fired: number[] = [];
        const cancels = timers.map(({ ms }, index) => clock.after(ms, () => fired.push(index)));
        timers.forEach(({ isCancelled }, index) => {
          if (isCancelled) cancels[index]!();
        });
        const expected = timers
          .map(({ ms, isCancelled }, index) => ({ ms, isCancelled, index }))
          .filter(({ isCancelled }) => !isCancelled)
          .sort((a, b) => a.ms - b.ms || a.index - b.index);
        expect(clock.untilNext()).toBe(expected[0]?.ms);
        await clock.advance(50);
        expect(fired).toEqual(expected.map(({ index }) => index));
        expect(clock.untilNext()).toBeUndefined();
      }),
      { numRuns: 30 },
    );
  });

  it('stands at a timer while it fires, and fires the timers it sets within the same move', async () => {
    const clock = new ManualClock(1_000);
    const seen: number[] = [];
    clock.after(10, () => {
      seen.push(clock.now());
      clock.after(5, () => seen.push(clock.now()));
      clock.after(100, () => seen.push(clock.now()));
    });
    await clock.advance(50);
    expect(seen).toEqual([1_010, 1_015]);
    expect(clock.now()).toBe(1_050);
    expect(clock.untilNext()).toBe(60);
  });

  it('ignores a cancellation of a timer that has fired', async () => {
    const clock = new ManualClock(0);
    const cancel = clock.after(1, () => {});
    let fired = false;
    clock.after(2, () => {
      fired = true;
    });
    await clock.advance(1);
    cancel();
    cancel();
    await clock.advance(1);
    expect(fired).toBe(true);
  });

  it('forgets cancelled timers', async () => {
    const clock = new ManualClock(0);
    for (let index = 0; index < 10_000; index++) clock.after(1_000_000, () => {})();
    expect(clock.untilNext()).toBeUndefined();
  });
});
