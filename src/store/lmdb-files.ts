import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { type Database, open, type RootDatabase, type Transaction } from 'lmdb';
import { CapstanError, errorMessage } from '../machinery/index.ts';
import { syncDirectory } from './durable-file.ts';

/** Metadata of the database, changed in the same transaction as the records. */
export interface StoreState {
  /** newest committed revision, including deletes */
  revision: number;
  /** number of records, to detect lost ones */
  count: number;
}

export interface LmdbFiles {
  root: RootDatabase<Buffer, Buffer>;
  /** decoder of the values in `objects` */
  decoder: ValueDecoder;
  objects: Database<Buffer, Buffer>;
  meta: Database<Buffer, Buffer>;
}

/** file names of LMDB */
export const dataFileNames: { data: string; lock: string } = { data: 'data.mdb', lock: 'lock.mdb' };

/** LMDB's limit with the default page size. */
export const maxKeyBytes = 1978;

const format = 1;
const stateKey = Buffer.from('state');
const stateSize = 17;

/**
 * Opens or creates the database. `overlappingSync: false` makes a resolved commit durable: LMDB then syncs the data
 * pages and writes the root with O_DSYNC before the commit returns. See docs/decisions/002-store.md.
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
      // Page gaps may contain bytes of other records. Only the owner can read the file.
      noMemInit: true,
    });
    const options = { encoding: 'binary' as const, keyEncoding: 'binary' as const };
    // The library supports `encoder` per database, but its types only for the root.
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
  // LMDB syncs the file but not its directory.
  await syncDirectory(directory);
  return files;
}

/** Returns undefined for a database that was never written. */
export function readState(files: LmdbFiles, directory: string, transaction?: Transaction): StoreState | undefined {
  const data = files.meta.get(stateKey, transaction && { transaction });
  if (data === undefined) return undefined;
  const found = data[0] ?? 0;
  if (found > format) {
    throw new CapstanError(
      'CAP_STORE_TOO_NEW',
      `the store in ${directory} has format ${found}, this program knows ${format}`,
      {
        hint: 'use the Capstan version that wrote it, or a newer one',
      },
    );
  }
  if (data.length !== stateSize || crc32(data.subarray(0, 13)) !== data.readUInt32BE(13)) {
    throw damagedStore(directory, 'its state record fails its checksum');
  }
  return { revision: data.readUIntBE(1, 6), count: data.readUIntBE(7, 6) };
}

/** Yields every object record in key order. Throws CAP_STORE_DAMAGED if the database cannot be read further. */
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

/** Must run inside the transaction that changes the records. */
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
    hint: 'restore the latest backup, or run `capstan store check --repair` to continue without the damaged records',
  });
}

/** Error for damage that repairing single records cannot fix. */
export function unreadableStore(directory: string, detail: string): CapstanError {
  return new CapstanError('CAP_STORE_DAMAGED', `cannot open the store in ${directory}: ${detail}`, {
    hint: 'restore the latest backup into an empty directory',
  });
}

/** Returns values that LMDB lends for the duration of a read. */
export interface ValueDecoder {
  /** values are valid only until the next read; otherwise each is a copy */
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
      // The `length` of a lent buffer is wrong. Only `size` is the length of the value.
      copy.set(lent.subarray(0, size));
      return copy;
    },
  };
}
