/** Measures how long `capstan up` takes to be ready and how much memory it holds, with nothing stored and with much. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { KubeObject, Resource } from '../src/machinery/index.ts';
import { lmdbEngine } from '../src/store/index.ts';
import { buildCapstan, type CapstanProcess, startCapstan } from './lib/capstan.ts';
import { Figures } from './lib/figures.ts';
import { startLocalServer } from './lib/local-server.ts';
import { bodyMaker, loadKinds } from './lib/objects.ts';

const { values } = parseArgs({
  options: {
    objects: { type: 'string', default: '50000' },
    bytes: { type: 'string', default: '6000' },
    runs: { type: 'string', default: '3' },
    /** how long to wait before memory is read: a process gives back what it needed to start only after a while */
    settle: { type: 'string', default: '20' },
    only: { type: 'string', default: 'empty,first,full' },
    'node-argument': { type: 'string', multiple: true, default: [] },
    /** directory for a heap snapshot of the filled server */
    snapshot: { type: 'string' },
  },
});

const figures = new Figures();
const scratch = mkdtempSync(join(tmpdir(), 'capstan-bench-startup-'));
const build = await buildCapstan();
const only = values.only.split(',');
const count = Number(values.objects);
try {
  const full = join(scratch, 'full', 'data');
  if (only.includes('full')) await fill(join(full, 'store'));
  const used = join(scratch, 'used', 'data');
  if (only.includes('empty')) await (await start(used)).stop();
  for (let run = 0; run < Number(values.runs); run++) {
    if (only.includes('first')) {
      const first = join(scratch, `first-${run}`, 'data');
      await measure('first', first, { ready: {}, resident: {} });
    }
    if (only.includes('empty')) await measure('empty', used, { ready: { aim: 1000 }, resident: { aim: 120 } });
    if (only.includes('full')) {
      const isUsual = count === 50_000 && values.bytes === '6000';
      await measure(`${count}_objects`, full, {
        ready: isUsual ? { aim: 3000 } : {},
        resident: isUsual ? { aim: 600 } : {},
      });
    }
  }
} finally {
  build.remove();
  rmSync(scratch, { recursive: true, force: true });
}
figures.print();

function start(dataDirectory: string, probe = false): Promise<CapstanProcess> {
  return startCapstan({ program: build.program, dataDirectory, probe, nodeArguments: values['node-argument'] });
}

async function measure(
  what: string,
  dataDirectory: string,
  aims: { ready: { aim?: number }; resident: { aim?: number } },
): Promise<void> {
  const target = 'capstan';
  const capstan = await start(dataDirectory);
  figures.add({ figure: `start_to_ready_ms_${what}`, target }, capstan.readyMs, {
    unit: 'ms',
    better: 'lower',
    ...aims.ready,
  });
  await new Promise((resolve) => setTimeout(resolve, Number(values.settle) * 1000));
  const megabytes = capstan.residentBytes() / 1e6;
  figures.add({ figure: `resident_mb_${what}`, target }, megabytes, { unit: 'MB', better: 'lower', ...aims.resident });
  await capstan.stop();
  const probed = await start(dataDirectory, true);
  const { memory } = await probed.report({ collectGarbage: true });
  for (const part of ['rss', 'heapUsed', 'heapTotal', 'external', 'arrayBuffers'] as const) {
    const key = { figure: `memory_${part}_mb_${what}`, target };
    figures.add(key, memory[part] / 1e6, { unit: 'MB', better: 'lower' });
  }
  if (values.snapshot !== undefined) await probed.heapSnapshot(join(values.snapshot, `${what}.heapsnapshot`));
  await probed.stop();
}

/** Fills a data directory without going over the network. */
async function fill(directory: string): Promise<void> {
  const local = await startLocalServer(await lmdbEngine({ directory }));
  const client = local.server.localClient();
  const configMaps: Resource<KubeObject> = {
    group: '',
    version: 'v1',
    kind: 'ConfigMap',
    plural: 'configmaps',
    namespaced: true,
  };
  const body = bodyMaker(loadKinds['configmaps']!, 'default', Number(values.bytes));
  const template = JSON.parse(body({ name: 'template', revision: 0 }).toString()) as KubeObject;
  for (let at = 0; at < count; at += 500) {
    const creates = Array.from({ length: Math.min(500, count - at) }, (_, i) =>
      client.create(
        configMaps,
        { ...template, metadata: { ...template.metadata, name: `filled-${at + i}` } },
        { fieldManager: 'bench' },
      ),
    );
    await Promise.all(creates);
  }
  await local.close();
}
