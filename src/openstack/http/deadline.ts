import { setMaxListeners } from 'node:events';
import type { Clock } from '../../machinery/index.ts';

/** Combines the caller's abort signal with a timeout, and cleans up when it is over. */
export interface Deadline {
  readonly signal: AbortSignal;
  readonly expired: boolean;
  end(): void;
}

export function createDeadline(clock: Clock, ms: number, outer: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  let expired = false;
  const onAbort = (): void => controller.abort(outer?.reason);
  if (outer?.aborted) onAbort();
  else if (outer) {
    // One signal may cancel many requests, so a large number of listeners is not a leak.
    setMaxListeners(0, outer);
    outer.addEventListener('abort', onAbort, { once: true });
  }
  const cancel = clock.after(ms, () => {
    expired = true;
    controller.abort(new Error(`no answer within ${ms} ms`));
  });
  return {
    signal: controller.signal,
    get expired() {
      return expired;
    },
    end() {
      cancel();
      outer?.removeEventListener('abort', onAbort);
    },
  };
}
