import type { ChangeLog } from './change-log.ts';
import { type IndexDefinition, TableIndex } from './table-index.ts';
import { type SumDefinition, TableSum } from './table-sum.ts';

/** What every row has: rows are found by it and journalled under it. */
export interface Row {
  readonly id: string;
}

/** What is computed from rows beside the table: told of every row that comes, goes, changes or is put back. */
export interface Derived<T extends Row> {
  added(row: Readonly<T>): void;
  removed(row: Readonly<T>): void;
  /** the columns it looks at; absent: any */
  readonly of?: readonly (keyof T)[];
}

export interface TableOptions<T extends Row> {
  /** name -> the key (or keys) a row is found under; undefined leaves the row out */
  readonly indexes?: Readonly<Record<string, IndexDefinition<T>>>;
  /** name -> group and amount: kept up to date with every change, so that a quota costs one look-up */
  readonly sums?: Readonly<Record<string, SumDefinition<T>>>;
  /** columns that earlier versions saved under another name: that name -> today's */
  readonly renamed?: Readonly<Record<string, keyof T>>;
  /** a changed row is removed and added; must not throw */
  readonly derived?: Derived<T>;
}

/** A table of more columns as one of those it shares with others: to read it, or to change what is shared. */
export function asTableOf<T extends Row, R extends T>(table: Table<R>): Table<T> {
  return table as unknown as Table<T>;
}

const nothing: ReadonlySet<never> = new Set<never>();

/**
 * Rows of one kind, by id and by index, in the order they were made.
 *
 * Rows are changed in place, and only through `update`: who holds a row sees its newest state. Two rules make undo and the
 * journal cheap: every key of the row's type is present from the start, and nested values are replaced, never changed.
 */
export class Table<T extends Row> {
  readonly name: string;
  readonly #rows = new Map<string, T>();
  readonly #indexes: readonly TableIndex<T>[];
  readonly #sums: readonly TableSum<T>[];
  readonly #derived: Derived<T> | undefined;
  readonly #renamed: readonly [saved: string, column: keyof T][];
  readonly #log: ChangeLog;
  #version = 0;

  constructor(name: string, log: ChangeLog, options: TableOptions<T> = {}) {
    this.name = name;
    this.#log = log;
    this.#indexes = Object.entries(options.indexes ?? {}).map(([key, definition]) => new TableIndex(key, definition));
    this.#sums = Object.entries(options.sums ?? {}).map(([key, definition]) => new TableSum(key, definition));
    this.#derived = options.derived;
    this.#renamed = Object.entries(options.renamed ?? {});
  }

  /** changes with every change: what was derived from the rows is good as long as this stays */
  get version(): number {
    return this.#version;
  }

  get size(): number {
    return this.#rows.size;
  }

  get(id: string): Readonly<T> | undefined {
    return this.#rows.get(id);
  }

  /** A row that must exist. */
  known(id: string): Readonly<T> {
    const row = this.#rows.get(id);
    if (!row) throw new Error(`${this.name} has no ${id}`);
    return row;
  }

  has(id: string): boolean {
    return this.#rows.has(id);
  }

  /** every row, oldest first */
  all(): IterableIterator<Readonly<T>> {
    return this.#rows.values();
  }

  /** the rows under a key of an index, oldest first */
  by(index: string, key: string): ReadonlySet<Readonly<T>> {
    return this.#index(index).rows(key) ?? nothing;
  }

  /** the oldest row under a key of an index */
  first(index: string, key: string): Readonly<T> | undefined {
    return this.#index(index).first(key);
  }

  count(index: string, key: string): number {
    return this.#index(index).count(key);
  }

  /** the keys of an index that have rows */
  keys(index: string): IterableIterator<string> {
    return this.#index(index).keys();
  }

