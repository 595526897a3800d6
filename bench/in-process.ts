/** Measures the API without HTTP, as our own controllers use it: the same admission, validation and durability. */
import { parseArgs } from 'node:util';
import type { LocalClient } from '../src/apiserver/index.ts';
import type { KubeObject, Resource } from '../src/machinery/index.ts';
import { Figures } from './lib/figures.ts';
import { openBenchEngine, startLocalServer, type WriteResult, writesPerSecond } from './lib/local-server.ts';
import { runAsShipped } from './lib/node-arguments.ts';
import { bodyMaker, loadKinds } from './lib/objects.ts';

runAsShipped(import.meta.url);

const { values } = parseArgs({
  options: {
    engine: { type: 'string', default: 'lmdb,memory' },
    writers: { type: 'string', default: '256' },
    bytes: { type: 'string', default: '4096' },
    runs: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
  },
});

interface ConfigMap extends KubeObject {
  data: Record<string, string>;
}

const configMaps: Resource<ConfigMap> = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};
const options = { fieldManager: 'bench' };
const figures = new Figures();
const body = bodyMaker(loadKinds['configmaps']!, 'default', Number(values.bytes));

for (let run = 0; run < Number(values.runs); run++) {
  for (const name of values.engine.split(',')) {
    const { engine, remove } = await openBenchEngine(name);
    const local = await startLocalServer(engine);
    await measureWrites(name, run, local.server.localClient());
    await local.close();
    remove();
  }
}
figures.print();

async function measureWrites(engine: string, run: number, client: LocalClient): Promise<void> {
  const target = `capstan ${engine}`;
  const writers = Number(values.writers);
  const load = { writers, warmUpMs: run === 0 ? 3000 : 1000, measureMs: Number(values.seconds) * 1000 };
  const aim = engine === 'lmdb' ? { aim: 15_000 } : {};
  const template = JSON.parse(body({ name: 'template', revision: 0 }).toString()) as ConfigMap;
  const named = (name: string): ConfigMap => ({ ...template, metadata: { ...template.metadata, name } });

  let next = 0;
  const creates = await writesPerSecond({
    ...load,
    write: async () => void (await client.create(configMaps, named(`create-${run}-${next++}`), options)),
  });
  report('creates', target, creates, aim);

  const idle: ConfigMap[] = [];
  for (let i = 0; i < writers; i++) idle.push(await client.create(configMaps, named(`update-${run}-${i}`), options));
  let revision = 0;
  const updates = await writesPerSecond({
    ...load,
    async write() {
      const object = idle.pop()!;
      idle.push(
        await client.update(configMaps, { ...object, data: { ...object.data, revision: String(revision++) } }, options),
      );
    },
  });
  report('updates', target, updates, {});

  const patches = await writesPerSecond({
    ...load,
    async write() {
      const object = idle.pop()!;
      const key = { namespace: 'default', name: object.metadata.name! };
      idle.push(await client.patch(configMaps, key, 'merge', { data: { revision: String(revision++) } }, options));
    },
  });
  report('patches', target, patches, {});
}

function report(what: string, target: string, result: WriteResult, aim: { aim?: number }): void {
  figures.add({ figure: `${what}_per_second`, target }, result.perSecond, { unit: '/s', better: 'higher', ...aim });
  figures.add({ figure: `${what}_cpu_us`, target }, result.cpuMicroseconds, { unit: 'us/request', better: 'lower' });
  figures.add({ figure: `${what}_quiet_cpu_us`, target }, result.quietCpuMicroseconds, {
    unit: 'us/request',
    better: 'lower',
  });
}
