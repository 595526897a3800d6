import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ManualClock } from '../../machinery/index.ts';

/** Advances the server's clock step by step until the promise settles. */
export async function advanceUntil<T>(clock: ManualClock, pending: Promise<T>, stepMs = 1000): Promise<T> {
  let settled = false;
  const outcome = pending.finally(() => {
    settled = true;
  });
  // The caller handles the outcome; this prevents an unhandled rejection in the meantime.
  outcome.catch(() => {});
  while (!settled) {
    await clock.advance(stepMs);
    for (let turn = 0; turn < 5 && !settled; turn++) await nextTurn();
  }
  return outcome;
}

/** Polls until a value is returned. A real kube-apiserver needs a moment where ours responds at once. */
export async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
  }
}
