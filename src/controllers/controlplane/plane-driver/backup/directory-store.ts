import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { must } from '../../../../machinery/index.ts';
import type { BackupStore } from '../types.ts';
import { BackupStoreError } from './s3-store.ts';

const unfinished = '.part';
/** Names have three parts: namespace, plane, file. */
const depth = 3;

/**
 * Stores backups as files `<root>/<namespace>/<plane>/<file>` in the operator's directory. Security: names come from
 * tenant objects, so they must not lead out of the root, and symbolic links below it are not followed.
 */
export function directoryStore(root: string): BackupStore {
  const directoryOf = async (segments: readonly string[]): Promise<string | undefined> => {
    let path = root;
    for (const segment of segments) {
      path = join(path, segment);
      const found = await lstat(path).catch(ignoreMissing);
      if (!found) return undefined;
      if (!found.isDirectory()) throw new BackupStoreError(`${segments.join('/')} below the backups is no directory`);
    }
    return path;
  };
  return {
    async write(name, parts, signal) {
      const segments = segmentsOf(name);
      const directories = segments.slice(0, -1);
      await mkdir(root, { recursive: true, mode: 0o700 });
      let path = root;
      for (const segment of directories) {
        path = join(path, segment);
        await mkdir(path, { mode: 0o700 }).catch(ignorePresent);
      }
      await directoryOf(directories);
      const target = join(path, must(segments.at(-1), 'segments.at(-1)'));
      const temporary = `${target}${unfinished}`;
      // left over from a crash; a symbolic link is removed itself, not its target
      await rm(temporary, { force: true });
      try {
        const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
        const file = await open(temporary, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
        try {
          for await (const part of parts) {
            signal.throwIfAborted();
            await writeAll(file, part);
          }
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(temporary, target);
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
    },
    async list(prefix) {
      if (!prefix.endsWith('/')) return [];
      const segments = segmentsOf(`${prefix}file`).slice(0, -1);
      const directory = await directoryOf(segments);
      if (directory === undefined) return [];
      const entries = await readdir(directory, { withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile() && !entry.name.endsWith(unfinished))
        .map((entry) => `${prefix}${entry.name}`)
        .sort();
    },
    async *read(name, signal) {
      const segments = segmentsOf(name);
      const directory = await directoryOf(segments.slice(0, -1));
      if (directory === undefined) throw new BackupStoreError(`there is no backup ${name}`);
      const file = await open(
        join(directory, must(segments.at(-1), 'segments.at(-1)')),
        constants.O_RDONLY | constants.O_NOFOLLOW,
      );
      try {
        for await (const part of file.createReadStream({ signal, autoClose: false })) yield part as Buffer;
      } finally {
        await file.close();
      }
    },
  };
}

async function writeAll(file: FileHandle, part: Buffer): Promise<void> {
  for (let at = 0; at < part.length; ) at += (await file.write(part, at)).bytesWritten;
}

const longestSegment = 253;

/** Splits a name and refuses path elements such as `..`. */
function segmentsOf(name: string): string[] {
  const segments = name.split('/');
  const isPlain = (segment: string): boolean =>
    segment.length <= longestSegment && /^[A-Za-z0-9][A-Za-z0-9._:-]*$/.test(segment);
  if (segments.length === depth && segments.every(isPlain)) return segments;
  throw new BackupStoreError(`${JSON.stringify(name)} is no name of a backup`, {
    hint: 'write it as it is listed below the directory of backups',
  });
}

function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}

function ignorePresent(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
}
