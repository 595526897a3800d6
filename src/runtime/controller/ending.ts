import { sharedSignal } from '../../client/index.ts';

/** The signal of one reconcile, created on demand because most reconciles have nothing to do and never use it. */
export interface Ending {
  /** aborts with `stop`, or when `abort` is called */
  signal(): AbortSignal;
  abort(reason: unknown): void;
  /** removes the listener from `stop`, which lives longer */
  release(): void;
}

export function createEnding(stop: AbortSignal): Ending {
  let controller: AbortController | undefined;
  let aborted: { reason: unknown } | undefined;
  const onStop = (): void => controller?.abort(stop.reason);
  return {
    signal() {
      if (controller) return controller.signal;
      controller = new AbortController();
      sharedSignal(controller.signal);
      if (aborted) controller.abort(aborted.reason);
      else if (stop.aborted) onStop();
      else stop.addEventListener('abort', onStop, { once: true });
      return controller.signal;
    },
    abort(reason) {
      aborted ??= { reason };
      controller?.abort(reason);
    },
    release() {
      if (controller) stop.removeEventListener('abort', onStop);
    },
  };
}
