import type { CancelTimer, Clock } from './clock.ts';

/** Timers are this late only if the whole process was paused. */
const stoodStillMs = 250;

/**
 * Starts a time limit for a response. A process that was paused itself, by garbage collection or sleep of the machine,
 * could not receive anything. It waits that much longer before it reports a timeout.
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
