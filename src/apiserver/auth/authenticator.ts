import type { TLSSocket } from 'node:tls';
import { anonymousUser, type UserInfo, withAuthenticatedGroup } from './user.ts';

/** Result of one token authenticator: the user, an error, or undefined if the token is of another type. */
export type TokenOutcome = { user: UserInfo; audiences?: readonly string[] } | { error: string } | undefined;

/** `audiences` are the audiences that the caller requires; default: those of the API server. */
export type TokenAuthenticator = (token: string, audiences?: readonly string[]) => TokenOutcome;

export type CertificateOutcome = { user: UserInfo } | { error: string } | undefined;

/** Authenticates by the TLS connection alone. */
export type CertificateAuthenticator = (socket: TLSSocket) => CertificateOutcome;

export interface Credentials {
  /** the Authorization header */
  readonly authorization: string | undefined;
  /** TLS connection of the request; absent for plain and in-process requests */
  readonly socket: TLSSocket | undefined;
}

export interface AuthenticatorOptions {
  certificates?: CertificateAuthenticator;
  /** tried in order; the first one that knows the token decides */
  tokens?: readonly TokenAuthenticator[];
  /** requests without credentials become system:anonymous; otherwise they are refused */
  anonymous?: boolean;
}

export interface Authenticator {
  /** Returns the user of a request; undefined means 401 Unauthorized. Synchronous, because all data is in memory. */
  authenticate(credentials: Credentials): UserInfo | undefined;
  /** for TokenReview: also returns why a token is refused */
  authenticateToken(token: string, audiences?: readonly string[]): Exclude<TokenOutcome, undefined>;
}

const bearer = /^\s*bearer +(\S+)\s*$/i;

/** Extracts the bearer token from an Authorization header; undefined if there is none. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : bearer.exec(authorization)?.[1];
}

/**
 * Combines authenticators. As upstream, a valid certificate wins over a token, invalid credentials never fall back to
 * anonymous, and authenticated users belong to system:authenticated.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { certificates, tokens = [], anonymous = false } = options;
  // Keeps one object per user, so that later caches can use it as key.
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
