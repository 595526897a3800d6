import { createHash } from 'node:crypto';
import { ArtifactError } from './errors.ts';

/** `sha256:` and 64 hexadecimal digits. */
export type Digest = `sha256:${string}`;

const shape = /^(?:sha256:)?([0-9a-fA-F]{64})$/;

export const isDigest = (text: string): boolean => /^sha256:[0-9a-f]{64}$/.test(text);

/** Parses a digest with or without algorithm prefix. */
export function readDigest(text: string, of: string): Digest {
  const found = shape.exec(text.trim());
  if (found) return `sha256:${(found[1] ?? '').toLowerCase()}`;
  throw new ArtifactError(
    'invalid',
    `${of} has the digest ${JSON.stringify(text.slice(0, 100))}, which is no SHA-256`,
    {
      hint: 'write 64 hexadecimal digits',
    },
  );
}

export function digestOf(bytes: Uint8Array): Digest {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** Throws if the content does not match the digest. */
export function checkDigest(bytes: Uint8Array, wanted: Digest, of: string): void {
  const found = digestOf(bytes);
  if (found === wanted) return;
  throw new ArtifactError('digest', `${of} has the digest ${found}, expected ${wanted}`, {
    hint: 'it was replaced or damaged on the way: compare with its publisher, then name the right digest',
  });
}
