/** Result of a reconcile: when to run again. Waiting is not an error; errors are thrown. */
export type Result = { kind: 'done' } | { kind: 'after'; ms: number; reason: string; patient?: true };

const nothingMore: Result = { kind: 'done' };

/** The desired state is reached; run again on the next change. */
export function done(): Result {
  return nothingMore;
}

/** Requeues after at most `ms`. `reason` names in a few words what is awaited. */
export function after(ms: number, reason: string): Result {
  return { kind: 'after', ms, reason };
}

/** Requeues like `after`, but then waits until there is no other work. For reconciles nobody waits for. */
export function afterPatiently(ms: number, reason: string): Result {
  return { kind: 'after', ms, reason, patient: true };
}

/** Returns the result with the earliest requeue, for reconciles of several steps. */
export function soonest(...results: readonly Result[]): Result {
  let best: Result = nothingMore;
  for (const result of results) {
    if (result.kind === 'after' && (best.kind === 'done' || result.ms < best.ms)) best = result;
  }
  return best;
}

/** An error that a retry cannot fix until the object changes. `reason` is CamelCase, as in a condition. */
export class TerminalError extends Error {
  readonly reason: string;

  constructor(reason: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'TerminalError';
    this.reason = reason;
  }
}
