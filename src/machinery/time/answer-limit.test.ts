import { expect, test } from 'vitest';
import { limitAnswer } from './answer-limit.ts';
import type { CancelTimer, Clock } from './clock.ts';

/** A clock whose timers run when the test says so, at any delay. */
function lateClock() {
  let now = 1_000;
  const timers = new Set<{ due: number; run: () => void }>();
  const clock = {
    now: () => now,
    after(ms: number, run: () => void): CancelTimer {
      const timer = { due: now + ms, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
  } as Clock;
  const wakeAfter = (ms: number): void => {
    now += ms;
    for (const timer of [...timers]) {
      if (timer.due > now) continue;
      timers.delete(timer);
      timer.run();
    }
  };
  return { clock, wakeAfter, pending: () => timers.size };
}

test('reports silence when the time is up', () => {
  const { clock, wakeAfter } = lateClock();
  let told = 0;
  limitAnswer(clock, 6_000, () => told++);
  wakeAfter(5_999);
  expect(told).toBe(0);
  wakeAfter(1);
  expect(told).toBe(1);
});

test('extends the limit when the process itself was not listening', () => {
  const { clock, wakeAfter } = lateClock();
  let told = 0;
  limitAnswer(clock, 6_000, () => told++);
  wakeAfter(9_000);
  expect(told).toBe(0);
  wakeAfter(2_999);
  expect(told).toBe(0);
  wakeAfter(1);
  expect(told).toBe(1);
});

test('does not wait for a day after a night asleep', () => {
  const { clock, wakeAfter } = lateClock();
  let told = 0;
  limitAnswer(clock, 6_000, () => told++);
  wakeAfter(8 * 3_600_000);
  wakeAfter(6_000);
  expect(told).toBe(1);
});

test('ends both waits when an answer comes', () => {
  const { clock, wakeAfter, pending } = lateClock();
  const answered = limitAnswer(clock, 6_000, () => expect.unreachable());
  wakeAfter(9_000);
  answered();
  expect(pending()).toBe(0);
  wakeAfter(60_000);
});
