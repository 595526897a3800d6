/** Every write to a socket encrypts and enters the kernel; this many keep a turn of the loop well below ten milliseconds. */
const writesPerTurn = 64;

/**
 * Spreads writes to many readers over turns of the event loop, so that a change thousands wait for does not hold up the
 * requests of everybody else. Writes happen in the order they were asked for.
 */
export class WritePacer {
  readonly #waiting: (() => void)[] = [];
  #left = writesPerTurn;
  #nextTurn = false;

  /** Calls back at once, or in one of the next turns when this one has had its share. */
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

/** There is one event loop, hence one pacer. */
export const writePacer: WritePacer = new WritePacer();
