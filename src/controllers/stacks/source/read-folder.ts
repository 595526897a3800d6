import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { ReleaseFiles } from '../release/documents.ts';
import { StackReleaseError } from '../release/release-error.ts';

const maxFiles = 5_000;
const maxBytes = 64 * 1024 * 1024;

/** Reads all files of a folder by relative path. Symbolic links are not followed. */
export async function readFolder(folder: string, signal: AbortSignal): Promise<ReleaseFiles> {
  const files = new Map<string, Uint8Array>();
  let bytes = 0;
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  signal.throwIfAborted();
  for (const entry of entries.sort((a, b) => (join(a.parentPath, a.name) < join(b.parentPath, b.name) ? -1 : 1))) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const content = await readFile(file, { signal });
    bytes += content.length;
    if (files.size >= maxFiles || bytes > maxBytes) {
      throw new StackReleaseError(`${folder} has more than ${maxFiles} files or ${maxBytes} bytes`);
    }
    files.set(relative(folder, file).split(sep).join('/'), content);
  }
  return files;
}
