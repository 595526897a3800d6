import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Secret, Secrets } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import { type Clock, formatTime, ignoreNotFound, parseRfc3339 } from '../../../machinery/index.ts';
import { latticeClusterLabel, latticeFieldManager } from '../names.ts';
import { ensureAccessNamespace } from '../self/access-namespace.ts';
import { enrolmentKey, linkTimes } from './names.ts';

/** Enrollment of a cluster at its parent: once with a token, afterwards with the public key used then. */
export interface Enrolment {
  /** SHA-256 of the token; the token itself is not stored */
  readonly tokenHash: string;
  readonly expiresAt: number;
  /** hash of the public key the token was used for; absent while unused */
  readonly usedFor?: string;
  /** hash of the public key that may open streams: that of the last used token */
  readonly keyHash?: string;
  /** base of an update */
  readonly secret?: Secret;
}

/** Result of checking a token. */
export type TokenVerdict = 'good' | 'unknown' | 'expired' | 'used';

const by = { fieldManager: latticeFieldManager };
const tokenBytes = 32;

export const sha256 = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex');

export const newToken = (): string => randomBytes(tokenBytes).toString('base64url');

/** Parses an enrollment from a live Secret, or from a cached one for unauthenticated requests. */
export function enrolmentOf(secret: Secret | undefined): Enrolment | undefined {
  const text = (name: string): string | undefined => {
    const value = secret?.data?.[name];
    return value === undefined || value === '' ? undefined : Buffer.from(value, 'base64').toString('utf8');
  };
  const tokenHash = text('token-sha256');
  if (secret === undefined || tokenHash === undefined) return undefined;
  const usedFor = text('used-for');
  const keyHash = text('agent-key-sha256');
  return {
    tokenHash,
    expiresAt: parseRfc3339(text('expiration') ?? '') ?? 0,
    ...(usedFor !== undefined && { usedFor }),
    ...(keyHash !== undefined && { keyHash }),
    secret,
  };
}

export async function readEnrolment(
  client: Client,
  cluster: string,
  signal: AbortSignal,
): Promise<Enrolment | undefined> {
  return enrolmentOf(await client.get(Secrets, enrolmentKey(cluster), { signal }).catch(ignoreNotFound));
}

/** Stores the hash of a token before the token is sent. The previous key stays valid until the token is used. */
export async function keepToken(
  client: Client,
  cluster: string,
  { token, nowMs, signal }: { token: string; nowMs: number; signal: AbortSignal },
): Promise<void> {
  const known = await client.get(Secrets, enrolmentKey(cluster), { signal }).catch(ignoreNotFound);
  const keyHash = enrolmentOf(known)?.keyHash;
  await write(client, cluster, known, signal, {
    tokenHash: sha256(token),
    expiresAt: nowMs + linkTimes.tokenMs,
    ...(keyHash !== undefined && { keyHash }),
  });
}

/** Creates a token; only the caller sees it. */
export async function renewToken(
  client: Client,
  cluster: string,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<{ token: string; expiresAt: number }> {
  const token = newToken();
  await ensureAccessNamespace(client, signal);
  await keepToken(client, cluster, { token, nowMs: clock.now(), signal });
  return { token, expiresAt: clock.now() + linkTimes.tokenMs };
}

/** Checks a token for a key. A retry with the same key, after a lost response, gets the same answer. */
export function judgeToken(
  enrolment: Enrolment | undefined,
  { token, keyHash, nowMs }: { token: string; keyHash?: string; nowMs: number },
): TokenVerdict {
  // compare with a dummy hash, so that timing does not reveal whether the cluster exists
  const isKnown = sameText(sha256(token), enrolment?.tokenHash ?? sha256(''));
  if (!isKnown || enrolment === undefined) return 'unknown';
  if (enrolment.usedFor !== undefined && enrolment.usedFor !== keyHash) return 'used';
  return nowMs < enrolment.expiresAt ? 'good' : 'expired';
}

/**
 * Records the key before the certificate is issued, so that a second key gets none. Rejects with a conflict on
 * concurrent use.
 */
export async function useToken(
  client: Client,
  cluster: string,
  { enrolment, keyHash, signal }: { enrolment: Enrolment; keyHash: string; signal: AbortSignal },
): Promise<void> {
  if (enrolment.usedFor === keyHash && enrolment.keyHash === keyHash) return;
  await write(client, cluster, enrolment.secret, signal, { ...enrolment, usedFor: keyHash, keyHash });
}

export async function forgetEnrolment(client: Client, cluster: string, signal: AbortSignal): Promise<void> {
  await client.delete(Secrets, enrolmentKey(cluster), { signal }).catch(ignoreNotFound);
}

const sameText = (one: string, other: string): boolean => timingSafeEqual(Buffer.from(one), Buffer.from(other));

async function write(
  client: Client,
  cluster: string,
  known: Secret | undefined,
  signal: AbortSignal,
  { tokenHash, expiresAt, usedFor = '', keyHash = '' }: Enrolment,
): Promise<void> {
  const texts = {
    'token-sha256': tokenHash,
    expiration: formatTime(expiresAt),
    'used-for': usedFor,
    'agent-key-sha256': keyHash,
  };
  const data = Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString('base64')]),
  );
  if (known) {
    await client.update(Secrets, { ...known, data }, { ...by, signal });
    return;
  }
  const metadata = { ...enrolmentKey(cluster), labels: { [latticeClusterLabel]: cluster } };
  const secret: Secret = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data };
  await client.create(Secrets, secret, { ...by, signal });
}
