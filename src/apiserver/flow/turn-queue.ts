import { must } from '../../machinery/index.ts';
import type { FlowUser } from './fair-pool.ts';

/** Time during which one turn of the event loop starts requests; the rest waits for the next turn. */
const turnMs = 20;
/** A turn shorter than this could have started more requests. */
const shortTurnMs = 5;
const maxBatch = 64;

export interface TurnQueueOptions {
  /** monotonic milliseconds */
  now(): number;
  /** calls back after other events, such as requests of administrators, had a chance to run */
  defer(callback: () => void): void;
}

/**
 * Starts requests in fair turns. No sender can block the event loop for longer than one of its requests takes, no
 * matter how many or how expensive they are. Each sender has its own queue, and senders take turns.
 */
export class TurnQueue {
  readonly #options: TurnQueueOptions;
  /** queues by sender, in the order of the senders' turns */
  readonly #lines = new Map<string, (() => void)[]>();
  #scheduled = false;
  #turnBegan = 0;
  #batch = 1;

  constructor(options: TurnQueueOptions) {
    this.#options = options;
  }

  /** Returns undefined to continue at once, otherwise a promise that resolves at the turn of this request. */
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
      // Moves the sender to the end, or removes it when its queue is empty.
      this.#lines.delete(key);
      must(line.shift(), 'line.shift()')();
      if (line.length > 0) this.#lines.set(key, line);
      return;
    }
  }
}
