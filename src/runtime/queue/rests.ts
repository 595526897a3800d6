import type { Clock } from '../../machinery/index.ts';

/** Last reconcile of keys, kept while relevant: determines how long each must still rest. */
export class Rests {
  readonly #clock: Clock;
  readonly #restMs: number;
  /** oldest first */
  readonly #lookedAt = new Map<string, number>();

  constructor(clock: Clock, restMs: number) {
    this.#clock = clock;
    this.#restMs = restMs;
  }

  begin(key: string): void {
    if (this.#restMs <= 0) return;
    const now = this.#clock.now();
    this.#lookedAt.delete(key);
    this.#lookedAt.set(key, now);
    for (const [oldest, at] of this.#lookedAt) {
      if (at + this.#restMs > now) return;
      this.#lookedAt.delete(oldest);
    }
  }

  leftMs(key: string): number {
    const at = this.#lookedAt.get(key);
    // A clock that was set back must not extend the wait.
    return at === undefined ? 0 : Math.min(this.#restMs, at + this.#restMs - this.#clock.now());
  }
}
