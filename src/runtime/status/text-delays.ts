import type { Clock } from '../../machinery/index.ts';

/** Lets one reconcile delay a status write that changes only texts of conditions. */
export interface TextDelay {
  /** true if the caller should skip the write; the key is reconciled again after the delay */
  mayWait(): boolean;
}

/**
 * Delays status writes that change nothing but reasons and messages of conditions. While a cluster comes up, most of these
 * texts are replaced within seconds, and each write is a request that wakes other controllers too. A text is never
 * delayed for longer than `delayMs` after the first write that was left out.
 */
export class TextDelays {
  readonly #clock: Clock;
  readonly #delayMs: number;
  readonly #since = new Map<string, number>();

  constructor(clock: Clock, delayMs: number) {
    this.#clock = clock;
    this.#delayMs = delayMs;
  }

  /** For one reconcile of a key. `end` returns in how many milliseconds the key must be reconciled again, if at all. */
  begin(key: string): TextDelay & { end(): number | undefined } {
    let waits = false;
    return {
      mayWait: () => {
        const now = this.#clock.now();
        const since = this.#since.get(key) ?? now;
        // a clock that was set back must not delay a text for longer
        if (now < since || now - since >= this.#delayMs) return false;
        this.#since.set(key, since);
        waits = true;
        return true;
      },
      end: () => {
        const since = this.#since.get(key);
        if (waits && since !== undefined) return since + this.#delayMs - this.#clock.now();
        this.#since.delete(key);
        return undefined;
      },
    };
  }
}
