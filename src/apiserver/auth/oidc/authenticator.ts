import type { Clock, JsonObject } from '../../../machinery/index.ts';
import type { TokenAuthenticator, TokenOutcome } from '../authenticator.ts';
import { decodeJwt, type UnverifiedJwt } from '../jwt.ts';
import type { UserInfo } from '../user.ts';
import { IssuerKeys, type IssuerKeysOptions } from './issuer-keys.ts';
import { isSignedBy, type OidcAlgorithm } from './signatures.ts';

/** Options named like the `--oidc-…` flags of kube-apiserver. */
export interface OidcOptions {
  issuerUrl: string;
  clientId: string;
  /** default `sub` */
  usernameClaim?: string;
  /** default: the issuer followed by `#`, but none for `email`; `-` means no prefix */
  usernamePrefix?: string;
  groupsClaim?: string;
  groupsPrefix?: string;
  /** required claims and their values */
  requiredClaims?: Readonly<Record<string, string>>;
  /** default RS256 */
  signingAlgorithms?: readonly OidcAlgorithm[];
  /** PEM of the CA of the issuer's serving certificate */
  ca?: string;
}

export interface OidcAuthenticator {
  readonly authenticate: TokenAuthenticator;
  /** Returns a promise to wait for if the token names an unknown key. */
  prepare(token: string): Promise<void> | undefined;
  close(): void;
}

const leewayMs = 10_000;
/** go-oidc allows the same clock skew. */
const notBeforeLeewayMs = 5 * 60_000;
const remembered = 4096;
/** Reserved prefix for names that only this server assigns. */
const reserved = 'system:';

interface Accepted {
  readonly user: UserInfo;
  readonly expiresMs: number;
  readonly revision: number;
}

/** Authenticates the ID tokens of one OpenID Connect issuer. */
export function oidcAuthenticator(
  options: OidcOptions,
  deps: { clock: Clock; onError(message: string): void; fetch?: IssuerKeysOptions['fetch'] },
): OidcAuthenticator {
  const { issuerUrl, clientId, ca } = options;
  const { clock, onError, fetch } = deps;
  const algorithms = new Set<string>(options.signingAlgorithms ?? ['RS256']);
  const keys = new IssuerKeys({ issuerUrl, clock, onError, ...(ca !== undefined && { ca }), ...(fetch && { fetch }) });
  // The same token returns the same user object, because later caches use it as key.
  const accepted = new Map<string, Accepted>();

  const mine = (token: string): UnverifiedJwt | undefined => {
    const jwt = decodeJwt(token);
    return jwt?.claims['iss'] === issuerUrl ? jwt : undefined;
  };

  const judge = (jwt: UnverifiedJwt): { user: UserInfo; expiresMs: number } | { error: string } => {
    const algorithm = jwt.header['alg'];
    if (typeof algorithm !== 'string' || !algorithms.has(algorithm)) {
      return refuse(`the signing algorithm ${JSON.stringify(algorithm)} is not accepted`);
    }
    const candidates = keys.candidates(jwt.header['kid']);
    if (!candidates.some((key) => isSignedBy(jwt, key, algorithm as OidcAlgorithm))) {
      return refuse(keys.known ? 'failed to verify signature' : 'the keys of the issuer are not known yet');
    }
    const { aud, exp, nbf } = jwt.claims;
    const audiences = Array.isArray(aud) ? aud : [aud];
    if (!audiences.includes(clientId)) return refuse(`expected audience ${JSON.stringify(clientId)}`);
    if (typeof exp !== 'number') return refuse('it does not expire');
    if (clock.now() > exp * 1000 + leewayMs) return refuse('it has expired');
    if (typeof nbf === 'number' && clock.now() < nbf * 1000 - notBeforeLeewayMs) return refuse('it is not valid yet');
    for (const [claim, value] of Object.entries(options.requiredClaims ?? {})) {
      if (jwt.claims[claim] !== value) return refuse(`required claim ${claim} is missing or has another value`);
    }
    const user = userOf(jwt.claims, options);
    return 'error' in user ? user : { user, expiresMs: exp * 1000 + leewayMs };
  };

  const authenticate = (token: string, wanted?: readonly string[]): TokenOutcome => {
    const jwt = mine(token);
    if (!jwt) return undefined;
    if (wanted && !wanted.includes(clientId)) return refuse('it is for another audience');
    const known = accepted.get(token);
    if (known && known.revision === keys.revision && clock.now() <= known.expiresMs) return { user: known.user };
    accepted.delete(token);
    const verdict = judge(jwt);
    if ('error' in verdict) return verdict;
    const [oldest] = accepted.size >= remembered ? accepted.keys() : [];
    if (oldest !== undefined) accepted.delete(oldest);
    accepted.set(token, { ...verdict, revision: keys.revision });
    return { user: verdict.user };
  };

  return {
    authenticate,
    prepare: (token) => {
      const jwt = mine(token);
      return jwt && keys.seek(jwt.header['kid']);
    },
    close: () => keys.close(),
  };
}

function userOf(claims: JsonObject, options: OidcOptions): UserInfo | { error: string } {
  const claim = options.usernameClaim ?? 'sub';
  const name = claims[claim];
  if (typeof name !== 'string' || name === '') return refuse(`claim ${claim} is missing or no text`);
  const verified = claims['email_verified'];
  if (claim === 'email' && verified !== undefined && verified !== true) return refuse('the email is not verified');
  const prefix = options.usernamePrefix ?? (claim === 'email' ? '' : `${options.issuerUrl}#`);
  const username = `${prefix === '-' ? '' : prefix}${name}`;
  if (username.startsWith(reserved)) return refuse(`user names that begin with ${reserved} are reserved`);
  return { name: username, groups: groupsOf(claims, options) };
}

/** Reads a string or a list of strings. An external issuer cannot assign the groups of the cluster itself. */
function groupsOf(claims: JsonObject, { groupsClaim, groupsPrefix = '' }: OidcOptions): string[] {
  if (groupsClaim === undefined) return [];
  const value = claims[groupsClaim];
  const groups = typeof value === 'string' ? [value] : Array.isArray(value) ? value : [];
  return groups
    .filter((group) => typeof group === 'string' && group !== '')
    .map((group) => `${groupsPrefix}${String(group)}`)
    .filter((group) => !group.startsWith(reserved));
}

function refuse(reason: string): { error: string } {
  return { error: `oidc: ${reason}` };
}
