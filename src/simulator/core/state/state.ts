import { type Change, ChangeLog } from './change-log.ts';
import { asTableOf, type Row, Table, type TableOptions } from './table.ts';

export type CommitListener = (changes: readonly Change[]) => void;

/** Complete state of the cloud, in tables. Changes happen in transactions, which are atomic. */
export class State {
  readonly #log = new ChangeLog();
  readonly #tables = new Map<string, Table<Row>>();
  readonly #listeners = new Set<CommitListener>();

  /** Declares a table with a unique name. */
  table<T extends Row>(name: string, options?: TableOptions<T>): Table<T> {
    if (this.#tables.has(name)) throw new Error(`table ${name} is declared twice`);
    const table = new Table<T>(name, this.#log, options);
    this.#tables.set(name, asTableOf(table));
    return table;
  }

  tables(): IterableIterator<Table<Row>> {
    return this.#tables.values();
  }

  /** Runs `work` in a transaction. If it throws, all its changes are rolled back. */
  transact<R>(work: () => R): R {
    return this.#log.transact(work, (changes) => {
      if (this.#listeners.size === 0) return;
      const list = changes();
      for (const listener of this.#listeners) listener(list);
    });
  }

  /** Runs work after the current transaction commits, or at once outside of transactions. */
  afterCommit(work: () => void): void {
    this.#log.afterwards(work);
  }

  /** Subscribes to committed changes. The rows are live and mutable, so listeners must copy what they keep. */
  onCommit(listener: CommitListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Loads saved rows in order. Refuses tables that this version does not know. */
  load(changes: Iterable<Change>): void {
    for (const { table: name, id, row } of changes) {
      const table = this.#tables.get(name);
      if (!table) throw new Error(`the saved state has a table "${name}" this version does not know`);
      table.load(id, row);
    }
  }

  /** Yields all rows. */
  *rows(): Generator<Change> {
    for (const table of this.#tables.values()) {
      for (const row of table.all()) yield { table: table.name, id: row.id, row };
    }
  }
}
