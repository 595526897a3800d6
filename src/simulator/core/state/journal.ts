import { createReadStream } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CapstanError } from '../../../machinery/index.ts';
import type { Change } from './change-log.ts';
import type { State } from './state.ts';
import type { Row } from './table.ts';

/** A journal is rewritten once it exceeds twice the size of its initial snapshot plus this much. */
const usualRewriteBytes = 32 * 1024 * 1024;
const filePattern = /^state-(\d+)\.jsonl$/;

type Entry = readonly [table: string, id: string, row: Row | null];

export interface Journal {
  /** resolves once all commits so far are written; undefined if they already are */
  committed(): Promise<void> | undefined;
  close(): Promise<void>;
}

/** Loads the state from a directory. Returns whether there was any. */
export async function loadState(directory: string, state: State): Promise<boolean> {
  const existing = await newestFile(directory);
  if (!existing) return false;
  await load(join(directory, existing.name), state);
  return true;
}

/**
 * Persists the state in a directory, in one file: a snapshot of all rows, followed by one line per transaction. A
 * transaction is written to the operating system before its request is answered, so a killed process loses no
 * acknowledged change. A truncated last line is discarded when the file is read.
 */
export async function startJournal(
  directory: string,
  state: State,
  rewriteBytes: number = usualRewriteBytes,
): Promise<Journal> {
  let generation = ((await newestFile(directory))?.generation ?? 0) + 1;
  let file = await writeSnapshot(directory, generation, state);
  await removeOthers(directory, generation);

  let pending = '';
  /** the running write, and the one that follows it */
  let current: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  const writePending = async (): Promise<void> => {
    const text = pending;
    pending = '';
    await file.handle.write(text);
    file.size += Buffer.byteLength(text);
    if (file.size < 2 * file.startSize + rewriteBytes) return;
    // The snapshot already contains the pending changes. Changes made during the rewrite are pending again and may
    // appear twice.
    pending = '';
    const old = file.handle;
    file = await writeSnapshot(directory, ++generation, state);
    await old.close();
    await removeOthers(directory, generation);
  };

  const committed = (): Promise<void> | undefined => {
    if (pending === '') return current;
    if (!next) {
      const mine: Promise<void> = (current ?? Promise.resolve())
        .then(() => {
          next = undefined;
          current = mine;
          return writePending();
        })
        .finally(() => {
          if (current === mine) current = undefined;
        });
      next = mine;
    }
    return next;
  };

  const unsubscribe = state.onCommit((changes) => {
    // Changes of timers are written soon as well, although no request waits for them. A failure is kept and reported to
    // the next request that waits.
    if (pending === '') setImmediate(() => void committed()?.catch(() => {}));
    pending += encode(changes);
  });

  return {
    committed,
    async close() {
      unsubscribe();
      await committed();
      await file.handle.close();
    },
  };
}

function encode(changes: readonly Change[]): string {
  return `${JSON.stringify(changes.map(({ table, id, row }): Entry => [table, id, row ?? null]))}\n`;
}

function encodeAll(state: State): string[] {
  const lines: string[] = [];
  let chunk: Change[] = [];
  for (const change of state.rows()) {
    if (chunk.push(change) < 256) continue;
    lines.push(encode(chunk));
    chunk = [];
  }
  if (chunk.length > 0) lines.push(encode(chunk));
  return lines;
}

async function newestFile(directory: string): Promise<{ name: string; generation: number } | undefined> {
  let newest: { name: string; generation: number } | undefined;
  for (const name of await readdir(directory)) {
    const generation = Number(filePattern.exec(name)?.[1] ?? Number.NaN);
    if (generation > (newest?.generation ?? 0)) newest = { name, generation };
  }
  return newest;
}

async function removeOthers(directory: string, generation: number): Promise<void> {
  for (const name of await readdir(directory)) {
    const isOurs = filePattern.test(name) || name.endsWith('.jsonl.tmp');
    if (isOurs && name !== `state-${generation}.jsonl`) await rm(join(directory, name), { force: true });
  }
}

/** Writes a snapshot to a temporary file, and renames it once it is complete. */
async function writeSnapshot(
  directory: string,
  generation: number,
  state: State,
): Promise<{ handle: FileHandle; size: number; startSize: number }> {
  const path = join(directory, `state-${generation}.jsonl`);
  const temporary = `${path}.tmp`;
  const handle = await open(temporary, 'w', 0o600);
  // Encoded synchronously, because rows change in place and a snapshot must be consistent.
  let size = 0;
  for (const line of encodeAll(state)) {
    size += Buffer.byteLength(line);
    await handle.write(line);
  }
  await handle.sync();
  await rename(temporary, path);
  return { handle, size, startSize: size };
}

async function load(path: string, state: State): Promise<void> {
  let rest = '';
  let lineNumber = 0;
  const apply = (line: string): void => {
    lineNumber++;
    let entries: Entry[];
    try {
      entries = JSON.parse(line) as Entry[];
    } catch (cause) {
      throw new CapstanError('CAP_CLOUD_STATE_DAMAGED', `${path}: line ${lineNumber} is damaged`, {
        hint: 'restore the file from a backup, or remove the directory to start with a new cloud',
        cause,
      });
    }
    state.load(entries.map(([table, id, row]) => ({ table, id, row: row ?? undefined })));
  };
  for await (const chunk of createReadStream(path, { encoding: 'utf8', highWaterMark: 1 << 20 })) {
    const lines = (rest + (chunk as string)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) apply(line);
  }
  // Incomplete last line: the process was killed while writing, and the change was never acknowledged.
}
