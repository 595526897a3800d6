import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CapstanError, errorMessage } from '../machinery/index.ts';
import { writeBackup } from './backup.ts';
import { syncDirectory } from './durable-file.ts';
import { encodeFrame, type FoldedJournal, foldJournal, headerBytes } from './journal-format.ts';
import type { Engine, EngineWrite } from './types.ts';

/** A journal is rewritten once it reaches this size and three times its size after the last rewrite. */
const compactFromBytes = 1024 * 1024;
const growthFactor = 3;
/** size of a frame in a rewritten journal */
const frameBytes = 256 * 1024;

/**
 * Opens the durable engine for small stores, of which a process may have thousands: one file to which commits are
 * appended. It needs little memory and reads the whole file on load. The caller must ensure that only one process opens
 * it.
 */
export async function journalEngine({ file }: { file: string }): Promise<Engine> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await rm(temporaryOf(file), { force: true });
  return new JournalEngine(file, await openJournal(file));
}

class JournalEngine implements Engine {
  readonly #file: string;
  #handle: FileHandle;
  /** offset of the next frame */
  #end = 0;
  #compactAt = compactFromBytes;
  /** reason why no further commit is safe */
  #broken: CapstanError | undefined;

  constructor(file: string, handle: FileHandle) {
    this.#file = file;
    this.#handle = handle;
  }

  async load(onRecord: Parameters<Engine['load']>[0]): Promise<{ revision: number }> {
    const folded = await this.#fold();
    // Discards a partial commit left by a crash. It was never acknowledged.
    if (folded.end < folded.length) await this.#handle.truncate(folded.end);
    this.#end = folded.end;
    for (const [key, { bytes, revision, createRevision }] of folded.records) {
      onRecord(key, bytes, revision, createRevision);
    }
    this.#expectGrowth(folded.liveBytes);
    if (this.#end === 0) await this.#begin();
    return { revision: folded.revision };
  }

  async commit(batch: readonly EngineWrite[]): Promise<void> {
    if (this.#broken) throw this.#broken;
    const frame = encodeFrame(batch);
    try {
      await writeAll(this.#handle, frame, this.#end);
      await this.#handle.datasync();
    } catch (error) {
      await this.#takeBack();
      throw error;
    }
    this.#end += frame.length;
    if (this.#end >= this.#compactAt) await this.#compact();
  }

  async backup(path: string): Promise<void> {
    const { revision, records } = await this.#fold();
    await writeBackup(
      path,
      revision,
      [...records].map(([key, record]) => ({ key, ...record })),
    );
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  async #fold(): Promise<FoldedJournal> {
    const { size } = await this.#handle.stat();
    const content = Buffer.allocUnsafeSlow(size);
    for (let offset = 0; offset < size; ) {
      const { bytesRead } = await this.#handle.read(content, offset, size - offset, offset);
      if (bytesRead === 0) throw damaged(this.#file, 'it is shorter than it was a moment ago');
      offset += bytesRead;
    }
    const folded = foldJournal(content);
    if ('problem' in folded) throw damaged(this.#file, folded.problem);
    return folded;
  }

  async #begin(): Promise<void> {
    await writeAll(this.#handle, headerBytes, 0);
    await this.#handle.sync();
    await syncDirectory(dirname(this.#file));
    this.#end = headerBytes.length;
  }

  /** Truncates a partial frame, because later frames behind it would be lost. */
  async #takeBack(): Promise<void> {
    try {
      await this.#handle.truncate(this.#end);
    } catch (error) {
      this.#broken = new CapstanError(
        'CAP_STORE_BROKEN',
        `${this.#file} takes no more writes: ${errorMessage(error)}`,
        {
          hint: 'check the disk, then restart; what was acknowledged is safe',
          cause: error,
        },
      );
    }
  }

  #expectGrowth(liveBytes: number): void {
    this.#compactAt = Math.max(compactFromBytes, liveBytes * growthFactor);
  }

  /**
   * Rewrites the journal without overwritten and deleted records. A failure is harmless, because the old journal stays
   * valid.
   */
  async #compact(): Promise<void> {
    let fresh: FileHandle | undefined;
    try {
      const { records, revision } = await this.#fold();
      const file = await open(temporaryOf(this.#file), 'w+', 0o600);
      fresh = file;
      await writeAll(file, headerBytes, 0);
      let end = headerBytes.length;
      const append = async (writes: readonly EngineWrite[]): Promise<void> => {
        const frame = encodeFrame(writes, revision);
        await writeAll(file, frame, end);
        end += frame.length;
      };
      let writes: EngineWrite[] = [];
      let bytes = 0;
      for (const [key, record] of records) {
        const { revision: at, createRevision } = record;
        writes.push({ type: 'put', key, revision: at, createRevision, value: record.bytes });
        bytes += record.bytes.length;
        if (bytes < frameBytes) continue;
        await append(writes);
        writes = [];
        bytes = 0;
      }
      await append(writes);
      await fresh.sync();
      await rename(temporaryOf(this.#file), this.#file);
      // From here on the old file has no name. Even if a later step fails, commits must not go there.
      const old = this.#handle;
      this.#handle = fresh;
      fresh = undefined;
      this.#end = end;
      this.#expectGrowth(end);
      await syncDirectory(dirname(this.#file));
      await old.close();
    } catch {
      this.#compactAt = this.#end * 2;
      await fresh?.close().catch(() => undefined);
    }
  }
}

function temporaryOf(file: string): string {
  return `${file}.tmp`;
}

async function openJournal(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'r+', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return await open(file, 'wx+', 0o600);
  }
}

async function writeAll(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let offset = 0; offset < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, offset, bytes.length - offset, position + offset);
    offset += bytesWritten;
  }
}

function damaged(file: string, detail: string): CapstanError {
  return new CapstanError('CAP_STORE_DAMAGED', `the journal ${file} is damaged: ${detail}`, {
    hint: 'put back an earlier copy of the file, or remove it to start without its content',
  });
}
