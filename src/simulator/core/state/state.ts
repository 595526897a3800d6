import { type Change, ChangeLog } from './change-log.ts';
import { asTableOf, type Row, Table, type TableOptions } from './table.ts';

export type CommitListener = (changes: readonly Change[]) => void;

/** Everything the cloud knows, in tables. Changes happen in transactions: all of a request's, or none. */
export class State {
  readonly #log = new ChangeLog();
  readonly #tables = new Map<string, Table<Row>>();
  readonly #listeners = new Set<CommitListener>();

  /** Declares a table; each name once. */
  table<T extends Row>(name: string, options?: TableOptions<T>): Table<T> {
    if (this.#tables.has(name)) throw new Error(`table ${name} is declared twice`);
    const table = new Table<T>(name, this.#log, options);
    this.#tables.set(name, asTableOf(table));
    return table;
  }

  tables(): IterableIterator<Table<Row>> {
    return this.#tables.values();
  }

  /** Runs `work` so that all its changes are kept, or none when it throws. */
  transact<R>(work: () => R): R {
    return this.#log.transact(work, (changes) => {
      if (this.#listeners.size === 0) return;
      const list = changes();
      for (const listener of this.#listeners) listener(list);
    });
  }

  /** Has something done once the running transaction is committed; at once when none runs. */
  afterCommit(work: () => void): void {
    this.#log.afterwards(work);
  }

  /** Hears of every committed change; the rows are live, so keep copies of what must not move. */
  onCommit(listener: CommitListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Puts back rows that were saved, in the order they were; a table this version does not know is refused. */
  load(changes: Iterable<Change>): void {
    for (const { table: name, id, row } of changes) {
      const table = this.#tables.get(name);
      if (!table) throw new Error(`the saved state has a table "${name}" this version does not know`);
      table.load(id, row);
    }
  }

  /** Every row there is. */
  *rows(): Generator<Change> {
    for (const table of this.#tables.values()) {
      for (const row of table.all()) yield { table: table.name, id: row.id, row };
    }
  }
}
