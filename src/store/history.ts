import { must } from '../machinery/index.ts';
import type { StoreEvent } from './types.ts';
import { CompactedError } from './types.ts';

/** Limits of the history kept for watches and for lists of older revisions. */
export interface HistoryLimits {
  /** events kept regardless of age, within the last limit */
  minRevisions: number;
  /** events younger than this are kept, within the limits below */
  minAgeMs: number;
  /** maximum number of events, regardless of age */
  maxRevisions: number;
  /** maximum size of the values of all events except the newest, in encoded bytes; the oldest are dropped first */
  maxBytes: number;
}

/**
 * kube-apiserver keeps five minutes of etcd history. This store does the same, unless writes come faster than memory
 * allows.
 */
export const defaultHistoryLimits: HistoryLimits = {
  minRevisions: 10_000,
  minAgeMs: 5 * 60_000,
  maxRevisions: 100_000,
  maxBytes: 256 * 1024 * 1024,
};

interface Entry<V> {
  event: StoreEvent<V>;
  time: number;
  bytes: number;
}

/** The latest events in revision order, in a ring buffer that grows up to the limits. */
export class History<V> {
  readonly #limits: HistoryLimits;
  #ring: (Entry<V> | undefined)[] = new Array(1024).fill(undefined);
  #first = 0;
  #length = 0;
  #bytes = 0;
  #compacted: number;

  constructor(startRevision: number, limits: HistoryLimits) {
    this.#compacted = startRevision;
    this.#limits = limits;
  }

  /** revision of the newest dropped event; all later events are available */
  get compactedRevision(): number {
    return this.#compacted;
  }

  push(event: StoreEvent<V>, time: number, bytes: number): void {
    if (this.#length === this.#ring.length) this.#grow();
    this.#ring[(this.#first + this.#length) & (this.#ring.length - 1)] = { event, time, bytes };
    this.#length++;
    this.#bytes += bytes;
  }

  /** Drops events beyond the limits, at most `most` of them, to bound the duration of a call. */
  trim(now: number, most: number): void {
    const { minRevisions, minAgeMs, maxRevisions, maxBytes } = this.#limits;
    for (let dropped = 0; dropped < most; dropped++) {
      const oldest = this.#ring[this.#first];
      const isTooMuch = this.#bytes > maxBytes && this.#length > 1;
      if (!oldest || (this.#length <= minRevisions && !isTooMuch)) return;
      if (!isTooMuch && this.#length <= maxRevisions && now - oldest.time <= minAgeMs) return;
      this.#ring[this.#first] = undefined;
      this.#first = (this.#first + 1) & (this.#ring.length - 1);
      this.#length--;
      this.#bytes -= oldest.bytes;
      this.#compacted = oldest.event.revision;
    }
  }

  /** time at which the oldest event may be dropped by age; undefined if age will drop none */
  get nextExpiry(): number | undefined {
    const { minRevisions, minAgeMs } = this.#limits;
    const oldest = this.#ring[this.#first];
    return oldest && this.#length > minRevisions ? oldest.time + minAgeMs : undefined;
  }

  /** Calls back with every event after `revision`, oldest first. */
  forEachAfter(revision: number, onEvent: (event: StoreEvent<V>) => void): void {
    for (let i = this.#positionAfter(revision); i < this.#length; i++) onEvent(this.#at(i));
  }

  /** Calls back with every event after `revision`, newest first. */
  forEachBackTo(revision: number, onEvent: (event: StoreEvent<V>) => void): void {
    const end = this.#positionAfter(revision);
    for (let i = this.#length - 1; i >= end; i--) onEvent(this.#at(i));
  }

  #at(position: number): StoreEvent<V> {
    return must(this.#ring[(this.#first + position) & (this.#ring.length - 1)], 'an event').event;
  }

  #positionAfter(revision: number): number {
    if (revision < this.#compacted) throw new CompactedError(revision, this.#compacted);
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#at(middle).revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #grow(): void {
    const grown: (Entry<V> | undefined)[] = new Array(this.#ring.length * 2).fill(undefined);
    for (let i = 0; i < this.#length; i++) grown[i] = this.#ring[(this.#first + i) & (this.#ring.length - 1)];
    this.#ring = grown;
    this.#first = 0;
  }
}
