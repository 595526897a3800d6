import type { Connection, Protocol } from './connection.ts';
import { type FigureKey, type Figures, percentile } from './figures.ts';
import { closedLoop, delay, expectStatus, type LoadResult, openLoop, resourceVersionIn, type Step } from './load.ts';
import { bodyMaker, type LoadKind, sentMark } from './objects.ts';
import { cpuSeconds, openConnection, type Target } from './target.ts';

export interface ApiSettings {
  target: Target;
  protocol: Protocol;
  kind: LoadKind;
  figures: Figures;
  run: number;
  bytes: number;
  clients: number;
  /** number of connections shared by the clients */
  sessions: number;
  measureMs: number;
}

export interface ApiMeasurement {
  perProtocol: boolean;
  perKind: boolean;
  measure(settings: ApiSettings): Promise<void>;
}

const listedObjects = 5000;
const fanOutWatchers = 200;
const latencyWritesPerSecond = 500;

export const apiMeasurements: Readonly<Record<string, ApiMeasurement>> = {
  creates: { perProtocol: true, perKind: true, measure: measureCreates },
  updates: { perProtocol: true, perKind: true, measure: measureUpdates },
  gets: { perProtocol: true, perKind: true, measure: measureGets },
  list: { perProtocol: false, perKind: true, measure: measureList },
  'watch-latency': { perProtocol: false, perKind: false, measure: measureWatchLatency },
  'watch-fan-out': { perProtocol: false, perKind: false, measure: measureFanOut },
};

async function measureCreates(settings: ApiSettings): Promise<void> {
  const { kind, target } = settings;
  const body = bodyMaker(kind, target.namespace, settings.bytes);
  const path = kind.collection(target.namespace);
  const names = nameSource(settings, 'create');
  await withConnections(settings, settings.sessions, async (connections) => {
    const result = await measureLoad(settings, connections, 'creates', async (connection) => {
      expectStatus(await connection.send('POST', path, body({ name: names(), revision: 0 })), 201);
    });
    reportRate(settings, 'creates_per_second', result, 3300);
  });
}

async function measureUpdates(settings: ApiSettings): Promise<void> {
  const { kind, target } = settings;
  const body = bodyMaker(kind, target.namespace, settings.bytes);
  const path = kind.collection(target.namespace);
  await withConnections(settings, settings.sessions, async (connections) => {
    const objects = await createObjects(settings, connections, settings.clients, 'update');
    let revision = 1;
    // Each client updates its own object, so conflicts do not affect the result.
    const result = await measureLoad(settings, connections, 'updates', async (connection, client) => {
      const object = objects[client]!;
      const { name, resourceVersion } = object;
      const answer = await connection.send(
        'PUT',
        `${path}/${name}`,
        body({ name, revision: revision++, resourceVersion }),
      );
      object.resourceVersion = resourceVersionIn(expectStatus(answer, 200));
    });
    reportRate(settings, 'updates_per_second', result, 3300);
  });
}

async function measureGets(settings: ApiSettings): Promise<void> {
  const path = settings.kind.collection(settings.target.namespace);
  await withConnections(settings, settings.sessions, async (connections) => {
    const objects = await createObjects(settings, connections, 1000, 'get');
    let next = 0;
    const result = await measureLoad(settings, connections, 'gets', async (connection) => {
      expectStatus(await connection.send('GET', `${path}/${objects[next++ % objects.length]!.name}`), 200);
    });
    reportRate(settings, 'gets_per_second', result, undefined);
  });
}

async function measureList(settings: ApiSettings): Promise<void> {
  const { target, kind, figures } = settings;
  await withConnections(settings, settings.clients, async (connections) => {
    await createObjects(settings, connections, listedObjects, 'list', target.listNamespace);
    const selector = `labelSelector=${encodeURIComponent('app.kubernetes.io/name=bench')}`;
    const page = `${kind.collection(target.listNamespace)}?limit=${listedObjects}`;
    for (const [figure, path] of [
      ['list', page],
      ['list_selected', `${page}&${selector}`],
    ] as const) {
      const times: number[] = [];
      let bytes = 0;
      for (let i = 0; i < 10; i++) {
        const started = performance.now();
        const body = expectStatus(await connections[0]!.send('GET', path), 200);
        times.push(performance.now() - started);
        bytes = body.length;
      }
      const key: FigureKey = {
        figure: `${figure}_of_${listedObjects}_ms`,
        target: target.name,
        protocol: settings.protocol,
        kind: kind.plural,
      };
      const median = percentile(times, 0.5);
      figures.add(key, median, { unit: 'ms', better: 'lower' });
      figures.add({ ...key, figure: `${figure}_megabytes_per_second` }, bytes / 1e6 / (median / 1000), {
        unit: 'MB/s',
        better: 'higher',
      });
    }
  });
}

