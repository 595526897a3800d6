import { createHash } from 'node:crypto';
import {
  type Clock,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type KubeObject,
  must,
} from '../../machinery/index.ts';
import type { TokenAuthenticator, TokenOutcome } from './authenticator.ts';
import type { SecretObject } from './bootstrap-tokens.ts';
import { decodeJwt, type JwtVerificationKey, verifyJwt } from './jwt.ts';
import { secretsEqual } from './static-tokens.ts';
import { parseServiceAccountUsername, serviceAccountGroups, serviceAccountUsername, type UserInfo } from './user.ts';

/** Looks up the current state of objects that tokens are bound to. */
export interface BoundObjectLookup {
  serviceAccount(namespace: string, name: string): KubeObject | undefined;
  secret(namespace: string, name: string): SecretObject | undefined;
  pod(namespace: string, name: string): KubeObject | undefined;
  node(name: string): KubeObject | undefined;
}

export interface ServiceAccountTokenOptions {
  /** the first one issues new tokens; all are accepted */
  issuers: readonly string[];
  keys: readonly JwtVerificationKey[];
  /** audiences of this API server */
  audiences: readonly string[];
  lookup: BoundObjectLookup;
  clock: Clock;
}

const legacyIssuer = 'kubernetes/serviceaccount';
/** Allowed clock skew between servers. */
const leewayMs = 60_000;
const rememberedTokens = 4096;

interface Reference {
  name: string;
  uid: string;
}

interface VerifiedToken {
  claims: JsonObject;
  /** created once, so that later caches can use the object as key */
  user: UserInfo;
}

const text = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');
const seconds = (value: JsonValue | undefined): number | undefined => (typeof value === 'number' ? value : undefined);

function reference(value: JsonValue | undefined): Reference | undefined {
  return isJsonObject(value) ? { name: text(value['name']), uid: text(value['uid']) } : undefined;
}

function audiencesOf(claims: JsonObject): string[] {
  const { aud } = claims;
  if (typeof aud === 'string') return [aud];
  return Array.isArray(aud) ? aud.filter((one) => typeof one === 'string') : [];
}

/** Tells whether an object was deleted, allowing for clock skew. */
function isDeleted(object: KubeObject, now: number): boolean {
  const { deletionTimestamp } = object.metadata;
  return deletionTimestamp !== undefined && Date.parse(deletionTimestamp) < now - leewayMs;
}

function checkTimes(claims: JsonObject, now: number): string | undefined {
  const expires = seconds(claims['exp']);
  const notBefore = seconds(claims['nbf']);
  const issued = seconds(claims['iat']);
  if (notBefore !== undefined && now + leewayMs < notBefore * 1000) return 'service account token is not valid yet';
  if (expires !== undefined && now - leewayMs > expires * 1000) return 'service account token has expired';
  if (issued !== undefined && now + leewayMs < issued * 1000) return 'service account token is issued in the future';
  return undefined;
}

