import type { Clock } from '../../machinery/index.ts';

/** Lets one reconcile delay status writes that nobody waits for. */
export interface StatusDelay {
  /**
   * True if the caller should skip the write of this object; the key is reconciled again after the delay. `times`
   * lengthens the delay.
   */
  mayWait(object: string, times?: number): boolean;
}

/**
 * Delays status writes that nobody waits for. While a cluster comes up, most of them are replaced within seconds, and each
 * is a request that wakes other controllers too. An object is never delayed for longer than `delayMs`, or `times` as
 * long, after the first write that was left out.
 */
export class StatusDelays {
  readonly #clock: Clock;
  readonly #delayMs: number;
  /** key of the reconcile, object -> time at which its status is written at the latest */
  readonly #due = new Map<string, Map<string, number>>();

  constructor(clock: Clock, delayMs: number) {
    this.#clock = clock;
    this.#delayMs = delayMs;
  }

  /** For one reconcile of a key. `end` returns in how many milliseconds the key must be reconciled again, if at all. */
  begin(key: string): StatusDelay & { end(): number | undefined } {
    const waiting = new Map<string, number>();
    return {
      mayWait: (object, times = 1) => {
        const now = this.#clock.now();
        const delayMs = this.#delayMs * times;
        const before = waiting.get(object) ?? this.#due.get(key)?.get(object);
        // neither a clock that was set back nor an earlier change that could wait for longer delays this one
        const due = Math.min(before ?? Number.POSITIVE_INFINITY, now + delayMs);
        if (now >= due) return false;
        waiting.set(object, due);
        return true;
      },
      end: () => {
        if (waiting.size === 0) {
          this.#due.delete(key);
          return undefined;
        }
        this.#due.set(key, waiting);
        return Math.min(...waiting.values()) - this.#clock.now();
      },
    };
  }
}
