import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, systemClock } from '../machinery/index.ts';
import { lockDirectory } from './directory-lock.ts';
import { openLmdbFiles, putState, readObjects, readState, type StoreState, unreadableStore } from './lmdb-files.ts';
import { whyUnreadable } from './preflight.ts';
import { decodeRecord } from './record-format.ts';

export interface CheckReport {
  /** number of intact records */
  records: number;
  /** newest revision found */
  revision: number;
  /** keys of records with a wrong checksum */
  damaged: string[];
  /** problems of the store as a whole; empty if it is sound */
  problems: string[];
  /** the damage was removed */
  repaired: boolean;
  /** files with the bytes of removed records, for manual inspection */
  salvage: string[];
}

/**
 * Reads every record of a store that is not in use, and reports damage. With `repair`, damaged records are moved to
 * files beside the database, so that the rest can be served. Throws CAP_STORE_DAMAGED if the database itself cannot be
 * read.
 */
export async function checkStore(
  directory: string,
  { repair = false, clock = systemClock }: { repair?: boolean; clock?: Clock } = {},
): Promise<CheckReport> {
  const lock = await lockDirectory(directory);
  try {
    const problem = await whyUnreadable(directory);
    if (problem) throw unreadableStore(directory, problem);
    const files = await openLmdbFiles(directory);
    try {
      const damaged = new Map<string, Buffer>();
      const found: StoreState = { revision: 0, count: 0 };
      for (const { key, value } of readObjects(files, directory)) {
        const record = decodeRecord(key, value);
        if (record) {
          found.count++;
          found.revision = Math.max(found.revision, record.revision);
        } else {
          damaged.set(Buffer.from(key).toString(), value);
        }
      }
      const problems = [...damaged.keys()].map((key) => `the record of ${key} fails its checksum`);
      const state = stateOf(() => readState(files, directory), problems);
      if (state && state.count !== found.count + damaged.size) {
        problems.push(`it should have ${state.count} records, ${found.count + damaged.size} can be found`);
      }
      if (!state && found.count > 0) problems.push('it has records but no state');
      found.revision = Math.max(found.revision, state?.revision ?? 0);

      const salvage: string[] = [];
      if (repair && problems.length > 0) {
        for (const value of damaged.values()) {
          const path = join(directory, `damaged-${clock.now()}-${salvage.length}`);
          await writeFile(path, value, { mode: 0o600 });
          salvage.push(path);
        }
        await files.root.batch(() => {
          for (const key of damaged.keys()) void files.objects.remove(Buffer.from(key));
          putState(files, found);
        });
      }
      return {
        records: found.count,
        revision: found.revision,
        damaged: [...damaged.keys()],
        problems,
        repaired: repair && problems.length > 0,
        salvage,
      };
    } finally {
      await files.root.close();
    }
  } finally {
    await lock.release();
  }
}

function stateOf(read: () => StoreState | undefined, problems: string[]): StoreState | undefined {
  try {
    return read();
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}
