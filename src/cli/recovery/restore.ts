import { createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CapstanError, must } from '../../machinery/index.ts';
import { privateFileMode, readIfPresent, writeFileAtomic } from '../../pki/index.ts';
import { type ArchiveSecret, lockDirectory, readArchive, restoreBackup } from '../../store/index.ts';
import { manifestName, parseManifest, type RecoveryManifest, sealingKeysName, storeName } from './manifest.ts';

export interface RestoreArchiveOptions {
  readonly archive: string;
  readonly dataDirectory: string;
  readonly encryptionKeyFile: string;
  readonly secret: ArchiveSecret;
  /** replace the contents of the data directory */
  readonly force: boolean;
}

export interface RestoreArchiveReport {
  readonly manifest: RecoveryManifest;
  readonly records: number;
  readonly revision: number;
}

/** Working directory of a restore until it is complete. */
const stagingName = 'restoring';
/** Marker file during the replacement of files, which takes many steps. */
const swappingName = 'swapping';

/** Refuses a data directory whose restore was interrupted while files were replaced. */
export async function refuseHalfRestored(dataDirectory: string): Promise<void> {
  const marker = join(dataDirectory, stagingName, swappingName);
  if ((await readIfPresent(marker)) === undefined) return;
  throw new CapstanError('CAP_RESTORE_UNFINISHED', `a restore into ${dataDirectory} was interrupted`, {
    hint: 'run `capstan restore` again with the same archive',
  });
}

/**
 * Restores a data directory from an archive. The archive is unpacked and verified beside the existing data first, so an
 * interruption up to that point changes nothing. After a later interruption, the directory is refused until the restore
 * is repeated.
 */
export async function restoreArchive(options: RestoreArchiveOptions): Promise<RestoreArchiveReport> {
  const { dataDirectory, archive, secret, encryptionKeyFile, force } = options;
  const staging = join(dataDirectory, stagingName);
  const wasInterrupted = (await readIfPresent(join(staging, swappingName))) !== undefined;
  const present = (await readdir(dataDirectory).catch(nothing)).filter((name) => name !== stagingName);
  if (present.length > 0 && !force && !wasInterrupted) {
    throw new CapstanError('CAP_STORE_NOT_EMPTY', `the directory ${dataDirectory} is not empty`, {
      hint: 'name an empty directory, or use --force to replace what is in it',
    });
  }
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  // Locks out servers and other restores.
  const held = present.includes('store') ? await lockDirectory(join(dataDirectory, 'store')) : undefined;
  const lock = await lockDirectory(staging).catch(async (error: unknown) => {
    await held?.release();
    throw error;
  });
  try {
    const fresh = join(staging, 'new');
    const old = join(staging, 'old');
    if (!wasInterrupted) await rm(old, { recursive: true, force: true });
    await rm(fresh, { recursive: true, force: true });
    const manifest = await unpack(archive, secret, fresh);
    const { records, revision } = await restoreBackup({
      backupPath: join(fresh, storeName),
      directory: join(fresh, 'store'),
    });
    await rm(join(fresh, storeName));
    await rm(join(fresh, manifestName));
    await placeSealingKeys(join(fresh, sealingKeysName), encryptionKeyFile, force);
    await rm(join(fresh, sealingKeysName));

    await writeFile(join(staging, swappingName), archive, { mode: privateFileMode });
    await held?.release();
    await mkdir(old, { recursive: true, mode: 0o700 });
    for (const name of await readdir(dataDirectory)) {
      if (name === stagingName) continue;
      await rm(join(old, name), { recursive: true, force: true });
      await rename(join(dataDirectory, name), join(old, name));
    }
    for (const name of await readdir(fresh)) await rename(join(fresh, name), join(dataDirectory, name));
    // The directory is complete from here on.
    await rm(join(staging, swappingName));
    await lock.release();
    await rm(staging, { recursive: true, force: true });
    return { manifest, records, revision };
  } catch (error) {
    await held?.release();
    await lock.release();
    if (!(await isThere(join(staging, swappingName)))) await rm(staging, { recursive: true, force: true });
    throw error;
  }
}

/** Unpacks all entries below a directory; an archive with any damage is refused. */
async function unpack(archive: string, secret: ArchiveSecret, directory: string): Promise<RecoveryManifest> {
  let manifest: RecoveryManifest | undefined;
  for await (const entry of readArchive(archive, secret)) {
    const path = join(directory, ...entry.path.split('/'));
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await pipeline(Readable.from(entry.content()), createWriteStream(path, { mode: privateFileMode, flush: true }));
    if (entry.path === manifestName) manifest = parseManifest(await readFile(path, 'utf8'), archive);
  }
  const parts = [storeName, sealingKeysName, 'pki/ca.crt', 'pki/ca.key', 'pki/sa.key'];
  for (const part of parts) {
    if (manifest && (await isThere(join(directory, part)))) continue;
    throw new CapstanError('CAP_BACKUP_UNKNOWN', `${archive} is an incomplete archive: ${part} is missing`);
  }
  return must(manifest, 'the manifest');
}

/**
 * Installs the sealing key where `capstan up` reads it. A different existing key is kept, because it may be the only
 * way to open somebody's Secrets.
 */
async function placeSealingKeys(from: string, to: string, force: boolean): Promise<void> {
  const wanted = await readFile(from, 'utf8');
  const present = await readIfPresent(to);
  if (present === wanted) return;
  if (present !== undefined) {
    if (!force) {
      throw new CapstanError('CAP_STORE_NOT_EMPTY', `there is another key at ${to}`, {
        hint: 'name another place with --encryption-key-file, or use --force: the key that is there is kept as FILE.replaced',
      });
    }
    await writeFileAtomic(`${to}.replaced`, present, privateFileMode);
  }
  await writeFileAtomic(to, wanted, privateFileMode);
}

async function isThere(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}

function nothing(error: unknown): string[] {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
  throw error;
}
