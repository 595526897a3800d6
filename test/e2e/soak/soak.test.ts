import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Resource, seededRandom, type UnstructuredObject } from '../../../src/machinery/index.ts';
import { eventually } from '../../support/eventually.ts';
import { type InProcessServer, startInProcess } from '../../support/rough/in-process-server.ts';
import { http2Client, type JsonAnswer, sendJson, type WireClient } from '../../support/rough/wire.ts';
import { blue, everything, Model, type Selection, shard, shards } from './tally.ts';
import { HttpWatcher, LocalWatcher, openSession, type Shape, type Watcher } from './watchers.ts';

/** CAPSTAN_SOAK_MINUTES sets the duration of a real soak test. */
const minutes = Number(process.env['CAPSTAN_SOAK_MINUTES'] ?? 0.4);
const durationMs = minutes * 60_000;
const writesPerSecond = 100;
const writerCount = 5;
const objectsPerWriter = 30;
const sessionCount = 10;
const megabyte = 1024 * 1024;

const resource: Resource<UnstructuredObject> = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};
const collection = '/api/v1/namespaces/default/configmaps';
const random = seededRandom(1);

let server: InProcessServer;

beforeAll(async () => {
  // A short history, so that growth beyond it is a leak.
  server = await startInProcess({ engine: 'disk', history: { minRevisions: 1000, maxRevisions: 2000, minAgeMs: 0 } });
});

afterAll(() => server.stop());

setFlagsFromString('--expose_gc');
const collectGarbage = runInNewContext('gc') as () => void;

async function heapAfterCollection(): Promise<number> {
  for (let i = 0; i < 4; i++) {
    collectGarbage();
    await delay(10);
  }
  return process.memoryUsage().heapUsed;
}

/** Changes its own objects, sometimes creating or deleting one, and reports the answers to the model. */
class Writer {
  readonly #client: WireClient;
  readonly #labels = new Map<string, Record<string, string>>();
  readonly #prefix: string;
  readonly #model: Model;
  writes = 0;
  slowestMs = 0;

  constructor(client: WireClient, prefix: string, model: Model) {
    this.#client = client;
    this.#prefix = prefix;
    this.#model = model;
  }

  async write(): Promise<void> {
    const name = `${this.#prefix}-${Math.floor(random.next() * objectsPerWriter)}`;
    const before = this.#labels.get(name);
    const started = performance.now();
    if (before && random.next() < 0.1) {
      const { status } = await sendJson(this.#client, 'DELETE', `${collection}/${name}`);
      expect(status).toBe(200);
      this.#labels.delete(name);
      // The answer to a delete has no revision, and no tally needs it.
      this.#model.record({ revision: 0, before, after: undefined });
    } else {
      const after = {
        shard: String(Math.floor(random.next() * shards)),
        colour: random.next() < 0.5 ? 'blue' : 'red',
      };
      const object = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, labels: after },
        data: { n: String(this.writes), padding: 'x'.repeat(200) },
      };
      const { status, value } = before
        ? await sendJson(this.#client, 'PUT', `${collection}/${name}`, object)
        : await sendJson(this.#client, 'POST', collection, object);
      expect(status).toBe(before ? 200 : 201);
      this.#labels.set(name, after);
      this.#model.record({ revision: Number((value as JsonAnswer).metadata.resourceVersion), before, after });
    }
    this.writes++;
    this.slowestMs = Math.max(this.slowestMs, performance.now() - started);
  }
}

function selections(count: number): Selection[] {
  const known = Array.from({ length: shards }, (_, i) => shard(i));
  return Array.from({ length: count }, (_, i) =>
    i % 10 === 0 ? everything : i % 10 === 1 ? blue : known[i % shards]!,
  );
}

it(
  'a thousand watchers see every change once and in order, and memory stays flat',
  async () => {
    const model = new Model();
    const start = server.store.revision;
    const shapes: Shape[] = ['object', 'table', 'partial'];
    const sessions = Array.from({ length: sessionCount }, () => openSession(server));
    const overHttp = selections(500).map(
      (selection, i) => new HttpWatcher(selection, start, collection, shapes[i % 3]!),
    );
    const inProcess = selections(500).map((selection) => new LocalWatcher(selection, start));
    const watchers: Watcher[] = [...overHttp, ...inProcess];
    for (const { selection } of watchers) model.expect(selection);
    await Promise.all(overHttp.map((watcher, i) => watcher.start(sessions[i % sessionCount]!)));
    const local = Promise.all(inProcess.map((watcher) => watcher.run(server, resource)));

    const client = http2Client(server.admin);
    const writers = Array.from({ length: writerCount }, (_, i) => new Writer(client, `w${i}`, model));
    const begin = performance.now();
    const passed = (): number => performance.now() - begin;
    let stopped = false;
    const writing = Promise.all(
      writers.map(async (writer) => {
        while (!stopped) {
          // On a slow machine, writes come as fast as possible.
          const due = (writer.writes * 1000 * writerCount) / writesPerSecond;
          if (due > passed()) await delay(due - passed());
          await writer.write();
        }
      }),
    );
    // Some watchers disconnect and resume at their revision.
    const restless = overHttp.filter((_, i) => i % 10 === 3);
    const wandering = (async () => {
      for (let i = 0; !stopped; i++) {
        const watcher = restless[i % restless.length]!;
        watcher.stop();
        await delay(40);
        watcher.resumed++;
        await watcher.start(sessions[i % sessionCount]!);
      }
    })();
    const heaps: number[] = [];
    for (const part of [1, 2, 3]) {
      await Promise.race([delay(Math.max(0, (durationMs * part) / 3 - passed())), writing, wandering]);
      heaps.push(await heapAfterCollection());
    }
    stopped = true;
    await Promise.all([writing, wandering]);

    const differences = (): string[] =>
      watchers.flatMap((watcher) => {
        const wanted = model.tallyOf(watcher.selection);
        const { puts, sum, deletes } = watcher.tally;
        if (watcher.problem) return [`${watcher.description}: ${watcher.problem}`];
        if (puts === wanted.puts && sum === wanted.sum && deletes === wanted.deletes) return [];
        return [`${watcher.description}: told ${JSON.stringify(watcher.tally)}, expected ${JSON.stringify(wanted)}`];
      });
    await eventually(async () => expect(differences().slice(0, 5)).toEqual([]));
    const writes = writers.reduce((sum, writer) => sum + writer.writes, 0);
    const events = watchers.reduce((sum, { tally }) => sum + tally.puts + tally.deletes, 0);
    const seconds = passed() / 1000;
    console.log(
      [
        `${writes} writes in ${seconds.toFixed(0)} s (${(writes / seconds).toFixed(0)}/s), ${events} events delivered`,
        `heap after collection ${heaps.map((heap) => `${(heap / megabyte).toFixed(1)} MiB`).join(', ')}`,
        `resident ${(process.memoryUsage.rss() / megabyte).toFixed(0)} MiB`,
        `slowest write ${Math.max(...writers.map(({ slowestMs }) => slowestMs)).toFixed(0)} ms`,
        `${restless.reduce((sum, { resumed }) => sum + resumed, 0)} watches resumed`,
      ].join('; '),
    );
    expect(server.unexpected).toEqual([]);
    expect(heaps[2]!).toBeLessThan(heaps[0]! * 1.25 + 20 * megabyte);

    for (const watcher of overHttp) watcher.stop();
    for (const watcher of inProcess) watcher.stop();
    await local;
    for (const session of sessions) session.destroy();
    client.close();
  },
  durationMs + 180_000,
);
