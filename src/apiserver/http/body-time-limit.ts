import { constants } from 'node:http2';
import type { Clock } from '../../machinery/index.ts';
import type { Http2Wire } from './wire.ts';

/** A pending request. An entry without request closes the list to a ring. */
interface Entry {
  wire: Http2Wire | undefined;
  deadline: number;
  older: Entry;
  newer: Entry;
}

/**
 * Cuts off HTTP/2 clients that dribble their requests: the protocol knows no time limits of its own. All requests have the
 * same time, so one timer, for the oldest, serves all of them.
 *
 * A linked list, not a map: the tables that a map leaves behind while entries come and go point to each other, and one that
 * the garbage collector takes for long-lived keeps every later one, with all requests they ever held.
 */
export class BodyTimeLimit {
  readonly #limitMs: number;
  readonly #clock: Clock;
  readonly #ends: Entry;
  #cancelTimer: (() => void) | undefined;

  constructor(limitMs: number, clock: Clock) {
    this.#limitMs = limitMs;
    this.#clock = clock;
    const ends = { wire: undefined, deadline: Number.POSITIVE_INFINITY } as Entry;
    ends.older = ends;
    ends.newer = ends;
    this.#ends = ends;
  }

  add(wire: Http2Wire): void {
    const ends = this.#ends;
    const entry: Entry = { wire, deadline: this.#clock.now() + this.#limitMs, older: ends.older, newer: ends };
    ends.older.newer = entry;
    ends.older = entry;
    this.#cancelTimer ??= this.#clock.after(this.#limitMs, () => this.#cutLate());
    wire.input.on('close', () => this.#remove(entry));
  }

  #remove(entry: Entry): void {
    if (!entry.wire) return;
    entry.older.newer = entry.newer;
    entry.newer.older = entry.older;
    // A garbage entry must not keep its neighbors alive.
    entry.wire = undefined;
    entry.older = entry;
    entry.newer = entry;
    if (this.#ends.newer !== this.#ends) return;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #cutLate(): void {
    this.#cancelTimer = undefined;
    const now = this.#clock.now();
    for (let oldest = this.#ends.newer; oldest.wire; oldest = this.#ends.newer) {
      if (oldest.deadline > now) {
        this.#cancelTimer = this.#clock.after(Math.min(oldest.deadline - now, this.#limitMs), () => this.#cutLate());
        return;
      }
      const { wire } = oldest;
      this.#remove(oldest);
      if (!wire.hasWholeBody) wire.input.close(constants.NGHTTP2_CANCEL);
    }
  }
}
