import { setImmediate as nextTurn } from 'node:timers/promises';
import { CapstanError, errorMessage, must } from '../machinery/index.ts';
import { type BackupRecord, writeBackup } from './backup.ts';
import { type DirectoryLock, lockDirectory } from './directory-lock.ts';
import {
  damagedStore,
  type LmdbFiles,
  maxKeyBytes,
  openLmdbFiles,
  putState,
  readObjects,
  readState,
  type StoreState,
  unreadableStore,
} from './lmdb-files.ts';
import { markReading, unmarkReading, whyUnreadableAtStart } from './preflight.ts';
import { decodeRecord, encodeRecordInto, mostEncodedBytes } from './record-format.ts';
import type { Engine, EngineWrite } from './types.ts';

/** Mapped size from which reopening the file is worthwhile. */
const worthwhileBytes = 32 * 1024 * 1024;

/** Opens the durable engine on its own directory. Throws CAP_STORE_LOCKED if another process has it open. */
export async function lmdbEngine({ directory }: { directory: string }): Promise<LmdbEngine> {
  const lock = await lockDirectory(directory);
  try {
    const problem = await whyUnreadableAtStart(directory);
    if (problem) throw unreadableStore(directory, problem);
    await markReading(directory);
    return new LmdbEngine(directory, lock, await openLmdbFiles(directory));
  } catch (error) {
    await lock.release();
    throw error;
  }
}

export class LmdbEngine implements Engine {
  readonly maxKeyBytes: number = maxKeyBytes;
  readonly #directory: string;
  readonly #lock: DirectoryLock;
  #files: LmdbFiles;
  #state: StoreState = { revision: 0, count: 0 };
  /** buffer the writing thread reads from; reusable once the commit ends, and commits are sequential */
  #scratch: Buffer = Buffer.allocUnsafeSlow(256 * 1024);
  /** upper bound of the memory that commits have mapped since the file was opened */
  #mappedBytes = 0;
  #backups = 0;
  #reopening: Promise<void> | undefined;
  /** reason why no further commit is safe */
  #broken: CapstanError | undefined;

  constructor(directory: string, lock: DirectoryLock, files: LmdbFiles) {
    this.#directory = directory;
    this.#lock = lock;
    this.#files = files;
  }

