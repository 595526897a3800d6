import type { CancelTimer, Clock } from './clock.ts';

/** Timers are this late only when the whole process stood still. */
const stoodStillMs = 250;

/**
 * A time limit for somebody else's answer. A process that stood still itself, for a collection of garbage or because its
 * machine slept, has not listened meanwhile: it listens for that much longer before it says that nobody answered.
 */
export function limitAnswer(clock: Clock, ms: number, onSilence: () => void): CancelTimer {
  const dueMs = clock.now() + ms;
  let cancel = clock.after(ms, () => {
    const lateMs = clock.now() - dueMs;
    if (lateMs < stoodStillMs) onSilence();
    else cancel = clock.after(Math.min(lateMs, ms), onSilence);
  });
  return () => cancel();
}