async function measureWatchLatency(settings: ApiSettings): Promise<void> {
  const { target, kind, figures } = settings;
  const path = kind.collection(target.namespace);
  const body = bodyMaker(kind, target.namespace, settings.bytes);
  await withConnections(settings, settings.clients, async (connections) => {
    const names = nameSource(settings, 'latency');
    const first = await createObjects(settings, connections, 1, 'latency');
    const latencies: number[] = [];
    const watch = await openConnection(target, settings.protocol);
    const onData = eventReader((event) => {
      const at = event.indexOf(sentMark) + sentMark.length;
      latencies.push(performance.now() - Number(event.toString('latin1', at, event.indexOf(0x22, at))));
    });
    await watch.stream(`${path}?watch=1&resourceVersion=${first[0]!.resourceVersion}`, onData);
    const write = async (durationMs: number): Promise<number> => {
      latencies.length = 0;
      const { requests } = await openLoop({
        connections,
        perSecond: latencyWritesPerSecond,
        durationMs,
        step: async (connection) => {
          expectStatus(await connection.send('POST', path, body({ name: names(), revision: 0 })), 201);
        },
      });
      await until(() => latencies.length >= requests);
      return requests;
    };
    await write(warmUpMs(settings));
    await target.capstan?.reset();
    const requests = await write(settings.measureMs);
    watch.close();
    const key: FigureKey = { figure: 'write_to_watch_p99_ms', target: target.name, protocol: settings.protocol };
    figures.add({ ...key, figure: 'write_to_watch_p50_ms' }, percentile(latencies, 0.5), {
      unit: 'ms',
      better: 'lower',
    });
    figures.add(key, percentile(latencies, 0.99), { unit: 'ms', better: 'lower', aim: 20 });
    const reached = { ...key, figure: 'write_to_watch_writes_per_second' };
    figures.add(reached, requests / (settings.measureMs / 1000), { unit: '/s', better: 'higher' });
  });
}

async function measureFanOut(settings: ApiSettings): Promise<void> {
  const { target, kind, figures } = settings;
  const path = kind.collection(target.namespace);
  const body = bodyMaker(kind, target.namespace, settings.bytes);
  const watchers: Connection[] = [];
  await withConnections(settings, 8, async (connections) => {
    const [object] = await createObjects(settings, connections, 1, 'fan-out');
    let deliveries = 0;
    let lastDelivery = 0;
    for (let i = 0; i < fanOutWatchers; i++) {
      const watcher = await openConnection(target, settings.protocol);
      watchers.push(watcher);
      const onData = lineCounter((lines) => {
        deliveries += lines;
        lastDelivery = performance.now();
      });
      await watcher.stream(`${path}?watch=1&resourceVersion=${object!.resourceVersion}`, onData);
    }
    const names = nameSource(settings, 'fan-out');
    await target.capstan?.reset();
    const started = performance.now();
    let writes = 0;
    let stopped = false;
    // Writers wait for readers, so the result is the sustained rate.
    const writer = async (connection: Connection): Promise<void> => {
      while (!stopped) {
        if ((writes - 64) * fanOutWatchers > deliveries) {
          await delay(1);
          continue;
        }
        writes++;
        expectStatus(await connection.send('POST', path, body({ name: names(), revision: 0 })), 201);
      }
    };
    const writing = connections.map(writer);
    await delay(settings.measureMs);
    stopped = true;
    await Promise.all(writing);
    // A server may disconnect slow watchers. Missed events are reported instead of awaited.
    while (deliveries < writes * fanOutWatchers && performance.now() - lastDelivery < 3000) await delay(5);
    const key: FigureKey = { figure: 'watch_deliveries_per_second', target: target.name, protocol: settings.protocol };
    figures.add(key, deliveries / ((lastDelivery - started) / 1000), { unit: '/s', better: 'higher' });
    const missing = 1 - deliveries / (writes * fanOutWatchers);
    figures.add({ ...key, figure: 'watch_deliveries_missing' }, missing, {
      unit: 'of all',
      better: 'lower',
      isContext: true,
    });
    await reportStall(settings, 'watch_fan_out');
  });
  for (const watcher of watchers) watcher.close();
}

/** The first run meets a server whose code has not been optimized yet. */
function warmUpMs({ run }: ApiSettings): number {
  return run === 0 ? 3000 : 1000;
}

