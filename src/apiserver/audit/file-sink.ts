import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { jsonText, must } from '../../machinery/index.ts';
import type { AuditEvent, AuditSink } from './event.ts';

export interface FileAuditSinkOptions {
  path: string;
  /** size at which the file is rotated to PATH.1; default 100 MiB */
  maxBytes?: number;
  /** number of rotated files to keep; default 10 */
  maxFiles?: number;
  /** buffer size beyond which events are dropped; default 16 MiB */
  maxBufferedBytes?: number;
  /** called once per fault: dropped events or a failed write */
  onProblem?(message: string): void;
}

const mebibyte = 1024 * 1024;

/**
 * Appends events to a file as JSON lines. Batches are written in the background. If the disk is too slow, events are
 * dropped and counted; requests are never delayed.
 */
export function fileAuditSink(options: FileAuditSinkOptions): AuditSink {
  const { path, maxBytes = 100 * mebibyte, maxFiles = 10, maxBufferedBytes = 16 * mebibyte } = options;
  let waiting: string[] = [];
  let waitingBytes = 0;
  let dropped = 0;
  let file: FileHandle | undefined;
  let size = 0;
  let writing: Promise<void> | undefined;
  let closed = false;

  const openFile = async (): Promise<FileHandle> => {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const opened = await open(path, 'a', 0o600);
    size = (await opened.stat()).size;
    return opened;
  };

  /** Renames PATH to PATH.1, PATH.1 to PATH.2 and so on, and removes the oldest file. */
  const rotate = async (): Promise<void> => {
    await file?.close();
    file = undefined;
    await rm(`${path}.${maxFiles}`, { force: true });
    for (let i = maxFiles - 1; i >= 1; i--) await rename(`${path}.${i}`, `${path}.${i + 1}`).catch(ignoreAbsent);
    if (maxFiles > 0) await rename(path, `${path}.1`);
    else await rm(path, { force: true });
    file = await openFile();
  };

  const write = async (lines: readonly string[]): Promise<void> => {
    file ??= await openFile();
    let chunk: string[] = [];
    let bytes = 0;
    const flush = async (): Promise<void> => {
      if (chunk.length === 0) return;
      const text = chunk.join('');
      chunk = [];
      size += bytes;
      bytes = 0;
      await must(file, 'file').appendFile(text);
    };
    for (const line of lines) {
      const length = Buffer.byteLength(line);
      if (size + bytes > 0 && size + bytes + length > maxBytes) {
        await flush();
        await rotate();
      }
      chunk.push(line);
      bytes += length;
    }
    await flush();
  };

  const drain = async (): Promise<void> => {
    while (waiting.length > 0) {
      const lines = waiting;
      waiting = [];
      waitingBytes = 0;
      try {
        await write(lines);
      } catch (error) {
        options.onProblem?.(`audit log ${path} cannot be written, ${lines.length} events lost: ${String(error)}`);
        await file?.close().catch(() => undefined);
        file = undefined;
      }
      if (dropped > 0) {
        options.onProblem?.(`audit log ${path} could not keep up, ${dropped} events dropped`);
        dropped = 0;
      }
    }
  };

  const start = (): void => {
    // Starts after the current turn, so that all events of one turn are written together.
    writing ??= new Promise<void>((resolve) => {
      setImmediate(() => {
        void drain().finally(() => {
          writing = undefined;
          if (waiting.length > 0) start();
          resolve();
        });
      });
    });
  };

  return {
    record(event: AuditEvent): void {
      if (closed) return;
      if (waitingBytes >= maxBufferedBytes) {
        dropped++;
        return;
      }
      const line = `${jsonText(event)}\n`;
      waiting.push(line);
      waitingBytes += line.length;
      start();
    },
    async close(): Promise<void> {
      closed = true;
      while (writing !== undefined) await writing;
      await file?.close();
      file = undefined;
    },
  };
}

function ignoreAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
