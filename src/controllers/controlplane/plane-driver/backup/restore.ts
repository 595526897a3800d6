import type { ObjectKey } from '../../../../client/index.ts';
import type { EtcdAdministrator, EtcdKey } from '../../etcd-client/types.ts';
import type { BackupStore, SnapshotReader } from '../types.ts';
import { isBoltFile, keysOfSnapshot, SnapshotError } from './bolt.ts';
import { backupPrefix } from './schedule.ts';

/** What only lives for a while; without the lease it came with it would never go away. */
const fleeting = /^\/[^/]+\/(events|masterleases)\//;
/** Requests under way at a time: etcd writes many at once as quickly as one. */
const together = 64;
/** Larger ones do not fit into the memory of a program that has other things to do. */
const maxBytes = 512 * 1024 ** 2;

export interface RestoreOptions {
  store: BackupStore;
  etcd: EtcdAdministrator;
  /** as `findBackup` found it */
  name: string;
  /** keys that begin with the first are stored below the second */
  rename?: { from: string; to: string };
  readers: readonly SnapshotReader[];
  signal: AbortSignal;
}

/** Puts what a backup holds into an etcd, in place of all that is in it. Safe to repeat: it begins anew. */
export async function restoreBackup(options: RestoreOptions): Promise<{ name: string; keys: number }> {
  const { store, etcd, name, signal } = options;
  const entries = await readSnapshot(await wholeOf(store.read(name, signal), name), options.readers);
  const wanted = entries
    .filter(({ key }) => !fleeting.test(key.toString('utf8')))
    .map((entry) => renamed(entry, options.rename));
  // nothing is deleted before all of it could be read
  await etcd.keys.deleteAll(signal);
  for (let at = 0; at < wanted.length; at += together) {
    await Promise.all(wanted.slice(at, at + together).map((entry) => etcd.keys.put(entry, signal)));
  }
  return { name, keys: wanted.length };
}

export interface BackupSearch {
  store: BackupStore;
  /** whether everything in the store may be read, not only what is the plane's */
  isOwn: boolean;
  /** `latest`, or its name below the plane's own place; where the whole store may be read, any name in it */
  backup: string;
  /** whose backup it is */
  plane: ObjectKey;
  signal: AbortSignal;
}

/** The whole name of a backup. Throws SnapshotError when there is none. */
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