function userOf(claims: JsonObject): UserInfo | undefined {
  const bound = claims['kubernetes.io'];
  if (!isJsonObject(bound)) return undefined;
  const account = reference(bound['serviceaccount']);
  const namespace = text(bound['namespace']);
  if (account === undefined || namespace === '' || account.name === '') return undefined;
  const pod = reference(bound['pod']);
  const node = reference(bound['node']);
  const id = text(claims['jti']);
  const extra: Record<string, string[]> = {};
  if (id !== '') extra['authentication.kubernetes.io/credential-id'] = [`JTI=${id}`];
  if (pod !== undefined) {
    extra['authentication.kubernetes.io/pod-name'] = [pod.name];
    extra['authentication.kubernetes.io/pod-uid'] = [pod.uid];
  }
  if (node !== undefined) {
    extra['authentication.kubernetes.io/node-name'] = [node.name];
    if (node.uid !== '') extra['authentication.kubernetes.io/node-uid'] = [node.uid];
  }
  return {
    name: serviceAccountUsername(namespace, account.name),
    uid: account.uid,
    groups: serviceAccountGroups(namespace),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

/** Returns why the objects that a token is bound to invalidate it. */
function boundObjectError(claims: JsonObject, lookup: BoundObjectLookup, now: number): string | undefined {
  const bound = claims['kubernetes.io'] as JsonObject;
  const namespace = text(bound['namespace']);
  const wanted = must(reference(bound['serviceaccount']), 'wanted');
  const account = lookup.serviceAccount(namespace, wanted.name);
  if (account === undefined) return `serviceaccounts "${wanted.name}" not found`;
  if (account.metadata.uid !== wanted.uid) {
    return `service account UID (${account.metadata.uid ?? ''}) does not match claim (${wanted.uid})`;
  }
  if (isDeleted(account, now)) return `service account ${namespace}/${wanted.name} has been deleted`;
  const pod = reference(bound['pod']);
  const secret = reference(bound['secret']);
  const node = reference(bound['node']);
  const checks: [Reference | undefined, string, (name: string) => KubeObject | undefined][] = [
    [secret, 'secret', (name) => lookup.secret(namespace, name)],
    [pod, 'pod', (name) => lookup.pod(namespace, name)],
    // The node of a pod is only informational, because pods may outlive their Node.
    [pod === undefined ? node : undefined, 'node', (name) => lookup.node(name)],
  ];
  for (const [claim, kind, find] of checks) {
    if (claim === undefined) continue;
    const object = find(claim.name);
    if (object === undefined || isDeleted(object, now)) return 'service account token has been invalidated';
    if (object.metadata.uid !== claim.uid) {
      return `${kind} UID (${object.metadata.uid ?? ''}) does not match service account ${kind} ref claim (${claim.uid})`;
    }
  }
  return undefined;
}

/**
 * Checks tokens in Secrets of type kubernetes.io/service-account-token, which are valid as long as the Secret exists.
 */
function checkLegacyToken(token: string, claims: JsonObject, lookup: BoundObjectLookup): TokenOutcome {
  const claim = (name: string): string => text(claims[`kubernetes.io/serviceaccount/${name}`]);
  const namespace = claim('namespace');
  const name = claim('service-account.name');
  const uid = claim('service-account.uid');
  const secretName = claim('secret.name');
  const subject = parseServiceAccountUsername(text(claims['sub']));
  if (subject?.namespace !== namespace || subject.name !== name) return { error: 'sub claim is invalid' };
  const secret = lookup.secret(namespace, secretName);
  if (secret === undefined || secret.metadata.deletionTimestamp !== undefined) {
    return { error: 'Token has been invalidated' };
  }
  if (!secretsEqual(Buffer.from(secret.data?.['token'] ?? '', 'base64').toString('utf8'), token)) {
    return { error: "Token does not match server's copy" };
  }
  const account = lookup.serviceAccount(namespace, name);
  if (account === undefined) return { error: `serviceaccounts "${name}" not found` };
  if (account.metadata.deletionTimestamp !== undefined) {
    return { error: `ServiceAccount ${namespace}/${name} has been deleted` };
  }
  if (account.metadata.uid !== uid) {
    return { error: `ServiceAccount UID (${account.metadata.uid ?? ''}) does not match claim (${uid})` };
  }
  if ((secret.metadata.labels?.['kubernetes.io/legacy-token-invalid-since'] ?? '') !== '') {
    return { error: `the token in secret ${namespace}/${secretName} has been marked invalid` };
  }
  return { user: { name: serviceAccountUsername(namespace, name), uid, groups: serviceAccountGroups(namespace) } };
}

/**
 * Accepts service account tokens of this server or of servers with the same keys. Signatures are checked once per
 * token. Expiry and bound objects are checked on every request, so deleting a pod or an account invalidates its tokens
 * at once.
 */
export function serviceAccountTokenAuthenticator(options: ServiceAccountTokenOptions): TokenAuthenticator {
  const { issuers, keys, lookup, clock } = options;
  const verified = new Map<string, VerifiedToken>();
  const legacyUsers = new Map<string, UserInfo>();

  /** The cache is keyed by a hash of the token, so it holds no credentials and lookups leak nothing by timing. */
  const remember = <T>(cache: Map<string, T>, key: string, value: T): T => {
    if (cache.size >= rememberedTokens) cache.clear();
    cache.set(key, value);
    return value;
  };

  return (token, requested = options.audiences): TokenOutcome => {
    const key = createHash('sha256').update(token).digest('base64');
    let known = verified.get(key);
    if (known === undefined) {
      const jwt = decodeJwt(token);
      if (jwt === undefined) return undefined;
      const issuer = text(jwt.claims['iss']);
      if (issuer !== legacyIssuer && !issuers.includes(issuer)) return undefined;
      if (!verifyJwt(jwt, keys)) return { error: 'invalid signature' };
      if (issuer === legacyIssuer) {
        const outcome = checkLegacyToken(token, jwt.claims, lookup);
        if (outcome === undefined || 'error' in outcome) return outcome;
        const user = legacyUsers.get(key) ?? remember(legacyUsers, key, outcome.user);
        const audiences = options.audiences.filter((audience) => requested.includes(audience));
        return audiences.length === 0 ? { error: audienceError(options.audiences, requested) } : { user, audiences };
      }
      const user = userOf(jwt.claims);
      if (user === undefined) return { error: 'service account token claims could not be validated' };
      known = remember(verified, key, { claims: jwt.claims, user });
    }
    const { claims, user } = known;
    const own = audiencesOf(claims);
    const audiences = own.filter((audience) => requested.includes(audience));
    if (audiences.length === 0) return { error: audienceError(own, requested) };
    const now = clock.now();
    const error = checkTimes(claims, now) ?? boundObjectError(claims, lookup, now);
    return error === undefined ? { user, audiences } : { error };
  };
}

function audienceError(own: readonly string[], requested: readonly string[]): string {
  const list = (values: readonly string[]): string => `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
  return `token audiences ${list(own)} is invalid for the target audiences ${list(requested)}`;
}
