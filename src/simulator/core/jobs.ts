import { type CancelTimer, type Clock, must } from '../../machinery/index.ts';
import type { State } from './state/state.ts';
import type { Row, Table } from './state/table.ts';

/** Work due at a time, as data. It is saved with the state and survives a restart. */
export interface Job extends Row {
  readonly due: number;
  readonly kind: string;
  /** usually the id of a resource; used to find and cancel jobs */
  readonly subject: string;
  readonly data: unknown;
}

interface Waiting {
  readonly due: number;
  readonly sequence: number;
  readonly id: string;
}

export interface JobsOptions {
  readonly state: State;
  readonly clock: Clock;
  /** called when a job throws; its changes are rolled back and it does not run again */
  readonly onError: (error: unknown, job: Job) => void;
}

/**
 * Queue of delayed work. It uses one heap and one timer of the clock for all jobs. Jobs due at the same time run in the
 * order of creation, each in its own transaction.
 */
export class Jobs {
  readonly #table: Table<Job>;
  readonly #state: State;
  readonly #clock: Clock;
  readonly #onError: JobsOptions['onError'];
  readonly #handlers = new Map<string, (job: Job) => void>();
  readonly #heap: Waiting[] = [];
  #sequence = 0;
  #done = 0;
  #timer: { due: number; cancel: CancelTimer } | undefined;
  #stopped = false;

  constructor(options: JobsOptions) {
    this.#state = options.state;
    this.#clock = options.clock;
    this.#onError = options.onError;
    this.#table = options.state.table<Job>('jobs', {
      indexes: { subject: { of: [], key: ({ subject }) => subject } },
    });
  }

  /** Registers the handler of a kind of job. */
  define<D = undefined>(kind: string, run: (subject: string, data: D) => void): void {
    if (this.#handlers.has(kind)) throw new Error(`job ${kind} is defined twice`);
    this.#handlers.set(kind, (job) => run(job.subject, job.data as D));
  }

  /** Schedules a job after `ms`. Must run inside a transaction. */
  schedule(ms: number, kind: string, subject: string, data?: unknown): void {
    if (!this.#handlers.has(kind)) throw new Error(`job ${kind} is not defined`);
    const due = this.#clock.now() + Math.max(0, ms);
    const sequence = ++this.#sequence;
    const id = String(sequence);
    this.#table.insert({ id, due, kind, subject, data });
    this.#push({ due, sequence, id });
    this.#arm();
  }

  /** Cancels all jobs of a kind for a subject. Must run inside a transaction. */
  cancel(kind: string, subject: string): void {
    for (const job of [...this.#table.by('subject', subject)]) if (job.kind === kind) this.#table.delete(job.id);
  }

  waiting(kind: string, subject: string): boolean {
    for (const job of this.#table.by('subject', subject)) if (job.kind === kind) return true;
    return false;
  }

  /** number of jobs run so far */
  get done(): number {
    return this.#done;
  }

  get size(): number {
    return this.#table.size;
  }

  /** Schedules the jobs of a loaded state. */
  resume(): void {
    for (const { id, due } of this.#table.all()) {
      const sequence = Number(id);
      this.#sequence = Math.max(this.#sequence, sequence);
      this.#push({ due, sequence, id });
    }
    this.#arm();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #arm(): void {
    const next = this.#heap[0];
    if (!next || this.#stopped) return;
    if (this.#timer) {
      if (this.#timer.due <= next.due) return;
      this.#timer.cancel();
    }
    const cancel = this.#clock.after(Math.max(0, next.due - this.#clock.now()), () => {
      this.#timer = undefined;
      this.#runDue();
    });
    this.#timer = { due: next.due, cancel };
  }

  #runDue(): void {
    const now = this.#clock.now();
    for (let next = this.#heap[0]; next && next.due <= now && !this.#stopped; next = this.#heap[0]) {
      this.#pop();
      const job = this.#table.get(next.id);
      // Cancelled, or created by a transaction that was rolled back.
      if (!job) continue;
      this.#done++;
      try {
        this.#state.transact(() => {
          this.#table.delete(job.id);
          this.#handlers.get(job.kind)?.(job);
        });
      } catch (error) {
        this.#state.transact(() => this.#table.delete(job.id));
        this.#onError(error, job);
      }
    }
    this.#arm();
  }

  #push(item: Waiting): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (isBefore(must(heap[parent], 'heap[parent]'), item)) break;
      heap[at] = must(heap[parent], 'heap[parent]');
      at = parent;
    }
    heap[at] = item;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = must(heap.pop(), 'heap.pop()');
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (
        child + 1 < heap.length &&
        isBefore(must(heap[child + 1], 'heap[child + 1]'), must(heap[child], 'heap[child]'))
      )
        child++;
      if (isBefore(last, must(heap[child], 'heap[child]'))) break;
      heap[at] = must(heap[child], 'heap[child]');
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(a: Waiting, b: Waiting): boolean {
  return a.due < b.due || (a.due === b.due && a.sequence < b.sequence);
}
