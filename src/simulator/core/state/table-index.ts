/** Key or keys of a row in an index; undefined excludes the row. */
export type IndexKey = string | readonly string[] | undefined;

/** Function from a row to its key. With the columns it reads, changes of other columns skip the index. */
export type IndexDefinition<T> =
  | ((row: T) => IndexKey)
  | { readonly of: readonly (keyof T)[]; readonly key: (row: T) => IndexKey };

/**
 * Index of rows by key. Most keys have exactly one row, which is stored without a set, because the sets would need more
 * memory than the rows.
 */
export class TableIndex<T extends object> {
  readonly name: string;
  readonly of: readonly (keyof T)[] | undefined;
  readonly #keyOf: (row: T) => IndexKey;
  readonly #buckets = new Map<string, T | Set<T>>();
  #keyBefore: IndexKey;

  constructor(name: string, definition: IndexDefinition<T>) {
    this.name = name;
    this.of = typeof definition === 'function' ? undefined : definition.of;
    this.#keyOf = typeof definition === 'function' ? definition : definition.key;
  }

  rows(key: string): ReadonlySet<T> | undefined {
    const bucket = this.#buckets.get(key);
    return bucket === undefined || bucket instanceof Set ? bucket : new Set([bucket]);
  }

  first(key: string): T | undefined {
    const bucket = this.#buckets.get(key);
    if (!(bucket instanceof Set)) return bucket;
    for (const row of bucket) return row;
    return undefined;
  }

  count(key: string): number {
    const bucket = this.#buckets.get(key);
    return bucket === undefined ? 0 : bucket instanceof Set ? bucket.size : 1;
  }

  keys(): IterableIterator<string> {
    return this.#buckets.keys();
  }

  add(row: T): void {
    this.#addUnder(this.#keyOf(row), row);
  }

  remove(row: T): void {
    this.#removeUnder(this.#keyOf(row), row);
  }

  /** Called with the row before a change, directly followed by the call after it. */
  beforeChange(row: T): void {
    this.#keyBefore = this.#keyOf(row);
  }

  afterChange(row: T): void {
    const before = this.#keyBefore;
    const after = this.#keyOf(row);
    if (before === after) return;
    this.#removeUnder(before, row);
    this.#addUnder(after, row);
  }

  #addUnder(key: IndexKey, row: T): void {
    if (typeof key === 'string') this.#addOne(key, row);
    else if (key !== undefined) for (const each of key) this.#addOne(each, row);
  }

  #removeUnder(key: IndexKey, row: T): void {
    if (typeof key === 'string') this.#removeOne(key, row);
    else if (key !== undefined) for (const each of key) this.#removeOne(each, row);
  }

  #addOne(key: string, row: T): void {
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) this.#buckets.set(key, row);
    else if (bucket instanceof Set) bucket.add(row);
    else if (bucket !== row) this.#buckets.set(key, new Set([bucket, row]));
  }

  #removeOne(key: string, row: T): void {
    const bucket = this.#buckets.get(key);
    if (bucket instanceof Set) {
      bucket.delete(row);
      if (bucket.size === 0) this.#buckets.delete(key);
    } else if (bucket === row) {
      this.#buckets.delete(key);
    }
  }
}
