import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { storeConformance } from './conformance.ts';
import { lmdbEngine } from './lmdb-engine.ts';
import type { Engine } from './types.ts';

const root = await mkdtemp(join(tmpdir(), 'capstan-store-'));
const directories = new WeakMap<Engine, string>();

async function openIn(directory: string): Promise<Engine> {
  const engine = await lmdbEngine({ directory });
  directories.set(engine, directory);
  return engine;
}

storeConformance('lmdb', {
  create: async () => openIn(await mkdtemp(join(root, 'db-'))),
  reopen: (closed) => openIn(directories.get(closed)!),
});

afterAll(() => rm(root, { recursive: true, force: true }));

it.skipIf(process.platform !== 'linux')(
  'lmdb: releases the mapping of its file at rest and continues where it was',
  async () => {
    const directory = await mkdtemp(join(root, 'db-'));
    const engine = await lmdbEngine({ directory });
    const value = 'v'.repeat(1024 * 1024);
    const write = (revision: number) =>
      engine.commit([{ type: 'put', key: `/k/${revision}`, revision, createRevision: revision, value: [value] }]);
    await engine.load(() => {});
    for (let revision = 1; revision <= 40; revision++) await write(revision);
    const before = await mappedBytes(directory);
    expect(before).toBeGreaterThan(0);
    await engine.rest();
    expect(await mappedBytes(directory)).toBeLessThan(before / 2);
    await write(41);
    await engine.close();
    const again = await lmdbEngine({ directory });
    const keys: string[] = [];
    expect(await again.load((key) => keys.push(key))).toEqual({ revision: 41 });
    expect(keys).toHaveLength(41);
    await again.close();
  },
);

it('lmdb: keeps the file mapped during a backup', async () => {
  const directory = await mkdtemp(join(root, 'db-'));
  const engine = await lmdbEngine({ directory });
  await engine.load(() => {});
  const value = 'v'.repeat(1024 * 1024);
  for (let revision = 1; revision <= 40; revision++) {
    await engine.commit([{ type: 'put', key: `/k/${revision}`, revision, createRevision: revision, value: [value] }]);
  }
  const backup = engine.backup(join(root, 'backup'));
  await engine.rest();
  await backup;
  // The reverse: a backup requested while the file is reopened waits for it.
  const resting = engine.rest();
  await engine.backup(join(root, 'backup-at-rest'));
  await resting;
  await engine.commit([{ type: 'put', key: '/k/41', revision: 41, createRevision: 41, value: [value] }]);
  await engine.close();
});

/** Returns the size of a directory's files that are mapped into this process. */
async function mappedBytes(directory: string): Promise<number> {
  const maps = await readFile('/proc/self/smaps', 'utf8');
  let bytes = 0;
  let isOurs = false;
  for (const line of maps.split('\n')) {
    if (/^[0-9a-f]+-[0-9a-f]+ /.test(line)) isOurs = line.includes(directory);
    else if (isOurs && line.startsWith('Rss:')) bytes += Number(/\d+/.exec(line)![0]) * 1024;
  }
  return bytes;
}
