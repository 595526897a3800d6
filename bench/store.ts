/** Measures the store alone: durable puts with many writers, reads, lists and the time to read everything back. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { lmdbEngine, openStore, type Store, type ValueCodec } from '../src/store/index.ts';
import { Figures } from './lib/figures.ts';
import { openBenchEngine, writesPerSecond } from './lib/local-server.ts';
import { runAsShipped } from './lib/node-arguments.ts';

runAsShipped(import.meta.url);

const { values } = parseArgs({
  options: {
    engine: { type: 'string', default: 'lmdb,memory' },
    writers: { type: 'string', default: '1,64,256' },
    bytes: { type: 'string', default: '4096' },
    records: { type: 'string', default: '50000' },
    runs: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
  },
});

const codec: ValueCodec<Buffer> = { encode: (_key, value) => value, decode: (_key, bytes) => bytes as Buffer };
const figures = new Figures();
const value = Buffer.alloc(Number(values.bytes), 'abcdefghijklmnopqrstuvwxyz');

for (let run = 0; run < Number(values.runs); run++) {
  for (const name of values.engine.split(',')) await measureWrites(name, run);
  await measureLoad();
}
figures.print();

async function measureWrites(name: string, run: number): Promise<void> {
  const { engine, remove } = await openBenchEngine(name);
  const store = await openStore({ engine, codec });
  for (const writers of values.writers.split(',').map(Number)) {
    let next = 0;
    const { perSecond, cpuMicroseconds } = await writesPerSecond({
      writers,
      warmUpMs: 500,
      measureMs: Number(values.seconds) * 1000,
      write: async () => void (await store.put(key(`${writers}-${run}-${next++}`), { kind: 'absent' }, () => value)),
    });
    const target = `store ${name}`;
    figures.add({ figure: `puts_per_second_${writers}_writers`, target }, perSecond, { unit: '/s', better: 'higher' });
    figures.add({ figure: `puts_cpu_us_${writers}_writers`, target }, cpuMicroseconds, {
      unit: 'us/put',
      better: 'lower',
    });
  }
  await store.close();
  remove();
}

async function measureLoad(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'capstan-bench-store-'));
  const count = Number(values.records);
  await fill(await openStore({ engine: await lmdbEngine({ directory }), codec }), count);
  const started = performance.now();
  const store = await openStore({ engine: await lmdbEngine({ directory }), codec });
  const target = 'store lmdb';
  figures.add({ figure: `open_with_${count}_ms`, target }, performance.now() - started, {
    unit: 'ms',
    better: 'lower',
  });
  const reads = 1_000_000;
  const names = Array.from({ length: 1000 }, (_, i) => key(String(Math.floor((i * count) / 1000))));
  figures.add(
    { figure: 'gets_per_second', target },
    perSecond(reads, (i) => store.get(names[i % 1000]!)),
    {
      unit: '/s',
      better: 'higher',
    },
  );
  const lists = 20;
  const listed = perSecond(lists, () => store.list('/core/configmaps/default/'));
  figures.add({ figure: `list_${count}_ms`, target }, 1000 / listed, { unit: 'ms', better: 'lower' });
  await store.close();
  rmSync(directory, { recursive: true, force: true });
}

async function fill(store: Store<Buffer>, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1000) {
    const puts = Array.from({ length: Math.min(1000, count - at) }, (_, i) =>
      store.put(key(String(at + i)), { kind: 'absent' }, () => value),
    );
    await Promise.all(puts);
  }
  await store.close();
}

function key(name: string): string {
  return `/core/configmaps/default/${name}`;
}

function perSecond(times: number, work: (i: number) => unknown): number {
  const started = performance.now();
  for (let i = 0; i < times; i++) work(i);
  return times / ((performance.now() - started) / 1000);
}
