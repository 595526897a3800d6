/** how long one request works before it lets others have their turn */
const stretchMs = 10;

/** Lets others have their turn while one request works through very many objects. */
export class Pace {
  #began = performance.now();

  /** Undefined to go on at once, else a promise that resolves after other events have been served. */
  pause(): Promise<void> | undefined {
    if (performance.now() - this.#began < stretchMs) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        this.#began = performance.now();
        resolve();
      });
    });
  }
}
