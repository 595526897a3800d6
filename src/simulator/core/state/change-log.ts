import { must } from '../../../machinery/index.ts';
import { asTableOf, type Row, type Table } from './table.ts';

/** A changed row: its current state, or its deletion. */
export interface Change {
  readonly table: string;
  readonly id: string;
  readonly row: Row | undefined;
}

interface Step {
  readonly table: Table<Row>;
  readonly id: string;
  /** undefined: the row was created; otherwise the previous values of changed columns, or the whole deleted row */
  readonly before: object | undefined;
}

/** Records the changes of a transaction, to roll them back on failure and to journal them on success. */
export class ChangeLog {
  #steps: Step[] = [];
  #afterwards: (() => void)[] = [];
  #depth = 0;

  record<T extends Row>(table: Table<T>, id: string, before: Partial<T> | undefined): void {
    if (this.#depth === 0) throw new Error(`${table.name} ${id} was changed outside of a transaction`);
    this.#steps.push({ table: asTableOf(table), id, before });
  }

  /** Runs work after the transaction commits, and not at all if it fails. */
  afterwards(work: () => void): void {
    if (this.#depth === 0) work();
    else this.#afterwards.push(work);
  }

  /**
   * Runs `work` and rolls its changes back if it throws. A nested transaction joins the outer one. If the nested one
   * fails, only its own changes are rolled back.
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

/** Returns the final state of every changed row, in the order of the first change. */
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
