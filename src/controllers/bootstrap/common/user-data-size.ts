import { gzipSync } from 'node:zlib';

/** What Nova takes of user data, after base64. */
export const novaUserDataLimit = 65_535;

const encodedSize = (bytes: number): number => Math.ceil(bytes / 3) * 4;

/**
 * Why user data does not fit into a server of OpenStack, whether it is sent as it is or compressed (cloud-init unpacks it);
 * undefined when it fits. Compressing is tried only when it matters.
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
