import { statusError } from '../../machinery/index.ts';

const tokenVersion = 'meta.k8s.io/v1';

/** Opaque to clients: the snapshot's revision (-1 for "newest, consistency lost") and the last key already sent. */
export function encodeContinue(revision: number, lastKey: string, prefix: string): string {
  const token = { v: tokenVersion, rv: revision, start: lastKey.slice(prefix.length) };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

export function decodeContinue(text: string, prefix: string): { revision: number; startKey: string } {
  try {
    const token = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Record<string, unknown>;
    const { v, rv, start } = token;
    if (v === tokenVersion && typeof rv === 'number' && Number.isInteger(rv) && rv !== 0 && typeof start === 'string') {
      return { revision: rv, startKey: prefix + start };
    }
  } catch {
    // falls through to the one answer for every malformed token
  }
  throw statusError.badRequest('invalid continue token: continue key is not valid');
}
