import type { Clock } from '../../machinery/index.ts';

/** When keys were looked at last, for as long as that matters: how long each still rests. */
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
    // a clock that was set back must not make anybody wait longer
    return at === undefined ? 0 : Math.min(this.#restMs, at + this.#restMs - this.#clock.now());
  }
}
