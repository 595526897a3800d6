import type { History } from './history.ts';
import type { KeyIndex } from './key-index.ts';
import type { ListResult, StoreRecord } from './types.ts';

export interface SnapshotListOptions {
  limit: number | undefined;
  after: string | undefined;
}

/**
 * Lists a prefix at an older revision: the current state with later events undone. The cost is proportional to the
 * changes since then and the page size.
 */
export function listSnapshot<V>(
  index: KeyIndex<V>,
  history: History<V>,
  prefix: string,
  revision: number,
  { limit = Number.POSITIVE_INFINITY, after }: SnapshotListOptions,
): ListResult<V> {
  const changed = recordsBefore(history, prefix, revision, after);
  let total = index.count(prefix, after);
  for (const [key, record] of changed) total += (record ? 1 : 0) - (index.get(key) ? 1 : 0);

  const unchanged: StoreRecord<V>[] = [];
  index.walk(prefix, after, (record) => changed.has(record.key) || unchanged.push(record) < limit);
  // A full page of unchanged records bounds the page. Changed records beyond its last key are irrelevant.
  const last = unchanged.length >= limit ? unchanged[unchanged.length - 1] : undefined;
  const restored: StoreRecord<V>[] = [];
  for (const record of changed.values()) if (record && (!last || record.key < last.key)) restored.push(record);
  restored.sort((a, b) => (a.key < b.key ? -1 : 1));

  const records = mergeByKey(unchanged, restored);
  if (records.length > limit) records.length = limit;
  return { records, revision, remaining: total - records.length };
}

function mergeByKey<V>(left: StoreRecord<V>[], right: StoreRecord<V>[]): StoreRecord<V>[] {
  const merged: StoreRecord<V>[] = [];
  let next = 0;
  for (const record of left) {
    for (let other = right[next]; other && other.key < record.key; other = right[++next]) merged.push(other);
    merged.push(record);
  }
  for (let other = right[next]; other; other = right[++next]) merged.push(other);
  return merged;
}

/** Returns the records at `revision` of all keys changed since; undefined for keys that did not exist. */
function recordsBefore<V>(
  history: History<V>,
  prefix: string,
  revision: number,
  after: string | undefined,
): Map<string, StoreRecord<V> | undefined> {
  const records = new Map<string, StoreRecord<V> | undefined>();
  history.forEachBackTo(revision, (event) => {
    const key = event.type === 'put' ? event.record.key : event.key;
    if (key.startsWith(prefix) && (after === undefined || key > after)) records.set(key, event.previous);
  });
  return records;
}
