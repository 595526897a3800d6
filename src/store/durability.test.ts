import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { readBackup } from './backup.ts';
import { checkStore } from './check.ts';
import { lockDirectory } from './directory-lock.ts';
import { lmdbEngine } from './lmdb-engine.ts';
import { openLmdbFiles } from './lmdb-files.ts';
import { memoryEngine } from './memory-engine.ts';
import { restoreBackup } from './restore.ts';
import { openStore } from './store.ts';
import type { Engine, Store, ValueCodec } from './types.ts';

const root = await mkdtemp(join(tmpdir(), 'capstan-durability-'));
afterAll(() => rm(root, { recursive: true, force: true }));

const newDirectory = (): Promise<string> => mkdtemp(join(root, 'd-'));
const text: ValueCodec<string> = {
  encode: (_key, value) => Buffer.from(value),
  decode: (_key, bytes) => Buffer.from(bytes).toString(),
};
const absent = { kind: 'absent' } as const;

async function openIn(directory: string): Promise<Store<string>> {
  return openStore({ engine: await lmdbEngine({ directory }), codec: text });
}

/** Creates a closed store with values that are easy to find in its file. */
async function filledDirectory(): Promise<string> {
  const directory = await newDirectory();
  const store = await openIn(directory);
  for (const name of ['a', 'b', 'c']) {
    await store.put(`/g/p/${name}`, absent, () => `value of ${name} `.repeat(300));
  }
  await store.delete('/g/p/b', { kind: 'revision', revision: 2 });
  await store.close();
  return directory;
}

function damage(file: string, needle: string): void {
  const data = readFileSync(file);
  // A deleted value may remain in free pages, so every copy is damaged.
  for (let at = data.indexOf(needle); at >= 0; at = data.indexOf(needle, at + 1)) data[at + 3]! ^= 0x01;
  writeFileSync(file, data);
}

describe('the directory lock', () => {
  it('keeps a second user out and names the first', async () => {
    const directory = await newDirectory();
    const store = await openIn(directory);
    await expect(lmdbEngine({ directory })).rejects.toMatchObject({
      code: 'CAP_STORE_LOCKED',
      message: expect.stringContaining(`process ${process.pid}`),
    });
    await store.close();
    await (await openIn(directory)).close();
  });

  it('is taken over from a dead process', async () => {
    const directory = await newDirectory();
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    await writeFile(join(directory, 'lock'), JSON.stringify({ id: 'x', pid, host: hostname(), started: '' }));
    await (await lockDirectory(directory)).release();
  });

  it.skipIf(process.platform !== 'linux')(
    'is taken over from a dead process whose parent never waits for it',
    async () => {
      const directory = await newDirectory();
      const parent = spawn('sh', ['-c', 'sleep 600 & echo $!; exec sleep 600'], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      try {
        const [line] = (await once(parent.stdout, 'data')) as [Buffer];
        const pid = Number(line.toString());
        const seen = (of: number, what: RegExp): Promise<void> =>
          vi.waitFor(async () => expect(await readFile(`/proc/${of}/stat`, 'utf8')).toMatch(what), 30_000);
        // A shell would wait for its child; the program that replaces it does not.
        await seen(parent.pid ?? 0, /\(sleep\)/);
        process.kill(pid, 'SIGKILL');
        await seen(pid, /\) Z /);
        await writeFile(join(directory, 'lock'), JSON.stringify({ id: 'x', pid, host: hostname(), started: '' }));
        await (await lockDirectory(directory)).release();
      } finally {
        parent.kill('SIGKILL');
      }
    },
  );

  it('is taken over from an earlier process whose pid a living one now has', async () => {
    const directory = await newDirectory();
    const lock = { id: 'x', pid: process.pid, host: hostname(), started: 'another boot/1' };
    await writeFile(join(directory, 'lock'), JSON.stringify(lock));
    await (await lockDirectory(directory)).release();
  });

  it('is taken over from another host only when that host shows no life', async () => {
    const directory = await newDirectory();
    const path = join(directory, 'lock');
    await writeFile(path, JSON.stringify({ id: 'x', pid: 1, host: 'elsewhere', started: '' }));
    const timings = { heartbeatMs: 20, patienceMs: 200 };
    const heart = setInterval(() => void utimes(path, new Date(), new Date()), 10);
    await expect(lockDirectory(directory, timings)).rejects.toThrow('on host elsewhere');
    clearInterval(heart);
    await (await lockDirectory(directory, timings)).release();
  });

  it('is won by one of many that find the same stale lock', async () => {
    const directory = await newDirectory();
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    await writeFile(join(directory, 'lock'), JSON.stringify({ id: 'x', pid, host: hostname(), started: '' }));
    const attempts = await Promise.allSettled(Array.from({ length: 8 }, () => lockDirectory(directory)));
    const won = attempts.filter((attempt) => attempt.status === 'fulfilled');
    expect(won).toHaveLength(1);
    for (const attempt of won) await attempt.value.release();
    expect(await readdir(directory)).toEqual([]);
  });
});

