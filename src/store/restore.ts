import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CapstanError } from '../machinery/index.ts';
import { type BackupSummary, readBackup } from './backup.ts';
import { lockDirectory } from './directory-lock.ts';
import { syncDirectory } from './durable-file.ts';
import { lmdbEngine } from './lmdb-engine.ts';
import { dataFileNames } from './lmdb-files.ts';
import type { EngineWrite } from './types.ts';

export interface RestoreOptions {
  backupPath: string;
  directory: string;
  /** replace existing contents of the directory */
  force?: boolean;
}

const batchBytes = 4 * 1024 * 1024;

/**
 * Fills a data directory from a backup. The whole backup is verified before anything changes, and the new files are put
 * in place only once they are complete.
 */
export async function restoreBackup({ backupPath, directory, force = false }: RestoreOptions): Promise<BackupSummary> {
  const summary = await readBackup(backupPath, () => undefined);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const occupied = (await readdir(directory)).length > 0;
  if (occupied && !force) {
    throw new CapstanError('CAP_STORE_NOT_EMPTY', `the directory ${directory} is not empty`, {
      hint: 'name an empty directory, or use --force to replace the store in it',
    });
  }
  const lock = await lockDirectory(directory);
  const staging = join(directory, 'restore.tmp');
  try {
    await rm(staging, { recursive: true, force: true });
    await importBackup(backupPath, staging, summary.revision);
    await rm(join(directory, dataFileNames.lock), { force: true });
    await rename(join(staging, dataFileNames.data), join(directory, dataFileNames.data));
    await syncDirectory(directory);
    await rm(staging, { recursive: true, force: true });
  } finally {
    await lock.release();
  }
  return summary;
}

async function importBackup(backupPath: string, directory: string, revision: number): Promise<void> {
  const engine = await lmdbEngine({ directory });
  try {
    let batch: EngineWrite[] = [];
    let size = 0;
    await readBackup(backupPath, async ({ key, bytes, revision: recordRevision, createRevision }) => {
      batch.push({ type: 'put', key, value: bytes, revision: recordRevision, createRevision });
      size += bytes.length;
      if (size < batchBytes) return;
      await engine.import(batch, revision);
      batch = [];
      size = 0;
    });
    await engine.import(batch, revision);
  } finally {
    await engine.close();
  }
}
