import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
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
