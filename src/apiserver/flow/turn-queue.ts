import { must } from '../../machinery/index.ts';
import type { FlowUser } from './fair-pool.ts';

/** how long requests of one turn of the event loop are begun one after the other before the rest has to wait */
const turnMs = 20;
/** a turn shorter than this had room for more */
const shortTurnMs = 5;
const maxBatch = 64;

export interface TurnQueueOptions {
  /** milliseconds that never go back */
  now(): number;
  /** calls back once other events, such as requests of administrators, have had their chance */
  defer(callback: () => void): void;
}

/**
 * Lets requests begin in turns, so that those of one sender, however many and however expensive, keep the event loop from
 * others for no longer than one of them takes. Senders wait in line one behind the other, each with a line of their own.
 */
export class TurnQueue {
  readonly #options: TurnQueueOptions;
  /** in the order in which senders have their turn */
  readonly #lines = new Map<string, (() => void)[]>();
  #scheduled = false;
  #turnBegan = 0;
  #batch = 1;

  constructor(options: TurnQueueOptions) {
    this.#options = options;
  }

  /** Undefined to go on at once, else a promise that resolves when it is this request's turn. */
  wait({ key, class: flowClass }: FlowUser): Promise<void> | undefined {
    if (flowClass === 'exempt') return undefined;
    if (!this.#scheduled) this.#schedule();
    if (this.#lines.size === 0 && this.#options.now() - this.#turnBegan < turnMs) return undefined;
    return new Promise((resolve) => {
      const line = this.#lines.get(key);
      if (line) line.push(resolve);
      else this.#lines.set(key, [resolve]);
    });
  }

  #schedule(): void {
    this.#scheduled = true;
    this.#turnBegan = this.#options.now();
    this.#options.defer(() => this.#nextTurn());
  }

  #nextTurn(): void {
    this.#scheduled = false;
    if (this.#lines.size === 0) return;
    const short = this.#options.now() - this.#turnBegan < shortTurnMs;
    this.#batch = short ? Math.min(this.#batch * 2, maxBatch) : 1;
    this.#schedule();
    for (let i = 0; i < this.#batch; i++) this.#beginOne();
  }

  #beginOne(): void {
    for (const [key, line] of this.#lines) {
      // To the end of the order, or out of it.
      this.#lines.delete(key);
      must(line.shift(), 'line.shift()')();
      if (line.length > 0) this.#lines.set(key, line);
      return;
    }
  }
}