describe('a damaged store', () => {
  it('is not served: the record is named, and repair moves it aside', async () => {
    const directory = await filledDirectory();
    damage(join(directory, 'data.mdb'), 'value of a');
    await expect(openIn(directory)).rejects.toMatchObject({
      code: 'CAP_STORE_DAMAGED',
      message: expect.stringContaining('/g/p/a'),
      hint: expect.stringContaining('backup'),
    });

    expect(await checkStore(directory)).toMatchObject({ records: 1, damaged: ['/g/p/a'], repaired: false });
    const report = await checkStore(directory, { repair: true });
    expect(report).toMatchObject({ records: 1, damaged: ['/g/p/a'], repaired: true });
    expect((await readFile(report.salvage[0]!)).includes('e of a')).toBe(true);

    const store = await openIn(directory);
    expect(store.list('').records.map(({ key }) => key)).toEqual(['/g/p/c']);
    expect(store.revision).toBe(4);
    await store.close();
    expect(await checkStore(directory)).toMatchObject({ damaged: [], problems: [] });
  });

  it('is noticed when records are missing', async () => {
    const directory = await filledDirectory();
    const files = await openLmdbFiles(directory);
    await files.objects.remove(Buffer.from('/g/p/a'));
    await files.root.close();
    await expect(openIn(directory)).rejects.toThrow('should have 2 records, 1 can be read');
    expect(await checkStore(directory, { repair: true })).toMatchObject({ records: 1, repaired: true });
    await (await openIn(directory)).close();
  });

  it('is left alone when its format is newer', async () => {
    const directory = await filledDirectory();
    const files = await openLmdbFiles(directory);
    await files.meta.put(Buffer.from('state'), Buffer.from([9, 1, 2, 3]));
    await files.root.close();
    await expect(openIn(directory)).rejects.toMatchObject({
      code: 'CAP_STORE_TOO_NEW',
      message: expect.stringContaining('format 9'),
    });
  });

  it('is refused with the way out when it is not a database at all', async () => {
    const directory = await newDirectory();
    await writeFile(join(directory, 'data.mdb'), Buffer.alloc(8192, 'junk'));
    await expect(lmdbEngine({ directory })).rejects.toMatchObject({ code: 'CAP_STORE_DAMAGED' });
    expect(await readdir(directory)).not.toContain('lock');
  });
});

