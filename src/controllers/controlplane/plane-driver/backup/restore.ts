import type { ObjectKey } from '../../../../client/index.ts';
import type { EtcdAdministrator, EtcdKey } from '../../etcd-client/types.ts';
import type { BackupStore, SnapshotReader } from '../types.ts';
import { isBoltFile, keysOfSnapshot, SnapshotError } from './bolt.ts';
import { backupPrefix } from './schedule.ts';

/** Short-lived keys. They are skipped: without their lease they would never expire. */
const fleeting = /^\/[^/]+\/(events|masterleases)\//;
/** Concurrent writes: etcd commits many as fast as one. */
const together = 64;
/** Larger snapshots do not fit into the memory of the shared process. */
const maxBytes = 512 * 1024 ** 2;

export interface RestoreOptions {
  store: BackupStore;
  etcd: EtcdAdministrator;
  /** full name as returned by `findBackup` */
  name: string;
  /** renames the key prefix `from` to `to` */
  rename?: { from: string; to: string };
  readers: readonly SnapshotReader[];
  signal: AbortSignal;
}

/** Replaces the content of an etcd with that of a backup. Safe to repeat, because it starts over. */
export async function restoreBackup(options: RestoreOptions): Promise<{ name: string; keys: number }> {
  const { store, etcd, name, signal } = options;
  const entries = await readSnapshot(await wholeOf(store.read(name, signal), name), options.readers);
  const wanted = entries
    .filter(({ key }) => !fleeting.test(key.toString('utf8')))
    .map((entry) => renamed(entry, options.rename));
  // delete only after the whole backup was read
  await etcd.keys.deleteAll(signal);
  for (let at = 0; at < wanted.length; at += together) {
    await Promise.all(wanted.slice(at, at + together).map((entry) => etcd.keys.put(entry, signal)));
  }
  return { name, keys: wanted.length };
}

export interface BackupSearch {
  store: BackupStore;
  /** whether the whole store may be read, not only the plane's own backups */
  isOwn: boolean;
  /** `latest`, or a name below the plane's prefix; if the whole store may be read, any name in it */
  backup: string;
  /** the plane that was backed up */
  plane: ObjectKey;
  signal: AbortSignal;
}

/** Returns the full name of a backup. Throws SnapshotError if there is none. */
export async function findBackup({ store, isOwn, backup, plane, signal }: BackupSearch): Promise<string> {
  const own = await store.list(backupPrefix(plane), signal);
  if (backup === 'latest') {
    const latest = own.at(-1);
    if (latest !== undefined) return latest;
    throw new SnapshotError(`there is no backup of ${plane.namespace ?? ''}/${plane.name} in the store`);
  }
  const found = own.find((name) => name === backup || name === `${backupPrefix(plane)}${backup}`);
  if (found !== undefined) return found;
  if (isOwn && (await store.list(backup, signal)).includes(backup)) return backup;
  throw new SnapshotError(`there is no backup ${backup} in the store`);
}

async function wholeOf(parts: AsyncIterable<Buffer>, name: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const part of parts) {
    bytes += part.length;
    if (bytes > maxBytes) throw new SnapshotError(`the backup ${name} is larger than ${maxBytes / 1024 ** 2} MiB`);
    chunks.push(part);
  }
  return Buffer.concat(chunks);
}

async function readSnapshot(file: Buffer, readers: readonly SnapshotReader[]): Promise<readonly EtcdKey[]> {
  if (isBoltFile(file)) return await keysOfSnapshot(file);
  for (const read of readers) {
    const keys = await read(file);
    if (keys) return keys;
  }
  throw new SnapshotError('this is no snapshot of etcd');
}

function renamed(entry: EtcdKey, rename: RestoreOptions['rename']): EtcdKey {
  if (!rename) return entry;
  const text = entry.key.toString('utf8');
  if (!text.startsWith(rename.from)) return entry;
  return { ...entry, key: Buffer.from(`${rename.to}${text.slice(rename.from.length)}`) };
}
