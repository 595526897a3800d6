import { type Timer, TimerHeap } from './timer-heap.ts';

/** Cancels a timer that has not fired yet. */
export type CancelTimer = () => void;

/** The only source of time. Production uses `systemClock`; tests use `ManualClock`. */
export interface Clock {
  /** milliseconds since the epoch; jumps when the system clock is set */
  now(): number;
  /** milliseconds from an arbitrary start that never jump: for measuring elapsed time */
  monotonic(): number;
  /** calls back once after `ms` milliseconds */
  after(ms: number, callback: () => void): CancelTimer;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, 0x7fffffff));
    return () => clearTimeout(timer);
  },
};

/** A clock that tests advance. Timers fire in order of their due time. */
export class ManualClock implements Clock {
  #now: number;
  #sequence = 0;
  readonly #timers = new TimerHeap();

  constructor(startMs: number = Date.UTC(2026, 0, 1)) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): CancelTimer {
    const timer: Timer = { due: this.#now + Math.max(0, ms), sequence: this.#sequence++, callback };
    this.#timers.add(timer);
    return () => this.#timers.cancel(timer);
  }

  /** Time until the next timer; undefined without timers. */
  untilNext(): number | undefined {
    const next = this.#timers.peek();
    return next && next.due - this.#now;
  }

  /** Advances the clock and fires due timers in order. Microtasks run between them. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (let next = this.#timers.peek(); next && next.due <= end; next = this.#timers.peek()) {
      this.#timers.pop();
      this.#now = next.due;
      const { callback } = next;
      // From here on, cancelling the timer has no effect.
      next.callback = undefined;
      callback?.();
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    this.#now = end;
  }
}

/** Formats metadata timestamps: RFC 3339, UTC, whole seconds. */
export function formatTime(ms: number): string {
  const second = Math.floor(ms / 1000);
  // Every write formats the same second several times.
  if (second !== lastSecond) {
    lastText = `${new Date(second * 1000).toISOString().slice(0, 19)}Z`;
    lastSecond = second;
  }
  return lastText;
}

let lastSecond = Number.NaN;
let lastText = '';

/** Formats Lease and event times: RFC 3339, UTC, microseconds. */
export function formatMicroTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000Z`;
}
