import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { type Database, open, type RootDatabase, type Transaction } from 'lmdb';
import { CapstanError, errorMessage } from '../machinery/index.ts';
import { syncDirectory } from './backup.ts';

/** What the database as a whole says about itself; changed in the same transaction as the records. */
export interface StoreState {
  /** newest revision committed, deletes included */
  revision: number;
  /** number of records: losing some to damage does not go unnoticed */
  count: number;
}

export interface LmdbFiles {
  root: RootDatabase<Buffer, Buffer>;
  /** of the values in `objects` */
  decoder: ValueDecoder;
  objects: Database<Buffer, Buffer>;
  meta: Database<Buffer, Buffer>;
}

/** names LMDB gives its files */
export const dataFileNames: { data: string; lock: string } = { data: 'data.mdb', lock: 'lock.mdb' };

/** LMDB's own limit with its default page size. */
export const maxKeyBytes = 1978;

const format = 1;
const stateKey = Buffer.from('state');
const stateSize = 17;

/**
 * Opens (or makes) the database. `overlappingSync: false` is what makes a resolved commit mean "on disk": LMDB then syncs the
 * data pages and writes the root with O_DSYNC before the commit returns. See docs/decisions/002-store.md.
 */
export async function openLmdbFiles(directory: string): Promise<LmdbFiles> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  let files: LmdbFiles;
  try {
    const root = open<Buffer, Buffer>({
      path: directory,
      noSubdir: false,
      maxDbs: 4,
      encoding: 'binary',
      keyEncoding: 'binary',
      overlappingSync: false,
      eventTurnBatching: false,
      compression: false,
      // Leaves other records' bytes in page gaps; the file is for its owner only.
      noMemInit: true,
    });
    const options = { encoding: 'binary' as const, keyEncoding: 'binary' as const };
    // The library reads `encoder` per database; its types know it for the root only.
    const decoder = valueDecoder();
    const objectOptions = { ...options, encoder: decoder };
    files = {
      root,
      decoder,
      objects: root.openDB<Buffer, Buffer>('objects', objectOptions),
      meta: root.openDB<Buffer, Buffer>('meta', options),
    };
  } catch (error) {
    throw unreadableStore(directory, errorMessage(error));
  }
  for (const name of Object.values(dataFileNames)) await chmod(join(directory, name), 0o600);
  // LMDB syncs the file but not the directory that names it.
  await syncDirectory(directory);
  return files;
}

/** Undefined for a database never written to. */
export function readState(files: LmdbFiles, directory: string, transaction?: Transaction): StoreState | undefined {
  const data = files.meta.get(stateKey, transaction && { transaction });
  if (data === undefined) return undefined;
  const found = data[0] ?? 0;
  if (found > format) {
    throw new CapstanError(
      'CAP_STORE_TOO_NEW',
      `the store in ${directory} has format ${found}, this program knows ${format}`,
      {
        hint: 'use the version of capstan that wrote it, or a newer one',
      },
    );
  }
  if (data.length !== stateSize || crc32(data.subarray(0, 13)) !== data.readUInt32BE(13)) {
    throw damagedStore(directory, 'its state record fails its checksum');
  }
  return { revision: data.readUIntBE(1, 6), count: data.readUIntBE(7, 6) };
}

/** Every object record in key order. Throws CAP_STORE_DAMAGED where the database cannot be read on. */
export function* readObjects(
  files: LmdbFiles,
  directory: string,
  transaction?: Transaction,
): Generator<{ key: Buffer; value: Buffer }> {
  try {
    yield* files.objects.getRange(transaction ? { transaction } : {});
  } catch (error) {
    throw unreadableStore(directory, errorMessage(error));
  }
}

/** Belongs inside the transaction that changes the records. */
export function putState(files: LmdbFiles, state: StoreState): void {
  const data = Buffer.allocUnsafe(stateSize);
  data.writeUInt8(format, 0);
  data.writeUIntBE(state.revision, 1, 6);
  data.writeUIntBE(state.count, 7, 6);
  data.writeUInt32BE(crc32(data.subarray(0, 13)), 13);
  void files.meta.put(stateKey, data);
}

export function damagedStore(directory: string, detail: string): CapstanError {
  return new CapstanError('CAP_STORE_DAMAGED', `the store in ${directory} is damaged: ${detail}`, {
    hint: 'restore the latest backup, or run `capstan store check --repair` to go on without the damaged records',
  });
}

/** Damage that no repair of single records can cure. */
export function unreadableStore(directory: string, detail: string): CapstanError {
  return new CapstanError('CAP_STORE_DAMAGED', `cannot open the store in ${directory}: ${detail}`, {
    hint: 'restore the latest backup into an empty directory',
  });
}

/** Hands out values as LMDB lends them for the moment of a read. */
export interface ValueDecoder {
  /** values live until the next read only; otherwise each is a copy of its own */
  lend: boolean;
  encode(value: Buffer): Buffer;
  decode(lent: Uint8Array, size: number): Buffer;
}

function valueDecoder(): ValueDecoder {
  let scratch = Buffer.alloc(0);
  return {
    lend: false,
    encode: (value) => value,
    decode(lent, size) {
      if (this.lend && scratch.length < size) scratch = Buffer.allocUnsafeSlow(Math.max(64 * 1024, size * 2));
      const copy = this.lend ? scratch.subarray(0, size) : Buffer.allocUnsafe(size);
      // What is lent says a `length` that is not its own: only `size` tells how much of it is the value.
      copy.set(lent.subarray(0, size));
      return copy;
    },
  };
}
