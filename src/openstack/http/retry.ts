import type { Random } from '../../machinery/index.ts';
import type { OpenStackError, OpenStackErrorKind } from '../errors/openstack-error.ts';

/** Retry settings of the client. */
export interface Patience {
  /** maximum number of attempts */
  readonly attempts: number;
  /** first pause; each further pause doubles */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** if the cloud asks for a longer pause, the error goes to the caller's backoff */
  readonly longestRetryAfterMs: number;
  /** total time to wait for a busy load balancer; 0 leaves it to the caller */
  readonly immutableMs: number;
}

export const defaultPatience: Patience = {
  attempts: 4,
  firstPauseMs: 500,
  longestPauseMs: 8_000,
  longestRetryAfterMs: 30_000,
  immutableMs: 5_000,
};

interface RetryRule {
  readonly kind: OpenStackErrorKind;
  /** which requests may be retried: any, or only idempotent ones */
  readonly requests: 'any' | 'repeatable';
  /** only if the service cannot have seen the request */
  readonly notSent?: boolean;
  /** only with one of these codes */
  readonly statuses?: readonly number[];
  readonly pause: 'backOff' | 'busy';
}

/** The only table of retries. Failures without a rule go to the caller at once. */
const rules: readonly RetryRule[] = [
  // Nothing was sent, so the verb does not matter.
  { kind: 'network', requests: 'any', notSent: true, pause: 'backOff' },
  { kind: 'network', requests: 'repeatable', pause: 'backOff' },
  { kind: 'timeout', requests: 'repeatable', pause: 'backOff' },
  // Rejected before any work was done.
  { kind: 'tooMany', requests: 'any', pause: 'backOff' },
  { kind: 'unavailable', requests: 'repeatable', statuses: [502, 503, 504], pause: 'backOff' },
  // Octavia accepts one change at a time; each takes about a second.
  { kind: 'immutable', requests: 'any', pause: 'busy' },
];

export interface Attempt {
  /** one-based */
  readonly number: number;
  /** whether the request is idempotent */
  readonly repeatable: boolean;
  /** total time waited so far */
  readonly waitedMs: number;
}

/** Time to wait before the next attempt; undefined if there is none. */
export function pauseBefore(
  failure: OpenStackError,
  attempt: Attempt,
  patience: Patience,
  random: Random,
): number | undefined {
  const rule = rules.find(
    (candidate) =>
      candidate.kind === failure.kind &&
      (candidate.requests === 'any' || attempt.repeatable) &&
      (candidate.notSent !== true || failure.notSent) &&
      (candidate.statuses === undefined || candidate.statuses.includes(failure.status ?? 0)),
  );
  if (!rule) return undefined;
  // Jitter, so that clients do not retry at the same time.
  const jitter = 0.5 + random.next() / 2;
  if (rule.pause === 'busy') {
    const pause = Math.min(2_000, 250 * 2 ** (attempt.number - 1)) * jitter;
    return attempt.waitedMs + pause > patience.immutableMs ? undefined : pause;
  }
  if (attempt.number >= patience.attempts) return undefined;
  if (failure.retryAfterMs !== undefined) {
    if (failure.retryAfterMs > patience.longestRetryAfterMs) return undefined;
    // Never earlier than the cloud asked for.
    return failure.retryAfterMs + random.next() * Math.min(1_000, failure.retryAfterMs / 4 + 50);
  }
  return Math.min(patience.longestPauseMs, patience.firstPauseMs * 2 ** (attempt.number - 1)) * jitter;
}