describe.each<[string, () => Promise<Engine>]>([
  ['memory', async () => memoryEngine()],
  ['lmdb', async () => lmdbEngine({ directory: await newDirectory() })],
])('a backup of the %s engine', (_name, create) => {
  async function backupWithWrites(): Promise<{ path: string; revision: number }> {
    const store = await openStore({ engine: await create(), codec: text });
    for (let i = 0; i < 50; i++) await store.put(`/g/p/${i}`, absent, () => 'x'.repeat(20_000));
    await store.delete('/g/p/7', { kind: 'revision', revision: 8 });
    const { revision } = store;
    const path = join(await newDirectory(), 'backup');
    const backup = store.backup(path);
    const later = Array.from({ length: 20 }, (_, i) => store.put(`/late/p/${i}`, absent, () => 'late'));
    await Promise.all([backup, ...later]);
    await store.close();
    return { path, revision };
  }

  it('contains one moment of the running store and can be restored', async () => {
    const { path, revision } = await backupWithWrites();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const directory = await newDirectory();
    expect(await restoreBackup({ backupPath: path, directory })).toEqual({ revision, records: 49 });
    const restored = await openIn(directory);
    expect(restored.revision).toBe(revision);
    expect(restored.count('/g/p/')).toBe(49);
    expect(restored.count('/late/')).toBe(0);
    expect(restored.get('/g/p/3')).toMatchObject({ revision: 4, createRevision: 4, value: 'x'.repeat(20_000) });
    expect(await restored.put('/g/p/new', absent, () => 'new')).toMatchObject({ revision: revision + 1 });
    await restored.close();
  });

  it('is refused before anything is touched when any byte was changed', async () => {
    const { path } = await backupWithWrites();
    const original = readFileSync(path);
    const directory = await newDirectory();
    for (let i = 0; i < 60; i++) {
      const at = i < 40 ? i : Math.floor((original.length - 1) * ((i - 39) / 20));
      const changed = Buffer.from(original);
      changed[at]! ^= 1 << (i % 8);
      writeFileSync(path, changed);
      await expect(restoreBackup({ backupPath: path, directory })).rejects.toMatchObject({
        code: expect.stringMatching(/^CAP_BACKUP_/),
      });
    }
    expect(await readdir(directory)).toEqual([]);
  });

  it('is refused when it is cut off or continued', async () => {
    const { path } = await backupWithWrites();
    const original = readFileSync(path);
    for (const size of [0, 5, 100, original.length - 1]) {
      await writeFile(path, original.subarray(0, size));
      await expect(readBackup(path, () => undefined)).rejects.toMatchObject({ code: 'CAP_BACKUP_DAMAGED' });
    }
    await writeFile(path, Buffer.concat([original, Buffer.from('x')]));
    await expect(readBackup(path, () => undefined)).rejects.toThrow('something follows its end');
  });
});

describe('restoring', () => {
  it('replaces an existing store only by force', async () => {
    const source = await openIn(await newDirectory());
    await source.put('/g/p/restored', absent, () => 'v');
    const backupPath = join(await newDirectory(), 'backup');
    await source.backup(backupPath);
    await source.close();

    const directory = await filledDirectory();
    await expect(restoreBackup({ backupPath, directory })).rejects.toMatchObject({ code: 'CAP_STORE_NOT_EMPTY' });
    await restoreBackup({ backupPath, directory, force: true });
    const store = await openIn(directory);
    expect(store.list('').records.map(({ key }) => key)).toEqual(['/g/p/restored']);
    await store.close();
  });

  it('refuses a file that is not a backup', async () => {
    const directory = await newDirectory();
    const backupPath = join(directory, 'note.txt');
    await writeFile(backupPath, 'this is certainly not a backup of anything');
    await mkdir(join(directory, 'empty'));
    await expect(restoreBackup({ backupPath, directory: join(directory, 'empty') })).rejects.toMatchObject({
      code: 'CAP_BACKUP_UNKNOWN',
    });
  });
});

describe('keys of the durable engine', () => {
  it('are refused when they are too long, without harm to other writes', async () => {
    const store = await openIn(await newDirectory());
    const [long, good] = await Promise.allSettled([
      store.put(`/g/p/${'x'.repeat(2000)}`, absent, () => 'v'),
      store.put('/g/p/good', absent, () => 'v'),
    ]);
    expect(long).toMatchObject({ status: 'rejected', reason: { code: 'CAP_STORE_KEY_TOO_LONG' } });
    expect(good).toMatchObject({ status: 'fulfilled' });
    await store.close();
  });
});
