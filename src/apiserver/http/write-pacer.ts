/**
 * Each write to a socket encrypts data and calls the kernel. This number keeps a turn of the loop well below ten
 * milliseconds.
 */
const writesPerTurn = 64;

/**
 * Spreads writes to many readers over several turns of the event loop, so that a change with thousands of watchers does
 * not block other requests. Writes keep their order.
 */
export class WritePacer {
  readonly #waiting: (() => void)[] = [];
  #left = writesPerTurn;
  #nextTurn = false;

  /** Runs the write at once, or in a later turn if the budget of this turn is used up. */
  run(write: () => void): void {
    if (this.#left > 0 && this.#waiting.length === 0) {
      this.#left--;
      this.#scheduleTurn();
      write();
      return;
    }
    this.#waiting.push(write);
    this.#scheduleTurn();
  }

  #scheduleTurn(): void {
    if (this.#nextTurn) return;
    this.#nextTurn = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#nextTurn = false;
    const share = this.#waiting.splice(0, writesPerTurn);
    this.#left = writesPerTurn - share.length;
    if (this.#waiting.length > 0) this.#scheduleTurn();
    for (const write of share) write();
  }
}

/** One pacer for the one event loop. */
export const writePacer: WritePacer = new WritePacer();
