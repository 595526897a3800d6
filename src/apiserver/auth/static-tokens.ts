import { createHash, timingSafeEqual } from 'node:crypto';
import type { TokenAuthenticator, TokenOutcome } from './authenticator.ts';
import type { UserInfo } from './user.ts';

export interface StaticToken {
  token: string;
  user: UserInfo;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares secrets in constant time, independent of content and length. */
export function secretsEqual(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

/** Authenticates by a fixed list of tokens. All tokens are compared each time, so that timing leaks nothing. */
export function staticTokenAuthenticator(tokens: readonly StaticToken[]): TokenAuthenticator {
  const entries = tokens.map(({ token, user }) => ({ digest: digest(token), user }));
  return (token): TokenOutcome => {
    const wanted = digest(token);
    let found: UserInfo | undefined;
    for (const entry of entries) if (timingSafeEqual(entry.digest, wanted)) found = entry.user;
    return found === undefined ? undefined : { user: found };
  };
}
