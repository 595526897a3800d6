/** Time that one request may run before it yields. */
const stretchMs = 10;

/** Lets other requests run while one request processes very many objects. */
export class Pace {
  #began = performance.now();

  /** Returns undefined to continue at once, otherwise a promise that resolves after other events were processed. */
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
