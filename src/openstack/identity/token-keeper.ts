import type { Clock } from '../../machinery/index.ts';
import type { Authorizer } from '../http/exchange.ts';
import type { Log } from '../http/log.ts';
import type { TokenInfo } from './token.ts';

/** A token with its details. */
export interface IssuedToken {
  readonly value: string;
  readonly info: TokenInfo;
  /** by the local clock, which may differ from the cloud's */
  readonly expiresAt: number;
}

export interface TokenKeeperOptions {
  /** requests a token from keystone */
  issue(): Promise<IssuedToken>;
  /** reports whether keystone rejected the credential itself */
  isRefusal(error: unknown): boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** time during which a rejected credential is not tried again */
  readonly refusalMs: number;
}

/** Keeps one token valid for all users of the credential. */
export interface TokenKeeper extends Authorizer {
  current(signal?: AbortSignal): Promise<IssuedToken>;
}

/**
 * A token is renewed when a tenth of its lifetime remains, but between ten minutes and 30 seconds before it expires.
 */
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
        // Repeated attempts with a wrong password may lock the account.
        refusal = { error, until: clock.now() + options.refusalMs };
        held = undefined;
      } else if (stillGood) {
        // Keystone is unavailable but the token is still valid: keep it and retry later.
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

/** Stops waiting on abort. The awaited work continues for other callers. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
