import { setMaxListeners } from 'node:events';

/**
 * Disables Node's leak warning for a signal that is shared by many listeners, such as dozens of informers, workers and
 * requests. By default Node warns beyond ten. Returns the signal.
 */
export function sharedSignal(signal: AbortSignal): AbortSignal {
  setMaxListeners(0, signal);
  return signal;
}
