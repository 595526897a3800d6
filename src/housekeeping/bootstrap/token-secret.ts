import type { Secret } from '../../api/index.ts';
import type { InformerScope } from '../../client/index.ts';
import { parseRfc3339 } from '../../machinery/index.ts';

/** selects only the Secrets that hold bootstrap tokens */
export const tokenScope: InformerScope = {
  namespace: 'kube-system',
  fieldSelector: 'type=bootstrap.kubernetes.io/token',
};

const namePattern = /^bootstrap-token-([a-z0-9]{6})$/;

export interface SigningToken {
  id: string;
  secret: string;
}

/** Time at which a token expires; undefined when it never expires. An unreadable date counts as expired long ago. */
export function expirationOf(secret: Secret): number | undefined {
  const text = textOf(secret, 'expiration');
  return text === '' ? undefined : (parseRfc3339(text) ?? 0);
}

/** Returns the token if it is complete, not expired and enabled for signing. */
export function signingTokenOf(secret: Secret, nowMs: number): SigningToken | undefined {
  const id = namePattern.exec(secret.metadata.name ?? '')?.[1];
  const token = textOf(secret, 'token-secret');
  if (id === undefined || textOf(secret, 'token-id') !== id || token === '') return undefined;
  if ((expirationOf(secret) ?? Number.POSITIVE_INFINITY) <= nowMs) return undefined;
  return textOf(secret, 'usage-bootstrap-signing') === 'true' ? { id, secret: token } : undefined;
}

function textOf(secret: Secret, key: string): string {
  return Buffer.from(secret.data?.[key] ?? '', 'base64').toString('utf8');
}
