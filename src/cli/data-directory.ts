import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CapstanError, errorMessage } from '../machinery/index.ts';

/** Creates the data directory and refuses it if it is not writable. */
export async function prepareDataDirectory(directory: string): Promise<void> {
  const probe = join(directory, `.writable-${randomUUID()}`);
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await writeFile(probe, '', { flag: 'wx', mode: 0o600 });
    await rm(probe);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? '';
    throw new CapstanError(
      'CAP_DATA_DIRECTORY',
      `the data directory ${directory} cannot be written to: ${errorMessage(cause)}`,
      { hint: cures[code] ?? 'check the directory and its file system, or name another with --data-dir', cause },
    );
  }
}

const cures: Readonly<Record<string, string>> = {
  EACCES: 'give yourself the right to write there (chown, chmod), or name another directory with --data-dir',
  EPERM: 'give yourself the right to write there (chown, chmod), or name another directory with --data-dir',
  EROFS: 'the file system is read-only: name a directory on another with --data-dir',
  ENOSPC: 'the disk is full: make room, or name a directory on another with --data-dir',
  EDQUOT: 'your quota of the disk is used up: make room, or name a directory on another with --data-dir',
  ENOTDIR: 'a part of the path is a file: name another directory with --data-dir',
  EEXIST: 'there is a file of this name: name another directory with --data-dir',
};
