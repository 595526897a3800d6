import type { Clock } from '../../machinery/index.ts';
import type { Authorizer } from '../http/exchange.ts';
import type { Log } from '../http/log.ts';
import type { TokenInfo } from './token.ts';

/** A token and what it is good for. */
export interface IssuedToken {
  readonly value: string;
  readonly info: TokenInfo;
  /** on our own clock, which need not agree with the cloud's */
  readonly expiresAt: number;
}

export interface TokenKeeperOptions {
  /** asks keystone for a token */
  issue(): Promise<IssuedToken>;
  /** whether the credential itself is what keystone does not accept */
  isRefusal(error: unknown): boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** for how long a refused credential is not tried again */
  readonly refusalMs: number;
}

/** Keeps one token fresh for everybody who uses the credential. */
export interface TokenKeeper extends Authorizer {
  current(signal?: AbortSignal): Promise<IssuedToken>;
}

/** A token is renewed when a tenth of its life is left, but not later than this before its end, nor earlier than that. */
const latestRenewalMs = 30_000;
const earliestRenewalMs = 10 * 60_000;

export function createTokenKeeper(options: TokenKeeperOptions): TokenKeeper {
  const { clock, log } = options;
  let held: IssuedToken | undefined;
  let renewAt = 0;
  let renewing: Promise<IssuedToken> | undefined;
  let refusal: { error: unknown; until: number } | undefined;

  const renew = async (): Promise<IssuedToken> => {
    try {
      const token = await options.issue();
      const life = token.expiresAt - clock.now();
      renewAt = token.expiresAt - Math.min(earliestRenewalMs, Math.max(latestRenewalMs, life / 10));
      held = token;
      refusal = undefined;
      return token;
    } catch (error) {
      const stillGood = held !== undefined && held.expiresAt > clock.now() ? held : undefined;
      if (options.isRefusal(error)) {
        // Trying a wrong password again and again locks accounts.
        refusal = { error, until: clock.now() + options.refusalMs };
        held = undefined;
      } else if (stillGood) {
        // Keystone is away, the token is not: go on with it and ask again in a while.
        log.warn('openstack token could not be renewed, the present one is used on', { error });
        renewAt = clock.now() + latestRenewalMs;
        return stillGood;
      }
      throw error;
    }
  };

  const current = (signal?: AbortSignal): Promise<IssuedToken> => {
    const now = clock.now();
    if (held && now < renewAt) return Promise.resolve(held);
    if (refusal && now < refusal.until) return Promise.reject(refusal.error);
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
    return orAborted(renewing, signal);
  };

  return {
    current,
    token: async (signal) => (await current(signal)).value,
    refused(token) {
      if (held?.value === token) held = undefined;
    },
  };
}

/** Stops waiting when the signal says so; what is waited for goes on for the others. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
