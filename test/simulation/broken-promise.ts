/** A violated invariant. */
export class InvariantViolation extends Error {
  constructor(promise: string, detail: string) {
    super(`${promise}: ${detail}`);
    this.name = 'BrokenPromise';
  }
}
