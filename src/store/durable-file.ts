import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Writes a file under a temporary name and renames it once it is on disk, so readers never see a partial file. */
export async function writeDurably(path: string, write: (file: FileHandle) => Promise<void>): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    try {
      await write(file);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncDirectory(dirname(path));
}

/** Makes the creation or renaming of a file survive a power loss. */
export async function syncDirectory(path: string): Promise<void> {
  // Windows cannot open directories. Its file systems persist names with the sync of the file.
  if (process.platform === 'win32') return;
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
