/** Lets a fleet of clusters grow and measures, at rest, what each cluster more costs: memory, requests, time until a loss is noticed. */
import { parseArgs } from 'node:util';
import { type HttpClient, httpClient, loadKubeconfig, restMapper } from '../src/client/index.ts';
import type { KubeObject, Resource } from '../src/machinery/index.ts';
import { buildCapstan, type CapstanProcess, residentBytes, settledMemory, startCapstan } from './lib/capstan.ts';
import { createCloudSecret, liftQuotas } from './lib/cloud-access.ts';
import { startCloudProcess } from './lib/cloud-process.ts';
import { Figures } from './lib/figures.ts';
import { openFleet, until } from './lib/fleet.ts';
import { revisionOf, untilQuiet, writtenSince } from './lib/quiet.ts';
import { processCpuSeconds } from './lib/target.ts';

const { values } = parseArgs({
  options: {
    /** numbers of clusters to grow to, one after the other; memory is told at each, and its slope from each to the next */
    sizes: { type: 'string', default: '20,100' },
    'control-planes': { type: 'string', default: '1' },
    workers: { type: 'string', default: '2' },
    /** at the last size every cluster is scaled to so many workers, and measured once more */
    'then-workers': { type: 'string' },
    /** so many clusters are made at once: those before them are Ready by then */
    wave: { type: 'string', default: '50' },
    /** how long the fleet is left alone before its memory is told, in seconds: the past is kept for five minutes, and collected after six */
    settle: { type: 'string', default: '380' },
    /** how long the fleet is watched at rest at each size, in seconds */
    rest: { type: 'string', default: '60' },
    /** how long anything may take, in seconds */
    patience: { type: 'string', default: '1800' },
    /** write a heap snapshot of the management process to this file at the end */
    snapshot: { type: 'string' },
  },
});

const sizes = values.sizes.split(',').map(Number);
const controlPlanes = Number(values['control-planes']);
/** of every cluster */
let workers = Number(values.workers);
const wave = Number(values.wave);
const patienceMs = Number(values.patience) * 1000;
const settledMs = 10_000;

type ServerView = KubeObject & {
  status?: { instanceID?: string; conditions?: { type: string; status: string }[] };
};

interface Memory {
  clusters: number;
  residentBytes: number;
  /** objects and buffers in use; the rest of what is resident is the engine's and the system's */
  usedBytes: number;
}

const figures = new Figures();
const build = await buildCapstan();
// a thousand simulated clusters are more than the heap a process has by default
const cloud = await startCloudProcess(build.program, ['--max-old-space-size=16384']);
try {
  await liftQuotas(cloud);
  await cloud.operate('PATCH', '/timings', {
    timings: {
      ...{ 'server.schedule': 0, 'server.network': 0, 'server.devices': 0, 'server.spawn': 0 },
      ...{ 'machine.boot': 500, 'node.etcd': 100, 'node.apiserver': 100, 'node.join': 100 },
    },
  });
  const capstan = await startCapstan({ program: build.program });
  const client = httpClient(await loadKubeconfig({ path: capstan.kubeconfig, env: {} }), { maxConnections: 16 });
  const stop = new AbortController();
  try {
    await createCloudSecret(client, cloud);
    await measure(capstan, client, stop.signal);
  } finally {
    stop.abort();
    await client.close();
    await capstan.stop();
  }
} finally {
  await cloud.stop();
  build.remove();
}
figures.print();

async function measure(capstan: CapstanProcess, client: HttpClient, signal: AbortSignal): Promise<void> {
  const memory: Memory[] = [await memoryOf(capstan, 0)];
  for (let made = 0; made < sizes.at(-1)!; ) {
    const size = sizes.find((each) => each > made)!;
    await grow(capstan, client, { from: made, to: size, signal });
    made = size;
    await settle(client);
    const before = memory.at(-1)!;
    const after = await memoryOf(capstan, size);
    memory.push(after);
    reportSlope(before, after);
    await atRest(capstan, client, size);
  }
  if (values['then-workers'] !== undefined) {
    workers = Number(values['then-workers']);
    await grow(capstan, client, { from: 0, to: sizes.at(-1)!, signal });
    await settle(client);
    await memoryOf(capstan, sizes.at(-1)!);
    await atRest(capstan, client, sizes.at(-1)!);
  }
  await loseServer(client, sizes.at(-1)!, signal);
  if (values.snapshot !== undefined) await capstan.heapSnapshot(values.snapshot);
}

