import { gzipSync } from 'node:zlib';

/** Nova's limit in bytes, after base64 encoding. */
export const novaUserDataLimit = 65_535;

const encodedSize = (bytes: number): number => Math.ceil(bytes / 3) * 4;

/**
 * Explains why user data is too large for Nova both plain and gzipped (cloud-init decompresses it); undefined if it
 * fits. Compresses only if the plain form is too large.
 */
export function userDataSizeProblem(userData: string): string | undefined {
  const plain = encodedSize(Buffer.byteLength(userData));
  if (plain <= novaUserDataLimit) return undefined;
  const compressed = encodedSize(gzipSync(userData).length);
  if (compressed <= novaUserDataLimit) return undefined;
  return (
    `the user data is ${plain} bytes after base64 and ${compressed} when compressed first; ` +
    `OpenStack takes ${novaUserDataLimit}: put less into spec.files, or fetch large files in a command`
  );
}
