import { statusError } from '../../machinery/index.ts';

const tokenVersion = 'meta.k8s.io/v1';

/** How long pages of one state are handed out; kube-apiserver forgets old states after five minutes. */
export const continueTokenTtlMs: number = 5 * 60_000;

/** Where a list goes on. */
export interface ContinuePoint {
  /** of the snapshot, -1 for "newest, consistency lost" */
  revision: number;
  /** the last key already sent */
  startKey: string;
  /** when the first page was sent, in milliseconds since the epoch */
  begunMs: number;
}

/** Opaque to clients. */
export function encodeContinue({ revision, startKey, begunMs }: ContinuePoint, prefix: string): string {
  const token = { v: tokenVersion, rv: revision, start: startKey.slice(prefix.length), t: begunMs };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

export function decodeContinue(text: string, prefix: string): ContinuePoint {
  try {
    const token = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Record<string, unknown>;
    const { v, rv, start, t } = token;
    if (v === tokenVersion && typeof rv === 'number' && Number.isInteger(rv) && rv !== 0 && typeof start === 'string') {
      return { revision: rv, startKey: prefix + start, begunMs: typeof t === 'number' ? t : 0 };
    }
  } catch {
    // falls through to the one answer for every malformed token
  }
  throw statusError.badRequest('invalid continue token: continue key is not valid');
}
