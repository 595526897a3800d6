/** What a reconcile says about when to look again. Waiting is not failing: failures are thrown. */
export type Result = { kind: 'done' } | { kind: 'after'; ms: number; reason: string; patient?: true };

const nothingMore: Result = { kind: 'done' };

/** All is as desired; look again when something changes. */
export function done(): Result {
  return nothingMore;
}

/** Look again in `ms` at the latest; `reason` says what is being waited for, in a few words. */
export function after(ms: number, reason: string): Result {
  return { kind: 'after', ms, reason };
}

/** As `after`, but then not before there is nothing else to do: for looks that nobody waits for. */
export function afterPatiently(ms: number, reason: string): Result {
  return { kind: 'after', ms, reason, patient: true };
}

/** The result that looks again soonest: for reconciles made of several steps. */
export function soonest(...results: readonly Result[]): Result {
  let best: Result = nothingMore;
  for (const result of results) {
    if (result.kind === 'after' && (best.kind === 'done' || result.ms < best.ms)) best = result;
  }
  return best;
}

/** Trying again is useless until the object changes. `reason` is CamelCase, as in a condition. */
export class TerminalError extends Error {
  readonly reason: string;

  constructor(reason: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'TerminalError';
    this.reason = reason;
  }
}