  sum(name: string, key: string): number {
    for (const sum of this.#sums) if (sum.name === name) return sum.total(key);
    throw new Error(`table ${this.name} has no sum ${name}`);
  }

  insert(row: T): Readonly<T> {
    if (this.#rows.has(row.id)) throw new Error(`${this.name} ${row.id} exists already`);
    this.#link(row);
    this.#log.record(this, row.id, undefined);
    return row;
  }

  /** Changes a row that must exist. */
  update(id: string, changes: Partial<Omit<T, 'id'>>): Readonly<T> {
    const row = this.#rows.get(id);
    if (!row) throw new Error(`${this.name} ${id} does not exist`);
    this.#log.record(this, id, valuesBefore(row, changes));
    this.#assign(row, changes as Partial<T>);
    return row;
  }

  /** Removes a row; says whether it was there. */
  delete(id: string): boolean {
    const row = this.#rows.get(id);
    if (!row) return false;
    this.#log.record(this, id, row);
    this.#unlink(row);
    return true;
  }

  /** Undoes one change: nothing before means the row was made, otherwise it was deleted or had these values. */
  undo(id: string, before: Partial<T> | undefined): void {
    const row = this.#rows.get(id);
    if (before === undefined) {
      if (row) this.#unlink(row);
    } else if (row) {
      this.#assign(row, before);
    } else {
      // What was deleted was recorded whole.
      this.#link(before as T);
    }
  }

  /** Puts a row into the state it was saved in, where it stands; nothing means it was deleted. */
  load(id: string, change: T | undefined): void {
    const row = this.#rows.get(id);
    const saved = change && withTodaysColumns(change, this.#renamed);
    if (saved === undefined) {
      if (row) this.#unlink(row);
    } else if (row) {
      this.#assign(row, { ...blank(row, saved), ...saved });
    } else {
      this.#link(saved);
    }
  }

  #assign(row: T, changes: Partial<T>): void {
    this.#version++;
    const derived = this.#derived && concerns(this.#derived.of, changes) ? this.#derived : undefined;
    for (const index of this.#indexes) if (concerns(index.of, changes)) index.beforeChange(row);
    for (const sum of this.#sums) if (concerns(sum.of, changes)) sum.subtract(row);
    derived?.removed(row);
    Object.assign(row, changes);
    derived?.added(row);
    for (const sum of this.#sums) if (concerns(sum.of, changes)) sum.add(row);
    for (const index of this.#indexes) if (concerns(index.of, changes)) index.afterChange(row);
  }

  #link(row: T): void {
    this.#version++;
    this.#rows.set(row.id, row);
    for (const index of this.#indexes) index.add(row);
    for (const sum of this.#sums) sum.add(row);
    this.#derived?.added(row);
  }

  #unlink(row: T): void {
    this.#version++;
    this.#rows.delete(row.id);
    for (const index of this.#indexes) index.remove(row);
    for (const sum of this.#sums) sum.subtract(row);
    this.#derived?.removed(row);
  }

  #index(name: string): TableIndex<T> {
    for (const index of this.#indexes) if (index.name === name) return index;
    throw new Error(`table ${this.name} has no index ${name}`);
  }
}

/** Whether a change touches one of the columns; undefined stands for any. */
function concerns(columns: readonly PropertyKey[] | undefined, changes: object): boolean {
  if (columns === undefined) return true;
  for (const column of columns) if (column in changes) return true;
  return false;
}

function withTodaysColumns<T extends Row>(saved: T, renamed: readonly [string, keyof T][]): T {
  if (!renamed.some(([name]) => name in saved)) return saved;
  const todays = new Map<string, keyof T>(renamed);
  const columns = Object.entries(saved).map(([name, value]) => [todays.get(name) ?? name, value]);
  return Object.fromEntries(columns) as T;
}

/** Undefined for what a row has and its saved form has not: what had no value was not saved. */
function blank<T extends Row>(row: T, saved: T): Partial<T> {
  const extra: Partial<T> = {};
  for (const key in row) if (!(key in saved)) extra[key] = undefined as T[typeof key];
  return extra;
}

/** What a row has now where it is about to change. */
function valuesBefore<T extends Row>(row: T, changes: Partial<Omit<T, 'id'>>): Partial<T> {
  const before: Partial<T> = {};
  for (const key in changes) before[key as keyof T] = row[key as keyof T];
  return before;
}
