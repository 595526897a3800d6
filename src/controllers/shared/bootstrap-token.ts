import { type Secret, Secrets } from '../../api/index.ts';
import { type Client, objectKey, withOptimisticLock } from '../../client/index.ts';
import { formatTime, ignoreNotFound, isAlreadyExists, parseRfc3339, type Random } from '../../machinery/index.ts';
import { secretText } from './cluster-certificates/index.ts';
import { fieldManager } from './write-object.ts';

// Bootstrap tokens: Secrets in kube-system of a workload cluster with which machines join.

/** The parts of `id.secret`. */
export interface BootstrapToken {
  readonly id: string;
  readonly secret: string;
}

/** What a token permits, and its description. */
export interface TokenPurpose {
  /** keys of the Secret that are set to "true" */
  readonly usages: readonly string[];
  /** groups in addition to system:bootstrappers */
  readonly groups?: string;
  readonly description: string;
}

export const kubeadmTokenPurpose: TokenPurpose = {
  usages: ['usage-bootstrap-signing', 'usage-bootstrap-authentication'],
  groups: 'system:bootstrappers:kubeadm:default-node-token',
  description: 'made for a machine that joins',
};

export interface TokenAccess {
  /** client of the workload cluster */
  client: Client;
  nowMs: number;
  ttlMs: number;
  purpose: TokenPurpose;
  signal: AbortSignal;
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';
const tokenPattern = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const expirationKey = 'expiration';
const tokenNamespace = 'kube-system';

export function newToken(random: Random): BootstrapToken {
  return { id: random.text(6, alphabet), secret: random.text(16, alphabet) };
}

/** undefined if the text is not a token */
export function parseToken(text: string): BootstrapToken | undefined {
  const [, id, secret] = tokenPattern.exec(text) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

export const formatToken = ({ id, secret }: BootstrapToken): string => `${id}.${secret}`;

/** Check interval: two checks fit into the time before an extension is due, in case one fails. */
export const tokenCheckMs = (ttlMs: number): number => ttlMs / 3;

/** Remaining lifetime below which a token in use is extended. */
const extendBelowMs = (ttlMs: number): number => (ttlMs * 5) / 6;

/** Like `keepTokenAlive`, for a token that is probably new: creates it without a lookup. */
export async function introduceToken(access: TokenAccess, token: BootstrapToken): Promise<void> {
  const isNew = await createToken(access, token, access.nowMs + access.ttlMs);
  if (!isNew) await keepTokenAlive(access, token);
}

/** Ensures that the token exists in the workload cluster and stays valid: creates or extends it as needed. */
export async function keepTokenAlive(access: TokenAccess, token: BootstrapToken): Promise<void> {
  const { client, nowMs, ttlMs, signal } = access;
  const secret = await findToken(access, token);
  if (!secret) {
    await createToken(access, token, nowMs + ttlMs);
    return;
  }
  const expiresMs = tokenExpiry(secret);
  if (expiresMs !== undefined && expiresMs > nowMs + extendBelowMs(ttlMs)) return;
  const data = { [expirationKey]: base64(formatTime(nowMs + ttlMs)) };
  await client.patch(Secrets, objectKey(secret), 'merge', withOptimisticLock({ data }, secret), {
    fieldManager,
    signal,
  });
}

/**
 * Creates the token and returns whether it was new; an existing one stays unchanged. Without an expiry it lives until
 * it is removed.
 */
export async function createToken(
  { client, purpose, signal }: Pick<TokenAccess, 'client' | 'purpose' | 'signal'>,
  token: BootstrapToken,
  expiresMs: number | undefined,
): Promise<boolean> {
  try {
    await client.create(Secrets, tokenSecret(token, purpose, expiresMs), { fieldManager, signal });
    return true;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return false;
  }
}

export async function revokeToken(
  { client, signal }: Pick<TokenAccess, 'client' | 'signal'>,
  id: string,
): Promise<void> {
  await client.delete(Secrets, tokenKey(id), { signal }).catch(ignoreNotFound);
}

/** Tells whether a pool's token must be replaced: tokens for future machines are rotated at half their lifetime. */
export async function shouldRotate(access: TokenAccess, token: BootstrapToken): Promise<boolean> {
  const secret = await findToken(access, token);
  if (!secret) return true;
  const expiresMs = tokenExpiry(secret);
  return expiresMs !== undefined && expiresMs < access.nowMs + access.ttlMs / 2;
}

const tokenKey = (id: string): { namespace: string; name: string } => ({
  namespace: tokenNamespace,
  name: `bootstrap-token-${id}`,
});

function findToken({ client, signal }: TokenAccess, { id }: BootstrapToken): Promise<Secret | undefined> {
  return client.get(Secrets, tokenKey(id), { signal }).catch(ignoreNotFound);
}

function tokenExpiry(secret: Secret): number | undefined {
  const text = secretText(secret, expirationKey);
  return text === undefined ? undefined : parseRfc3339(text);
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

function tokenSecret(token: BootstrapToken, purpose: TokenPurpose, expiresMs: number | undefined): Secret {
  const values = {
    'token-id': token.id,
    'token-secret': token.secret,
    ...(expiresMs !== undefined && { [expirationKey]: formatTime(expiresMs) }),
    ...Object.fromEntries(purpose.usages.map((usage) => [usage, 'true'])),
    ...(purpose.groups !== undefined && { 'auth-extra-groups': purpose.groups }),
    description: purpose.description,
  };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: tokenKey(token.id),
    type: 'bootstrap.kubernetes.io/token',
    data: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, base64(value)])),
  };
}
