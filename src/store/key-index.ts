import { must } from '../machinery/index.ts';
import type { StoreRecord } from './types.ts';

/** Position of a key. An update changes only the record in it, not the order or the map. */
interface Slot<V> {
  record: StoreRecord<V>;
}

/** Slots in key order, split into short runs, so that an insert moves at most one run. */
interface Bucket<V> {
  readonly name: string;
  runs: Slot<V>[][];
  size: number;
}

interface Position {
  run: number;
  index: number;
}

/** Range of one bucket, from inclusive to exclusive. */
interface Span<V> {
  runs: Slot<V>[][];
  from: Position;
  to: Position;
}

const maxRunLength = 512;

/** Returns the end of the bucket's name in a key or prefix: after the third slash. Undefined if there are fewer. */
function bucketNameEnd(key: string): number | undefined {
  let slash = -1;
  for (let i = 0; i < 3; i++) {
    slash = key.indexOf('/', slash + 1);
    if (slash < 0) return undefined;
  }
  return slash + 1;
}

/**
 * Returns the name of a key's bucket: `/<group>/<plural>/`, or the whole key if it is shorter. Keys of different
 * buckets sort like the names of their buckets.
 */
function bucketNameOf(key: string): string {
  const end = bucketNameEnd(key);
  return end === undefined ? key : key.slice(0, end);
}

/** Finds the first position whose key is not before the target. */
function seek<V>(runs: Slot<V>[][], isBefore: (key: string) => boolean): Position {
  let low = 0;
  let high = runs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const last = runs[middle]?.at(-1);
    if (last && isBefore(last.record.key)) low = middle + 1;
    else high = middle;
  }
  const run = runs[low];
  if (!run) return { run: low, index: 0 };
  let first = 0;
  let last = run.length;
  while (first < last) {
    const middle = (first + last) >>> 1;
    const slot = run[middle];
    if (slot && isBefore(slot.record.key)) first = middle + 1;
    else last = middle;
  }
  return { run: low, index: first };
}

function seekKey<V>(runs: Slot<V>[][], key: string): Position {
  return seek(runs, (other) => other < key);
}

function spanSize<V>(span: Span<V>): number {
  const { runs, from, to } = span;
  if (from.run > to.run) return 0;
  let size = to.index - from.index;
  for (let i = from.run; i < to.run; i++) size += runs[i]?.length ?? 0;
  return Math.max(0, size);
}

/** Committed records by key, and in key order below any prefix. */
export class KeyIndex<V> {
  readonly #slots = new Map<string, Slot<V>>();
  readonly #buckets = new Map<string, Bucket<V>>();
  #bucketNames: string[] = [];

  get(key: string): StoreRecord<V> | undefined {
    return this.#slots.get(key)?.record;
  }

  set(record: StoreRecord<V>): void {
    const slot = this.#slots.get(record.key);
    if (slot) {
      slot.record = record;
      return;
    }
    const created = { record };
    this.#slots.set(record.key, created);
    this.#insert(created);
  }

  delete(key: string): void {
    if (!this.#slots.delete(key)) return;
    const bucket = must(this.#buckets.get(bucketNameOf(key)), 'the bucket of a key');
    const { run, index } = seekKey(bucket.runs, key);
    const slots = must(bucket.runs[run], 'the run of a key');
    slots.splice(index, 1);
    if (slots.length === 0) bucket.runs.splice(run, 1);
    bucket.size--;
    if (bucket.size === 0) {
      this.#buckets.delete(bucket.name);
      this.#bucketNames.splice(this.#bucketNames.indexOf(bucket.name), 1);
    }
  }

  /** number of keys with `prefix` that are greater than `after` */
  count(prefix: string, after?: string): number {
    let count = 0;
    for (const span of this.#spans(prefix, after)) count += spanSize(span);
    return count;
  }

  /** records with `prefix` and a key greater than `after`, in key order */
  collect(prefix: string, after?: string, limit: number = Number.POSITIVE_INFINITY): StoreRecord<V>[] {
    const records: StoreRecord<V>[] = [];
    if (limit > 0) this.walk(prefix, after, (record) => records.push(record) < limit);
    return records;
  }

  /** Visits the same records until `onRecord` returns false. */
  walk(prefix: string, after: string | undefined, onRecord: (record: StoreRecord<V>) => boolean): void {
    for (const { runs, from, to } of this.#spans(prefix, after)) {
      for (let run = from.run; run <= to.run && run < runs.length; run++) {
        const slots = must(runs[run], 'a run');
        const end = run === to.run ? to.index : slots.length;
        for (let index = run === from.run ? from.index : 0; index < end; index++) {
          const slot = slots[index];
          if (slot && !onRecord(slot.record)) return;
        }
      }
    }
  }

  #insert(slot: Slot<V>): void {
    const key = slot.record.key;
    const name = bucketNameOf(key);
    let bucket = this.#buckets.get(name);
    if (!bucket) {
      bucket = { name, runs: [], size: 0 };
      this.#buckets.set(name, bucket);
      this.#insertName(name);
    }
    bucket.size++;
    const { runs } = bucket;
    const lastRun = runs[runs.length - 1];
    // Loading is in key order, so appending to full runs needs neither a search nor a split.
    const lastSlot = lastRun?.[lastRun.length - 1];
    if (!lastSlot || lastSlot.record.key < key) {
      if (lastRun && lastRun.length < maxRunLength) lastRun.push(slot);
      else runs.push([slot]);
      return;
    }
    const { run, index } = seekKey(runs, key);
    const slots = must(runs[run], 'the run of a key');
    slots.splice(index, 0, slot);
    if (slots.length > maxRunLength) runs.splice(run + 1, 0, slots.splice(maxRunLength >>> 1));
  }

  #insertName(name: string): void {
    const names = this.#bucketNames;
    let low = 0;
    let high = names.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = names[middle];
      if (other !== undefined && other < name) low = middle + 1;
      else high = middle;
    }
    names.splice(low, 0, name);
  }

  #spans(prefix: string, after: string | undefined): Span<V>[] {
    const spans: Span<V>[] = [];
    for (const bucket of this.#bucketsUnder(prefix)) {
      const { runs } = bucket;
      const from = after !== undefined && after >= prefix ? seek(runs, (key) => key <= after) : seekKey(runs, prefix);
      const to = seek(runs, (key) => key < prefix || key.startsWith(prefix));
      spans.push({ runs, from, to });
    }
    return spans;
  }

  #bucketsUnder(prefix: string): Bucket<V>[] {
    const end = bucketNameEnd(prefix);
    if (end === undefined) {
      const names = this.#bucketNames.filter((name) => name.startsWith(prefix));
      return names.flatMap((name) => this.#buckets.get(name) ?? []);
    }
    const bucket = this.#buckets.get(prefix.slice(0, end));
    return bucket ? [bucket] : [];
  }
}
