import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { isSealed, secretSealer } from '../../apiserver/index.ts';
import { CapstanError, isJsonObject } from '../../machinery/index.ts';
import { type ArchiveEntry, type ArchiveSecret, readBackup, writeArchive } from '../../store/index.ts';
import { manifestLayout, manifestName, type RecoveryManifest, sealingKeysName, storeName } from './manifest.ts';

export interface ArchiveSource {
  readonly dataDirectory: string;
  readonly encryptionKeyFile: string;
  /** fresh backup of the store */
  readonly storeBackup: string;
  /** whether a server uses the directory during the copy */
  readonly live: boolean;
  readonly server: string;
  readonly version: string;
  readonly createdAt: string;
}

export interface ArchiveReport {
  readonly records: number;
  readonly files: number;
  readonly missing: readonly string[];
}

/** Subdirectories with data that cannot be recreated: CAs, volumes and etcds of Pods, and the simulated cloud. */
const kept = ['pki', 'pods/volumes', 'pods/etcd', 'cloud'];
const passedOver = /(?:^|\/)(?:lock(?:\..*)?|lock\.mdb|reading)$|\.tmp$/;
const directoryDriver = 'directory.capstan.dev';

/** Writes all data of a management API to one sealed file. */
export async function createArchive(
  target: string,
  secret: ArchiveSecret,
  source: ArchiveSource,
): Promise<ArchiveReport> {
  await mustExist(source);
  const { records, missing } = await inspectStore(source);
  const files: string[] = [];
  for (const directory of kept) files.push(...(await filesBelow(join(source.dataDirectory, directory))));
  const copied = files.filter((file) => {
    // lmdb changes pages in place, so a copy of a running one may be inconsistent.
    const torn = source.live && file.endsWith(`${sep}data.mdb`);
    if (torn) missing.push(`${relative(source.dataDirectory, file)}: stop the server to have it in the archive`);
    return !torn;
  });
  const manifest: RecoveryManifest = {
    layout: manifestLayout,
    version: source.version,
    createdAt: source.createdAt,
    server: source.server,
    missing,
  };
  let count = 0;
  const entries = async function* (): AsyncGenerator<ArchiveEntry, void, undefined> {
    yield textEntry(manifestName, JSON.stringify(manifest));
    yield await fileEntry(storeName, source.storeBackup);
    yield await fileEntry(sealingKeysName, source.encryptionKeyFile);
    for (const file of copied) {
      const entry = await fileEntry(relative(source.dataDirectory, file).split(sep).join('/'), file).catch(gone);
      if (!entry) continue;
      count++;
      yield entry;
    }
  };
  await writeArchive(target, secret, entries());
  return { records, files: count + 2, missing };
}

async function mustExist({ dataDirectory, encryptionKeyFile }: ArchiveSource): Promise<void> {
  const there = async (path: string): Promise<boolean> =>
    await stat(path).then(
      () => true,
      () => false,
    );
  if (!(await there(join(dataDirectory, 'pki', 'ca.key')))) {
    throw new CapstanError(
      'CAP_USAGE',
      `${dataDirectory} contains no certificate authority: it is not the data directory of a management API`,
      {
        hint: '--data-dir names the directory `capstan up` was started with; run this on the computer it is on',
      },
    );
  }
  if (!(await there(encryptionKeyFile))) {
    throw new CapstanError('CAP_USAGE', `the key that encrypts Secrets is not at ${encryptionKeyFile}`, {
      hint: '--encryption-key-file names the one `capstan up` was started with',
    });
  }
}

/** Opens every sealed record with the included key, because a backup without the right key is useless. */
async function inspectStore({
  storeBackup,
  encryptionKeyFile,
}: ArchiveSource): Promise<{ records: number; missing: string[] }> {
  const sealer = await secretSealer({ keyFile: encryptionKeyFile });
  const missing: string[] = [];
  const { records } = await readBackup(storeBackup, ({ key, bytes }) => {
    if (isSealed(bytes)) sealer.open(key, bytes);
    else if (key.includes('/persistentvolumes/')) missing.push(...foreignVolume(bytes));
  });
  return { records, missing };
}

/** Lists volumes with contents outside the data directory, for example of an etcd or a workload. */
function foreignVolume(bytes: Uint8Array): string[] {
  let volume: unknown;
  try {
    volume = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return [];
  }
  if (!isJsonObject(volume) || !isJsonObject(volume['spec']) || !isJsonObject(volume['metadata'])) return [];
  const { csi, claimRef } = volume['spec'];
  if (isJsonObject(csi) && csi['driver'] === directoryDriver) return [];
  const claim = isJsonObject(claimRef) ? ` (claim ${String(claimRef['namespace'])}/${String(claimRef['name'])})` : '';
  return [
    `the contents of PersistentVolume ${String(volume['metadata']['name'])}${claim}: they lie outside the data directory`,
  ];
}

async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(gone);
  return (entries ?? [])
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter((file) => !passedOver.test(relative(directory, file).split(sep).join('/')))
    .sort();
}

async function fileEntry(path: string, file: string): Promise<ArchiveEntry> {
  const { size } = await stat(file);
  return {
    path,
    size,
    // A growing journal is copied up to its current size, so an unconfirmed commit may be missing.
    content: () => (size === 0 ? noBytes() : createReadStream(file, { end: size - 1 })),
  };
}

function textEntry(path: string, text: string): ArchiveEntry {
  const bytes = Buffer.from(text);
  return {
    path,
    size: bytes.length,
    async *content() {
      yield bytes;
    },
  };
}

async function* noBytes(): AsyncGenerator<Uint8Array, void, undefined> {}

/** Files deleted while the directory is read are skipped. */
function gone(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
  throw error;
}
