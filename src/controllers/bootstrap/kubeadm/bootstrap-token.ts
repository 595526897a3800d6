import { type Secret, Secrets } from '../../../api/index.ts';
import { type Client, objectKey, withOptimisticLock } from '../../../client/index.ts';
import { formatTime, ignoreNotFound, isAlreadyExists, parseRfc3339, type Random } from '../../../machinery/index.ts';
import { fieldManager, secretText } from '../../shared/index.ts';
import { BootstrapInputError } from '../common/machine-content.ts';

export const defaultTokenTtlMs: number = 15 * 60_000;

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';
const tokenPattern = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const expirationKey = 'expiration';

export interface TokenAccess {
  /** the workload API */
  client: Client;
  nowMs: number;
  ttlMs: number;
  signal: AbortSignal;
}

export function newToken(random: Random): string {
  return `${random.text(6, alphabet)}.${random.text(16, alphabet)}`;
}

/** How often tokens are looked at: twice within the time in which an extension is due, should one look fail. */
export const tokenCheckMs = (ttlMs: number): number => ttlMs / 3;

/** Less than this left, and a token that is still needed is extended. */
const extendBelowMs = (ttlMs: number): number => (ttlMs * 5) / 6;

/** The token is known to the workload cluster and good for a while: made, made anew or extended as needed. */
export async function keepTokenAlive(access: TokenAccess, token: string): Promise<void> {
  const { client, nowMs, ttlMs, signal } = access;
  const secret = await findToken(access, token);
  if (!secret) {
    await client
      .create(Secrets, tokenSecret(token, nowMs + ttlMs), { fieldManager, signal })
      .catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
      });
    return;
  }
  const expiresMs = expiryOf(secret);
  if (expiresMs !== undefined && expiresMs > nowMs + extendBelowMs(ttlMs)) return;
  const data = { [expirationKey]: base64(formatTime(nowMs + ttlMs)) };
  await client.patch(Secrets, objectKey(secret), 'merge', withOptimisticLock({ data }, secret), {
    fieldManager,
    signal,
  });
}

/** A pool needs tokens for machines to come: at half its life a token is followed by a new one. */
export async function shouldRotate(access: TokenAccess, token: string): Promise<boolean> {
  const secret = await findToken(access, token);
  if (!secret) return true;
  const expiresMs = expiryOf(secret);
  return expiresMs !== undefined && expiresMs < access.nowMs + access.ttlMs / 2;
}

function findToken({ client, signal }: TokenAccess, token: string): Promise<Secret | undefined> {
  return client
    .get(Secrets, { namespace: 'kube-system', name: tokenSecretName(token) }, { signal })
    .catch(ignoreNotFound);
}

function tokenParts(token: string): [id: string, secret: string] {
  const [, id, secret] = tokenPattern.exec(token) ?? [];
  if (id === undefined || secret === undefined) {
    throw new BootstrapInputError(
      'spec.joinConfiguration.discovery.bootstrapToken.token is not a token; remove it and one is made',
    );
  }
  return [id, secret];
}

const tokenSecretName = (token: string): string => `bootstrap-token-${tokenParts(token)[0]}`;

function expiryOf(secret: Secret): number | undefined {
  const text = secretText(secret, expirationKey);
  return text === undefined ? undefined : parseRfc3339(text);
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

function tokenSecret(token: string, expiresMs: number): Secret {
  const [id, secret] = tokenParts(token);
  const values = {
    'token-id': id,
    'token-secret': secret,
    [expirationKey]: formatTime(expiresMs),
    'usage-bootstrap-signing': 'true',
    'usage-bootstrap-authentication': 'true',
    'auth-extra-groups': 'system:bootstrappers:kubeadm:default-node-token',
    description: 'made for a machine that joins',
  };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: tokenSecretName(token), namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    data: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, base64(value)])),
  };
}
