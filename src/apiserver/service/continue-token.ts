import { statusError } from '../../machinery/index.ts';

const tokenVersion = 'meta.k8s.io/v1';

/** Lifetime of a continue token; kube-apiserver compacts old revisions after five minutes, too. */
export const continueTokenTtlMs: number = 5 * 60_000;

/** Position where a list continues. */
export interface ContinuePoint {
  /** revision of the snapshot, -1 for the newest state without consistency */
  revision: number;
  startKey: string;
  /** time of the first page, in milliseconds since the epoch */
  begunMs: number;
}

/** Encodes a continue token, which is opaque to clients. */
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
    // All malformed tokens get the same response.
  }
  throw statusError.badRequest('invalid continue token: continue key is not valid');
}
