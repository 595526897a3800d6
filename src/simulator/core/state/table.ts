import type { ChangeLog } from './change-log.ts';
import { type IndexDefinition, TableIndex } from './table-index.ts';
import { type SumDefinition, TableSum } from './table-sum.ts';

export interface Row {
  readonly id: string;
}

/**
 * Data derived from rows and kept outside the table. It is notified when a row is added, removed, changed or restored.
 */
export interface Derived<T extends Row> {
  added(row: Readonly<T>): void;
  removed(row: Readonly<T>): void;
  /** columns it reads; default: all */
  readonly of?: readonly (keyof T)[];
}

export interface TableOptions<T extends Row> {
  /** index name -> key or keys of a row; undefined excludes the row */
  readonly indexes?: Readonly<Record<string, IndexDefinition<T>>>;
  /** sum name -> group and amount; kept up to date with every change, so a quota check is one lookup */
  readonly sums?: Readonly<Record<string, SumDefinition<T>>>;
  /** columns with another name in data of earlier versions: old name -> current name */
  readonly renamed?: Readonly<Record<string, keyof T>>;
  /** a change is reported as removal and addition; must not throw */
  readonly derived?: Derived<T>;
}

/** Views a table with more columns as a table of the shared ones, to read or change those. */
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

  /** changes with every change of the table; data derived from the rows is valid while it stays the same */
  get version(): number {
    return this.#version;
  }

  get size(): number {
    return this.#rows.size;
  }

  get(id: string): Readonly<T> | undefined {
    return this.#rows.get(id);
  }

  /** Returns a row that must exist. */
  known(id: string): Readonly<T> {
    const row = this.#rows.get(id);
    if (!row) throw new Error(`${this.name} has no ${id}`);
    return row;
  }

  has(id: string): boolean {
    return this.#rows.has(id);
  }

  /** all rows, oldest first */
  all(): IterableIterator<Readonly<T>> {
    return this.#rows.values();
  }

  /** rows with a key of an index, oldest first */
  by(index: string, key: string): ReadonlySet<Readonly<T>> {
    return this.#index(index).rows(key) ?? nothing;
  }

  /** oldest row with a key of an index */
  first(index: string, key: string): Readonly<T> | undefined {
    return this.#index(index).first(key);
  }

  count(index: string, key: string): number {
    return this.#index(index).count(key);
  }

  /** keys of an index that have rows */
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

  /** Removes a row. Returns whether it existed. */
  delete(id: string): boolean {
    const row = this.#rows.get(id);
    if (!row) return false;
    this.#log.record(this, id, row);
    this.#unlink(row);
    return true;
  }

  /**
   * Rolls back one change. Without previous values the row was created; otherwise it was deleted or had these values.
   */
  undo(id: string, before: Partial<T> | undefined): void {
    const row = this.#rows.get(id);
    if (before === undefined) {
      if (row) this.#unlink(row);
    } else if (row) {
      this.#assign(row, before);
    } else {
      // A deletion records the whole row.
      this.#link(before as T);
    }
  }

  /** Sets a row to a saved state, keeping its position. Undefined means it was deleted. */
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

/** Reports whether a change affects one of the columns; undefined means any column. */
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

/** Returns undefined for columns that the saved row lacks, because columns without a value are not saved. */
function blank<T extends Row>(row: T, saved: T): Partial<T> {
  const extra: Partial<T> = {};
  for (const key in row) if (!(key in saved)) extra[key] = undefined as T[typeof key];
  return extra;
}

/** Returns the current values of the columns about to change. */
function valuesBefore<T extends Row>(row: T, changes: Partial<Omit<T, 'id'>>): Partial<T> {
  const before: Partial<T> = {};
  for (const key in changes) before[key as keyof T] = row[key as keyof T];
  return before;
}