  async load(
    onRecord: (key: string, bytes: Uint8Array, revision: number, createRevision: number) => void,
  ): Promise<{ revision: number }> {
    const count = this.#readAll(onRecord);
    const state = readState(this.#files, this.#directory);
    if (!state && count > 0) throw damagedStore(this.#directory, 'it has records but no state');
    if (state) this.#state = state;
    if (count !== this.#state.count) {
      throw damagedStore(this.#directory, `it should have ${this.#state.count} records, ${count} can be read`);
    }
    // Loading mapped the whole file into memory. Reopening unmaps it, because from now on it is only written.
    await this.#files.root.close();
    this.#files = await openLmdbFiles(this.#directory);
    await unmarkReading(this.#directory);
    return { revision: this.#state.revision };
  }

  #readAll(onRecord: Parameters<Engine['load']>[0]): number {
    const { decoder } = this.#files;
    let count = 0;
    // Lending avoids 50,000 short-lived copies.
    decoder.lend = true;
    try {
      for (const { key, value } of readObjects(this.#files, this.#directory)) {
        const name = Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString();
        const record = decodeRecord(key, value);
        if (!record) throw damagedStore(this.#directory, `the record of ${name} fails its checksum`);
        count++;
        onRecord(name, record.bytes, record.revision, record.createRevision);
      }
    } finally {
      decoder.lend = false;
    }
    return count;
  }

  commit(batch: readonly EngineWrite[]): Promise<void> {
    return this.#commit(
      batch,
      must(batch[batch.length - 1], 'the last write').revision,
      (write) => write.createRevision === write.revision,
    );
  }

  /** Stores records of a backup, all counted as new. `revision` is the newest revision of the backup. */
  import(batch: readonly EngineWrite[], revision: number): Promise<void> {
    return this.#commit(batch, revision, () => true);
  }

  async #commit(
    batch: readonly EngineWrite[],
    revision: number,
    isNew: (put: EngineWrite & { type: 'put' }) => boolean,
  ): Promise<void> {
    if (this.#broken) throw this.#broken;
    const next: StoreState = { revision, count: this.#state.count };
    const commit = this.#files.root.batch(() => {
      next.count += this.#write(batch, isNew);
      putState(this.#files, next);
    });
    try {
      await commit;
    } catch (error) {
      throw await this.#failed(error, next);
    }
    this.#state = next;
  }

  /** Returns the change in the number of records. */
  #write(batch: readonly EngineWrite[], isNew: (put: EngineWrite & { type: 'put' }) => boolean): number {
    const { objects } = this.#files;
    let size = 0;
    for (const write of batch) if (write.type === 'put') size += mostEncodedBytes(write.value);
    this.#mappedBytes += size;
    if (this.#scratch.length < size) this.#scratch = Buffer.allocUnsafeSlow(size);
    const scratch = this.#scratch;
    let offset = 0;
    let growth = 0;
    for (const write of batch) {
      const key = Buffer.from(write.key);
      if (write.type === 'delete') {
        void objects.remove(key);
        growth--;
        continue;
      }
      const end = encodeRecordInto(scratch, offset, key, write);
      void objects.put(key, scratch.subarray(offset, end));
      if (isNew(write)) growth++;
      offset = end;
    }
    return growth;
  }

  /** Determines why a commit failed, and whether later ones are safe. */
  async #failed(error: unknown, attempted: StoreState): Promise<unknown> {
    const { commitError } = error as { commitError?: Promise<never> };
    const cause = await commitError?.catch((reason: unknown) => reason);
    try {
      // LMDB refuses all transactions after a failure that left its root uncertain.
      this.#files.root.transactionSync(() => {});
      const found = readState(this.#files, this.#directory) ?? { revision: 0, count: 0 };
      if (found.revision === attempted.revision) throw new Error('a commit reported as failed is on disk');
    } catch (doubt) {
      this.#broken = brokenStore(doubt);
    }
    return cause ?? error;
  }

  /** Written pages stay mapped and count as memory of the process until the file is reopened. */
  async rest(): Promise<void> {
    if (this.#broken || this.#backups > 0 || this.#mappedBytes < worthwhileBytes) return;
    this.#reopening = this.#reopen();
    await this.#reopening;
    this.#reopening = undefined;
  }

  async #reopen(): Promise<void> {
    try {
      await this.#files.root.close();
      this.#files = await openLmdbFiles(this.#directory);
      this.#mappedBytes = 0;
    } catch (error) {
      this.#broken = brokenStore(error);
    }
  }

  async backup(path: string): Promise<void> {
    this.#backups++;
    try {
      await this.#reopening;
      await this.#backUp(path);
    } finally {
      this.#backups--;
    }
  }

  async #backUp(path: string): Promise<void> {
    const transaction = this.#files.root.useReadTransaction();
    try {
      const state = readState(this.#files, this.#directory, transaction) ?? { revision: 0, count: 0 };
      await writeBackup(path, state.revision, this.#records(transaction));
    } finally {
      transaction.done();
    }
  }

  /** Yields every record of one snapshot, and yields to other work after each slice. */
  async *#records(transaction: ReturnType<LmdbFiles['root']['useReadTransaction']>): AsyncGenerator<BackupRecord> {
    let slice = 0;
    for (const { key, value } of readObjects(this.#files, this.#directory, transaction)) {
      const name = Buffer.from(key).toString();
      const record = decodeRecord(key, value);
      if (!record) throw damagedStore(this.#directory, `the record of ${name} fails its checksum`);
      yield { key: name, ...record };
      slice += value.length;
      if (slice > 512 * 1024) {
        slice = 0;
        await nextTurn();
      }
    }
  }

  async close(): Promise<void> {
    try {
      await this.#files.root.close();
      await unmarkReading(this.#directory);
    } finally {
      await this.#lock.release();
    }
  }
}

function brokenStore(cause: unknown): CapstanError {
  return new CapstanError('CAP_STORE_BROKEN', `the store takes no more writes: ${errorMessage(cause)}`, {
    hint: 'check the disk, then restart; what was acknowledged is safe',
    cause,
  });
}
