import { createHash, timingSafeEqual } from 'node:crypto';
import type { TokenAuthenticator, TokenOutcome } from './authenticator.ts';
import type { UserInfo } from './user.ts';

export interface StaticToken {
  token: string;
  user: UserInfo;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Equality of secrets that takes as long for a near miss as for a wild guess, and does not tell lengths apart. */
export function secretsEqual(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

/** A fixed list of tokens. All are compared every time, so that the time taken tells nothing. */
export function staticTokenAuthenticator(tokens: readonly StaticToken[]): TokenAuthenticator {
  const entries = tokens.map(({ token, user }) => ({ digest: digest(token), user }));
  return (token): TokenOutcome => {
    const wanted = digest(token);
    let found: UserInfo | undefined;
    for (const entry of entries) if (timingSafeEqual(entry.digest, wanted)) found = entry.user;
    return found === undefined ? undefined : { user: found };
  };
}
