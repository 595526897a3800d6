import type { TLSSocket } from 'node:tls';
import { anonymousUser, type UserInfo, withAuthenticatedGroup } from './user.ts';

/** What one kind of token says of a token: its user, why it is refused, or (undefined) that it is not of this kind. */
export type TokenOutcome = { user: UserInfo; audiences?: readonly string[] } | { error: string } | undefined;

/** `audiences` are those the caller demands; absent means the API server's own. */
export type TokenAuthenticator = (token: string, audiences?: readonly string[]) => TokenOutcome;

export type CertificateOutcome = { user: UserInfo } | { error: string } | undefined;

/** Answers from the connection alone. */
export type CertificateAuthenticator = (socket: TLSSocket) => CertificateOutcome;

export interface Credentials {
  /** the Authorization header */
  readonly authorization: string | undefined;
  /** the TLS connection the request came by; absent for plain and in-process requests */
  readonly socket: TLSSocket | undefined;
}

export interface AuthenticatorOptions {
  certificates?: CertificateAuthenticator;
  /** asked in order; the first that knows the token answers */
  tokens?: readonly TokenAuthenticator[];
  /** requests without any credentials are system:anonymous instead of refused */
  anonymous?: boolean;
}

export interface Authenticator {
  /**
   * The user of a request; undefined means 401 Unauthorized. Answers without waiting: everything it needs is in memory.
   */
  authenticate(credentials: Credentials): UserInfo | undefined;
  /** for TokenReview: also tells why a token is refused */
  authenticateToken(token: string, audiences?: readonly string[]): Exclude<TokenOutcome, undefined>;
}

const bearer = /^\s*bearer +(\S+)\s*$/i;

/** The token of an Authorization header, undefined when it carries none. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : bearer.exec(authorization)?.[1];
}

/**
 * Puts the ways of proving an identity together. As upstream, a good certificate wins over a token, a bad credential never
 * falls back to anonymous, and whoever is known belongs to system:authenticated.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { certificates, tokens = [], anonymous = false } = options;
  // One object per credential's user, so that caches behind can key on it.
  const completed = new WeakMap<UserInfo, UserInfo>();
  const complete = (user: UserInfo): UserInfo => {
    let known = completed.get(user);
    if (known === undefined) {
      known = withAuthenticatedGroup(user);
      completed.set(user, known);
    }
    return known;
  };

  const authenticateToken: Authenticator['authenticateToken'] = (token, audiences) => {
    const errors: string[] = [];
    for (const authenticator of tokens) {
      const outcome = authenticator(token, audiences);
      if (outcome === undefined) continue;
      if ('user' in outcome) return { ...outcome, user: complete(outcome.user) };
      errors.push(outcome.error);
    }
    return {
      error: errors.length === 0 ? 'invalid bearer token' : `[${['invalid bearer token', ...errors].join(', ')}]`,
    };
  };

  return {
    authenticateToken,
    authenticate({ authorization, socket }): UserInfo | undefined {
      let refused = false;
      if (certificates !== undefined && socket !== undefined) {
        const outcome = certificates(socket);
        if (outcome !== undefined) {
          if ('user' in outcome) return complete(outcome.user);
          refused = true;
        }
      }
      const token = bearerToken(authorization);
      if (token !== undefined) {
        const outcome = authenticateToken(token);
        if ('user' in outcome) return outcome.user;
        refused = true;
      }
      return anonymous && !refused ? anonymousUser : undefined;
    },
  };
}
