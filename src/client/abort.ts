import { setMaxListeners } from 'node:events';

/**
 * Tells Node that this signal is meant to be shared: by default it suspects a leak beyond ten listeners, while one signal
 * here stops dozens of informers, workers and requests. Returns the signal.
 */
export function sharedSignal(signal: AbortSignal): AbortSignal {
  setMaxListeners(0, signal);
  return signal;
}