/** Waits until everything is done and what was only needed meanwhile is given back. */
async function settle(client: HttpClient): Promise<void> {
  await untilQuiet(client, { quietMs: settledMs, patienceMs });
  await new Promise((resolve) => setTimeout(resolve, Number(values.settle) * 1000));
}

/** Clusters in waves, each of which begins when the one before is Ready; those there already are scaled. */
async function grow(
  capstan: CapstanProcess,
  client: HttpClient,
  { from, to, signal }: { from: number; to: number; signal: AbortSignal },
): Promise<void> {
  const [cpu, cloudCpu, started] = [processCpuSeconds(capstan.pid), processCpuSeconds(cloud.pid), performance.now()];
  for (let made = from; made < to; ) {
    const clusters = Math.min(wave, to - made);
    const shape = { prefix: `from-${made}`, clusters, controlPlanes, workers };
    const fleet = await openFleet(client, shape, { patienceMs, signal });
    await Promise.all([fleet.untilReady(), fleet.apply()]);
    made += clusters;
    console.error(`${made} clusters after ${seconds(started).toFixed(0)} s`);
  }
  const more = to - from;
  add('cpu_seconds_per_cluster', (processCpuSeconds(capstan.pid) - cpu) / more, 's', to);
  add('cloud_cpu_seconds_per_cluster', (processCpuSeconds(cloud.pid) - cloudCpu) / more, 's', to);
}

async function memoryOf(capstan: CapstanProcess, clusters: number): Promise<Memory> {
  const memory = await settledMemory(capstan);
  add('settled_mib', memory.residentBytes / 2 ** 20, 'MiB', clusters);
  add('settled_used_mib', memory.usedBytes / 2 ** 20, 'MiB', clusters);
  add('cloud_mib', residentBytes(cloud.pid) / 2 ** 20, 'MiB', clusters);
  return { clusters, ...memory };
}

function reportSlope(before: Memory, after: Memory): void {
  const slope = (what: 'residentBytes' | 'usedBytes'): number =>
    (after[what] - before[what]) / (after.clusters - before.clusters) / 2 ** 20;
  add('slope_mib_per_cluster', slope('residentBytes'), 'MiB', after.clusters, before.clusters > 0 ? 2 : undefined);
  add('slope_used_mib_per_cluster', slope('usedBytes'), 'MiB', after.clusters);
}

async function atRest(capstan: CapstanProcess, client: HttpClient, size: number): Promise<void> {
  const restSeconds = Number(values.rest);
  const [revision, cpu] = [await revisionOf(client), processCpuSeconds(capstan.pid)];
  await cloud.operate('DELETE', '/requests');
  await new Promise((resolve) => setTimeout(resolve, restSeconds * 1000));
  const writes = (await revisionOf(client)) - revision;
  add('requests_per_second_at_rest', (await cloud.requestCount()) / restSeconds, '/s', size, 1);
  add('cores_at_rest', (processCpuSeconds(capstan.pid) - cpu) / restSeconds, '', size);
  add('writes_at_rest', writes, '', size, 0);
  if (writes > 0) for (const line of await writtenSince(client, revision)) console.error(`written at rest: ${line}`);
}

/** Somebody deletes a server in the cloud. */
async function loseServer(client: HttpClient, size: number, signal: AbortSignal): Promise<void> {
  const servers = (await restMapper(client).forKind({
    kind: 'OpenStackServer',
    group: 'infrastructure.cluster.x-k8s.io',
  })) as Resource<ServerView>;
  const [victim] = (await client.list(servers, { limit: 1 })).items;
  const [name, id] = [victim?.metadata.name, victim?.status?.instanceID];
  if (id === undefined) throw new Error('there is no server that could be lost');
  await cloud.operate('DELETE', `/servers/${id}`);
  const started = performance.now();
  await until(client, servers, { patienceMs, signal }, (all) => {
    const server = all.find(({ metadata }) => metadata.name === name) as ServerView | undefined;
    return !server?.status?.conditions?.some(({ type, status }) => type === 'InstanceReady' && status === 'True');
  });
  add('seconds_until_a_lost_server_is_noticed', seconds(started), 's', size, 60);
}

function seconds(since: number): number {
  return (performance.now() - since) / 1000;
}

function add(figure: string, value: number, unit: string, size: number, aim?: number): void {
  // such a run takes long: what is known is told
  console.error(`${size} clusters: ${figure} ${value.toFixed(2)} ${unit}`);
  figures.add({ figure, target: 'capstan', kind: `${size} x ${controlPlanes}+${workers}` }, value, {
    unit,
    better: 'lower',
    ...(aim !== undefined && { aim }),
  });
}
