import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { BackupStore } from '../types.ts';

const unfinished = '.part';

/** Backups as files below a directory. */
export function directoryStore(directory: string): BackupStore {
  const pathOf = (name: string): string => join(directory, ...name.split('/'));
  return {
    async write(name, parts, signal) {
      const path = pathOf(name);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const temporary = `${path}${unfinished}`;
      try {
        const file = await open(temporary, 'w', 0o600);
        try {
          for await (const part of parts) {
            signal.throwIfAborted();
            await file.write(part);
          }
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(temporary, path);
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
    },
    async list(prefix) {
      const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
        throw error;
      });
      return entries
        .filter((entry) => entry.isFile() && !entry.name.endsWith(unfinished))
        .map((entry) => relative(directory, join(entry.parentPath, entry.name)).split(sep).join('/'))
        .filter((name) => name.startsWith(prefix))
        .sort();
    },
    read: (name, signal) => createReadStream(pathOf(name), { signal }) as AsyncIterable<Buffer>,
  };
}
