/** A promise that was not kept. */
export class InvariantViolation extends Error {
  constructor(promise: string, detail: string) {
    super(`${promise}: ${detail}`);
    this.name = 'BrokenPromise';
  }
}