async function measureLoad(
  settings: ApiSettings,
  connections: readonly Connection[],
  load: string,
  step: Step,
): Promise<LoadResult> {
  const { target, figures, protocol, kind } = settings;
  let cpuBefore: number | undefined;
  const result = await closedLoop({
    connections,
    clients: settings.clients,
    warmUpMs: warmUpMs(settings),
    measureMs: settings.measureMs,
    step,
    async onMeasure() {
      await target.capstan?.reset();
      cpuBefore = await cpuSeconds(target);
    },
  });
  const cpuAfter = await cpuSeconds(target);
  if (cpuBefore !== undefined && cpuAfter !== undefined) {
    const key: FigureKey = { figure: `${load}_server_cpu_us`, target: target.name, protocol, kind: kind.plural };
    figures.add(key, ((cpuAfter - cpuBefore) / result.requests) * 1e6, { unit: 'us/request', better: 'lower' });
  }
  await reportStall(settings, load);
  return result;
}

/** Reports how long the server's event loop was blocked; known only for capstan. */
async function reportStall(settings: ApiSettings, load: string): Promise<void> {
  const { target, figures, protocol, kind } = settings;
  if (!target.capstan) return;
  const { stallMs, loopUtilization } = await target.capstan.report();
  const key: FigureKey = { figure: `${load}_loop_stall_p99_ms`, target: target.name, protocol, kind: kind.plural };
  figures.add(key, stallMs.p99, { unit: 'ms', better: 'lower', aim: 20 });
  const used: FigureKey = { ...key, figure: `${load}_server_loop` };
  figures.add(used, loopUtilization, { unit: 'of 1 core', better: 'lower', isContext: true });
}

function reportRate(settings: ApiSettings, figure: string, result: LoadResult, aim: number | undefined): void {
  const { target, figures, protocol, kind } = settings;
  const key: FigureKey = { figure, target: target.name, protocol, kind: kind.plural };
  figures.add(key, result.perSecond, { unit: '/s', better: 'higher', ...(aim !== undefined && { aim }) });
  const base = figure.replace('_per_second', '');
  figures.add({ ...key, figure: `${base}_p99_ms` }, result.latencyMs.p99, { unit: 'ms', better: 'lower' });
  figures.add({ ...key, figure: `${base}_generator_load` }, result.generatorLoad, {
    unit: 'of 1 core',
    better: 'lower',
    isContext: true,
  });
  figures.add({ ...key, figure: `${base}_generator_cpu_us` }, result.generatorCpuMicroseconds, {
    unit: 'us/request',
    better: 'lower',
    isContext: true,
  });
}

async function withConnections(
  settings: ApiSettings,
  count: number,
  use: (connections: readonly Connection[]) => Promise<void>,
): Promise<void> {
  const connections = await Promise.all(
    Array.from({ length: count }, () => openConnection(settings.target, settings.protocol)),
  );
  try {
    await use(connections);
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** Returns names unique in this process. */
function nameSource(settings: ApiSettings, what: string): () => string {
  let next = 0;
  const prefix = `${what}-${settings.protocol}-${settings.run}`;
  return () => `${prefix}-${next++}`;
}

/** Creates objects with the name prefix `what`. Objects of an earlier run may exist already. */
async function createObjects(
  settings: ApiSettings,
  connections: readonly Connection[],
  count: number,
  what: string,
  /** default: the namespace of the run */
  namespace?: string,
): Promise<{ name: string; resourceVersion: string }[]> {
  const { kind, target } = settings;
  const where = namespace ?? target.namespace;
  const body = bodyMaker(kind, where, settings.bytes);
  const path = kind.collection(where);
  const prefix = namespace === undefined ? `fill-${what}-${settings.protocol}-${settings.run}` : `fill-${what}`;
  const objects: { name: string; resourceVersion: string }[] = [];
  let next = 0;
  const client = async (connection: Connection): Promise<void> => {
    while (next < count) {
      const name = `${prefix}-${next++}`;
      const answer = await connection.send('POST', path, body({ name, revision: 0 }));
      objects.push({ name, resourceVersion: resourceVersionIn(expectStatus(answer, 201, 409)) });
    }
  };
  await Promise.all(connections.map(client));
  return objects;
}

async function until(condition: () => boolean): Promise<void> {
  for (let waited = 0; !condition(); waited += 5) {
    if (waited > 60_000) throw new Error('events are missing');
    await delay(5);
  }
}

function lineCounter(onLines: (lines: number) => void): (bytes: Buffer) => void {
  return (bytes) => {
    let lines = 0;
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines++;
    if (lines > 0) onLines(lines);
  };
}

function eventReader(onEvent: (line: Buffer) => void): (bytes: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (bytes) => {
    let all = rest.length > 0 ? Buffer.concat([rest, bytes]) : bytes;
    for (let end = all.indexOf(10); end >= 0; end = all.indexOf(10)) {
      onEvent(all.subarray(0, end));
      all = all.subarray(end + 1);
    }
    rest = all;
  };
}
