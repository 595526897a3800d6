import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadState, startJournal } from './journal.ts';
import { State } from './state.ts';
import type { Table } from './table.ts';

interface Note {
  readonly id: string;
  readonly text: string | undefined;
}

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'capstan-journal-'));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

function notes(): { state: State; table: Table<Note> } {
  const state = new State();
  return { state, table: state.table<Note>('notes') };
}

async function file(): Promise<string> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.jsonl'));
  expect(names).toHaveLength(1);
  return join(directory, names[0]!);
}

async function loaded(): Promise<Note[]> {
  const { state, table } = notes();
  expect(await loadState(directory, state)).toBe(true);
  return [...table.all()];
}

describe('the journal', () => {
  it('has nothing to load at first', async () => {
    expect(await loadState(directory, notes().state)).toBe(false);
  });

  it('returns the initial state and every transaction since, in order', async () => {
    const { state, table } = notes();
    state.transact(() => table.insert({ id: 'before', text: 'a' }));
    const journal = await startJournal(directory, state);
    state.transact(() => table.insert({ id: 'x', text: 'b' }));
    state.transact(() => table.insert({ id: 'y', text: 'c' }));
    state.transact(() => table.update('x', { text: undefined }));
    state.transact(() => table.delete('before'));
    await journal.committed();
    // Not closed, like a killed process.
    expect(await loaded()).toEqual([{ id: 'x' }, { id: 'y', text: 'c' }]);
    await journal.close();
  });

  it('waits for nothing when nothing was changed', async () => {
    const { state } = notes();
    const journal = await startJournal(directory, state);
    expect(journal.committed()).toBeUndefined();
    await journal.close();
  });

  it('removes a line that was cut short', async () => {
    const { state, table } = notes();
    const journal = await startJournal(directory, state);
    state.transact(() => table.insert({ id: 'x', text: 'whole' }));
    await journal.close();
    const path = await file();
    const text = await readFile(path, 'utf8');
    for (const cut of ['[["notes","y",{"id"', '[["notes","y",{"id":"y","text":"half"}]]']) {
      await writeFile(path, text + cut);
      expect(await loaded()).toEqual([{ id: 'x', text: 'whole' }]);
    }
  });

  it('reports which line is damaged and what to do', async () => {
    const { state, table } = notes();
    const journal = await startJournal(directory, state);
    state.transact(() => table.insert({ id: 'x', text: 'a' }));
    await journal.close();
    await appendFile(await file(), 'garbage\n[]\n');
    await expect(loaded()).rejects.toMatchObject({ code: 'CAP_CLOUD_STATE_DAMAGED', message: /line 2 is damaged/ });
  });

  it('refuses an unknown table', async () => {
    const other = new State();
    const table = other.table<Note>('newer');
    other.transact(() => table.insert({ id: '1', text: '' }));
    await (await startJournal(directory, other)).close();
    await expect(loadState(directory, notes().state)).rejects.toThrow('"newer"');
  });

  it('leaves one file behind, however often it is started', async () => {
    for (let i = 0; i < 3; i++) {
      const { state, table } = notes();
      await loadState(directory, state);
      const journal = await startJournal(directory, state);
      state.transact(() => table.insert({ id: String(i), text: 'x' }));
      await journal.close();
    }
    await file();
    expect((await loaded()).map(({ id }) => id)).toEqual(['0', '1', '2']);
  });

  it('is rewritten when it has grown and loses nothing that happens meanwhile', async () => {
    const { state, table } = notes();
    const journal = await startJournal(directory, state, 100_000);
    state.transact(() => table.insert({ id: 'x', text: '' }));
    const big = 'z'.repeat(10_000);
    for (let i = 0; i < 40; i++) {
      state.transact(() => table.update('x', { text: `${i}${big}` }));
      const written = journal.committed();
      state.transact(() => (table.has(`n${i}`) ? false : table.insert({ id: `n${i}`, text: 'small' })));
      await written;
    }
    await journal.committed();
    const path = await file();
    expect(path.endsWith('state-1.jsonl')).toBe(false);
    const rows = await loaded();
    expect(rows).toHaveLength(41);
    expect(rows[0]?.text?.startsWith('39')).toBe(true);
    await journal.close();
  });
});
