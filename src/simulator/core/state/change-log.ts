import { must } from '../../../machinery/index.ts';
import { asTableOf, type Row, type Table } from './table.ts';

/** One row that changed: what it is now, or that it is gone. */
export interface Change {
  readonly table: string;
  readonly id: string;
  readonly row: Row | undefined;
}

interface Step {
  readonly table: Table<Row>;
  readonly id: string;
  /** nothing: it was made; otherwise the values it had where it changed, or all of a row that was deleted */
  readonly before: object | undefined;
}

/** Remembers what a request changed: to undo it when the request fails, to journal it when it succeeds. */
export class ChangeLog {
  #steps: Step[] = [];
  #afterwards: (() => void)[] = [];
  #depth = 0;

  record<T extends Row>(table: Table<T>, id: string, before: Partial<T> | undefined): void {
    if (this.#depth === 0) throw new Error(`${table.name} ${id} was changed outside of a transaction`);
    this.#steps.push({ table: asTableOf(table), id, before });
  }

  /** Has something done once the transaction is committed; not at all when it fails. */
  afterwards(work: () => void): void {
    if (this.#depth === 0) work();
    else this.#afterwards.push(work);
  }

  /**
   * Runs `work`; when it throws, nothing it changed remains. A transaction inside another joins it: it undoes its own part
   * when it fails and leaves the rest to the outer one.
   */
  transact<R>(work: () => R, onCommit: (changes: () => Change[]) => void): R {
    const start = this.#steps.length;
    const laterStart = this.#afterwards.length;
    let result: R;
    this.#depth++;
    try {
      result = work();
      if (this.#depth === 1 && this.#steps.length > 0) {
        const steps = this.#steps;
        this.#steps = [];
        onCommit(() => summarise(steps));
      }
    } catch (error) {
      this.#afterwards.length = laterStart;
      for (let i = this.#steps.length - 1; i >= start; i--) {
        const { table, id, before } = must(this.#steps[i], 'steps[i]');
        table.undo(id, before);
      }
      this.#steps.length = start;
      throw error;
    } finally {
      this.#depth--;
    }
    if (this.#depth === 0 && this.#afterwards.length > 0) {
      const list = this.#afterwards;
      this.#afterwards = [];
      for (const each of list) each();
    }
    return result;
  }
}

/** The last state of every row touched, in the order of the first touch. */
function summarise(steps: readonly Step[]): Change[] {
  const seen = new Map<Table<Row>, Set<string>>();
  const changes: Change[] = [];
  for (const { table, id } of steps) {
    let ids = seen.get(table);
    if (!ids) {
      ids = new Set();
      seen.set(table, ids);
    }
    if (ids.has(id)) continue;
    ids.add(id);
    changes.push({ table: table.name, id, row: table.get(id) });
  }
  return changes;
}
