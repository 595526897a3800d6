import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ManualClock } from '../../machinery/index.ts';

/** Moves the server's time on, step by step, until something that waits for it has happened. */
export async function advanceUntil<T>(clock: ManualClock, pending: Promise<T>, stepMs = 1000): Promise<T> {
  let settled = false;
  const outcome = pending.finally(() => {
    settled = true;
  });
  // The outcome is what the caller gets; this only keeps a failure from counting as unhandled meanwhile.
  outcome.catch(() => {});
  while (!settled) {
    await clock.advance(stepMs);
    for (let turn = 0; turn < 5 && !settled; turn++) await nextTurn();
  }
  return outcome;
}

/** Repeats a look until it shows something: a real kube-apiserver needs a moment where ours has answered by the first try. */
export async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
  }
}
