import type { Random } from '../../machinery/index.ts';
import type { OpenStackError, OpenStackErrorKind } from '../errors/openstack-error.ts';

/** How patient the client is. */
export interface Patience {
  /** how often a request is sent at most */
  readonly attempts: number;
  /** the first pause; each further one doubles */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** a cloud that asks for a longer pause than this is left to the caller's own back-off */
  readonly longestRetryAfterMs: number;
  /** how long a busy load balancer is waited for, in all; 0 leaves it to the caller */
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
  /** which requests may be sent again: all, or those that do no harm when they are carried out twice */
  readonly requests: 'any' | 'repeatable';
  /** only when the service can not have seen the request */
  readonly notSent?: boolean;
  /** only with one of these codes */
  readonly statuses?: readonly number[];
  readonly pause: 'backOff' | 'busy';
}

/** The one table that decides what is tried again. Everything that is not here goes to the caller at once. */
const rules: readonly RetryRule[] = [
  // Nothing was sent: the verb does not matter.
  { kind: 'network', requests: 'any', notSent: true, pause: 'backOff' },
  { kind: 'network', requests: 'repeatable', pause: 'backOff' },
  { kind: 'timeout', requests: 'repeatable', pause: 'backOff' },
  // Refused before any work was done.
  { kind: 'tooMany', requests: 'any', pause: 'backOff' },
  { kind: 'unavailable', requests: 'repeatable', statuses: [502, 503, 504], pause: 'backOff' },
  // Octavia takes one change at a time, each a second or so.
  { kind: 'immutable', requests: 'any', pause: 'busy' },
];

export interface Attempt {
  /** counted from 1 */
  readonly number: number;
  /** whether carrying the request out twice does no harm */
  readonly repeatable: boolean;
  /** time spent waiting so far */
  readonly waitedMs: number;
}

/** How long to wait before the next attempt; undefined when there shall be none. */
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
  // Each client waits a little differently, so that they do not all come back at once.
  const jitter = 0.5 + random.next() / 2;
  if (rule.pause === 'busy') {
    const pause = Math.min(2_000, 250 * 2 ** (attempt.number - 1)) * jitter;
    return attempt.waitedMs + pause > patience.immutableMs ? undefined : pause;
  }
  if (attempt.number >= patience.attempts) return undefined;
  if (failure.retryAfterMs !== undefined) {
    if (failure.retryAfterMs > patience.longestRetryAfterMs) return undefined;
    // Never earlier than asked.
    return failure.retryAfterMs + random.next() * Math.min(1_000, failure.retryAfterMs / 4 + 50);
  }
  return Math.min(patience.longestPauseMs, patience.firstPauseMs * 2 ** (attempt.number - 1)) * jitter;
}
