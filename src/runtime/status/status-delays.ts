import type { Clock } from '../../machinery/index.ts';

/** Lets one reconcile delay status writes that nobody waits for. */
export interface StatusDelay {
  /** true if the caller should skip the write of this object; the key is reconciled again after the delay */
  mayWait(object: string): boolean;
}

/**
 * Delays status writes that nobody waits for. While a cluster comes up, most of them are replaced within seconds, and each
 * is a request that wakes other controllers too. An object is never delayed for longer than `delayMs` after the first
 * write that was left out.
 */
export class StatusDelays {
  readonly #clock: Clock;
  readonly #delayMs: number;
  /** key of the reconcile, object -> time of the first write that was left out */
  readonly #since = new Map<string, Map<string, number>>();

  constructor(clock: Clock, delayMs: number) {
    this.#clock = clock;
    this.#delayMs = delayMs;
  }

  /** For one reconcile of a key. `end` returns in how many milliseconds the key must be reconciled again, if at all. */
  begin(key: string): StatusDelay & { end(): number | undefined } {
    const waiting = new Map<string, number>();
    return {
      mayWait: (object) => {
        const now = this.#clock.now();
        const since = waiting.get(object) ?? this.#since.get(key)?.get(object) ?? now;
        // a clock that was set back must not delay a status for longer
        if (now < since || now - since >= this.#delayMs) return false;
        waiting.set(object, since);
        return true;
      },
      end: () => {
        if (waiting.size === 0) {
          this.#since.delete(key);
          return undefined;
        }
        this.#since.set(key, waiting);
        return Math.min(...waiting.values()) + this.#delayMs - this.#clock.now();
      },
    };
  }
}
