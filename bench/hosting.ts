/** Measures how long hosted control planes take to answer on simulated Pods, what that costs, and that they rest when they are done. */
import { request } from 'node:https';
import { parseArgs } from 'node:util';
import { type HttpClient, httpClient, loadKubeconfig } from '../src/client/index.ts';
import { buildCapstan, type CapstanProcess, residentBytes, settledMemory, startCapstan } from './lib/capstan.ts';
import { createCloudSecret, liftQuotas } from './lib/cloud-access.ts';
import { startCloudProcess } from './lib/cloud-process.ts';
import { Figures, percentile } from './lib/figures.ts';
import { flavors, type HostedFleet, openHostedFleet, ownSeconds } from './lib/hosted-fleet.ts';
import { revisionOf, untilQuiet, writtenSince } from './lib/quiet.ts';
import { processCpuSeconds } from './lib/target.ts';

const { values } = parseArgs({
  options: {
    planes: { type: 'string', default: '100' },
    /** k0smotron or hosted */
    flavor: { type: 'string', default: 'k0smotron' },
    /** of every plane; its etcd has as many members */
    replicas: { type: 'string', default: '3' },
    /** grow to each of these numbers of planes in turn, and tell the memory between the first and the last */
    slope: { type: 'string' },
    /** how long the planes are left alone before their memory is told, in seconds: what watches may still ask for is kept for five minutes */
    settle: { type: 'string', default: '0' },
    /** how long the planes are watched at rest, in seconds */
    rest: { type: 'string', default: '60' },
    /** how long anything may take, in seconds */
    patience: { type: 'string', default: '1800' },
    /** put all planes to sleep at the end: what is left is the management side, what went were the simulated programs */
    sleep: { type: 'boolean', default: false },
    /** delete all planes at the end and measure that too */
    delete: { type: 'boolean', default: false },
    /** write a heap snapshot of the management process to this file when all planes are there */
    snapshot: { type: 'string' },
    /** write a CPU profile of the management process to this directory */
    profile: { type: 'string' },
  },
});

const flavor = flavors[values.flavor];
if (!flavor) throw new Error(`--flavor ${values.flavor}: one of ${Object.keys(flavors).join(', ')}`);
const replicas = Number(values.replicas);
const sizes = (values.slope ?? values.planes).split(',').map(Number);
const patienceMs = Number(values.patience) * 1000;
/** nothing was written for so long: the planes are done with what they began */
const settledMs = 10_000;
/** What simulated clusters store leaves memory half a minute after their last program. */
const leftMs = 45_000;
/** often enough for a figure in tenths of a second, seldom enough not to be what is measured */
const knockMs = 20;

interface Memory {
  planes: number;
  residentBytes: number;
  /** objects and buffers in use; the rest of what is resident is the engine's and the system's */
  usedBytes: number;
}

const figures = new Figures();
const build = await buildCapstan();
const cloud = await startCloudProcess(build.program);
try {
  await liftQuotas(cloud);
  // the simulated programs of a thousand planes are in this process too, more than the heap it has by default
  const nodeArguments = ['--max-old-space-size=16384', ...profiling()];
  const capstan = await startCapstan({ program: build.program, nodeArguments });
  const client = httpClient(await loadKubeconfig({ path: capstan.kubeconfig, env: {} }), { maxConnections: 16 });
  const stop = new AbortController();
  try {
    await createCloudSecret(client, cloud);
    const fleet = await openHostedFleet(client, flavor, { replicas, patienceMs, signal: stop.signal });
    await measure(capstan, client, fleet);
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

async function measure(capstan: CapstanProcess, client: HttpClient, fleet: HostedFleet): Promise<void> {
  await oneAlone(client, fleet);
  const empty = await memoryOf(capstan, 0);
  const memory: Memory[] = [];
  const names: string[] = [];
  for (const size of sizes) {
    const more = Array.from({ length: size - names.length }, (_, index) => `plane-${names.length + index}`);
    names.push(...more);
    await grow(capstan, fleet, more, size);
    await fleet.untilComplete(more);
    await untilQuiet(client, { quietMs: settledMs, patienceMs });
    await settle();
    memory.push(await memoryOf(capstan, size));
  }
  reportSlope(memory);
  await atRest(capstan, client);
  const awake = memory.at(-1);
  if (values.snapshot !== undefined) await capstan.heapSnapshot(values.snapshot);
  if (values.sleep && awake) {
    await Promise.all([fleet.sleep(names), fleet.untilAsleep()]);
    await untilQuiet(client, { quietMs: leftMs, patienceMs });
    await settle();
    reportMemoryShares(empty, awake, await memoryOf(capstan, names.length, 'asleep'));
  }
  if (!values.delete) return;
  const started = performance.now();
  await Promise.all([fleet.untilGone(names), fleet.delete(names)]);
  add('seconds_until_deleted', seconds(started), 's', { size: names.length });
}

/** What a plane takes when nothing else is done: nobody's turn is waited for. */
async function oneAlone(client: HttpClient, fleet: HostedFleet): Promise<void> {
  const names = ['alone'];
  const started = performance.now();
  const [initialized, answering] = [fleet.untilInitialized(names), untilAnswering(fleet, names, 1)];
  await fleet.apply(names);
  await Promise.all([answering, initialized]);
  add('seconds_until_initialized', seconds(started), 's', { size: 1 });
  await fleet.untilComplete(names);
  await untilQuiet(client, { quietMs: 2_000, patienceMs });
  add('seconds_until_settled', seconds(started) - 2, 's', { size: 1 });
  await Promise.all([fleet.untilGone(names), fleet.delete(names)]);
}

/** From the address of each plane's load balancer to the first answer behind it, and how much of that is ours. */
async function untilAnswering(fleet: HostedFleet, names: readonly string[], size: number): Promise<void> {
  const addressed = new Map<string, { address: string; sinceMs: number }>();
  const answers: Promise<number>[] = [];
  // the more doors, the slower the knocking: it must not be what is measured
  const pauseMs = knockMs * Math.max(1, names.length / 5);
  const knock = (name: string): void => {
    const found = addressed.get(name);
    if (found) answers.push(firstAnswer(found.address, found.sinceMs, pauseMs));
  };
  const [times] = await Promise.all([
    fleet.untilPods(names, knock),
    fleet.untilAddressed(names, (name, address) => addressed.set(name, { address, sinceMs: performance.now() })),
  ]);
  const own = [...times].map(([name, each]) => ownSeconds(each, addressed.get(name)?.sinceMs ?? Number.NaN));
  const waited = await Promise.all(answers);
  if (waited.length < names.length) throw new Error('a plane had Pods of its API before it had an address');
  reportShares('seconds_from_address_to_first_answer', waited, size);
  reportShares('own_seconds_from_address_to_first_answer', own, size, 1);
}

function reportShares(figure: string, all: readonly number[], size: number, aim?: number): void {
  const options = { size, ...(aim !== undefined && { aim }) };
  if (all.length === 1) return add(figure, all[0] ?? Number.NaN, 's', options);
  add(`${figure}_p50`, percentile(all, 0.5), 's', options);
  add(`${figure}_p99`, percentile(all, 0.99), 's', options);
}

/** Knocks at the address of a load balancer until the API behind it says anything; the seconds since. */
async function firstAnswer(address: string, since: number, pauseMs: number): Promise<number> {
  for (;;) {
    if (await answersAt(address)) return seconds(since);
    if (seconds(since) * 1000 > patienceMs) throw new Error(`nobody answered at ${address}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

function answersAt(host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const port = flavor?.port ?? 0;
    const asked = request({ host, port, path: '/readyz', rejectUnauthorized: false, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    asked.once('error', () => resolve(false));
    asked.end();
  });
}

async function grow(
  capstan: CapstanProcess,
  fleet: HostedFleet,
  names: readonly string[],
  size: number,
): Promise<void> {
  const started = performance.now();
  const before = processCpuSeconds(capstan.pid);
  const [answering, initialized] = [untilAnswering(fleet, names, size), fleet.untilInitialized(names)];
  await fleet.apply(names);
  add('seconds_until_applied', seconds(started), 's', { size });
  await Promise.all([answering, initialized]);
  add('seconds_until_initialized', seconds(started), 's', { size });
  const cpu = processCpuSeconds(capstan.pid) - before;
  add('cpu_seconds', cpu, 's', { size });
  add('cpu_seconds_per_plane', cpu / names.length, 's', { size });
  add('resident_mib', capstan.residentBytes() / 2 ** 20, 'MiB', { size });
  add('cloud_resident_mib', residentBytes(cloud.pid) / 2 ** 20, 'MiB', { size });
}

async function memoryOf(capstan: CapstanProcess, planes: number, state = 'settled'): Promise<Memory> {
  const memory = await settledMemory(capstan);
  add(`${state}_mib`, memory.residentBytes / 2 ** 20, 'MiB', { size: planes });
  add(`${state}_used_mib`, memory.usedBytes / 2 ** 20, 'MiB', { size: planes });
  return { planes, ...memory };
}

/** The process holds the simulated Pods too: API servers, etcd and all they keep. */
function reportSlope(memory: readonly Memory[]): void {
  const [first, last] = [memory.at(0), memory.at(-1)];
  if (!first || !last || first === last) return;
  const planes = last.planes - first.planes;
  const size = last.planes;
  add('slope_mib_per_plane', (last.residentBytes - first.residentBytes) / planes / 2 ** 20, 'MiB', { size });
  add('slope_used_mib_per_plane', (last.usedBytes - first.usedBytes) / planes / 2 ** 20, 'MiB', { size });
}

/** Planes that sleep have all their objects and none of their programs. */
function reportMemoryShares(empty: Memory, awake: Memory, asleep: Memory): void {
  const { planes } = awake;
  const share = (more: Memory, less: Memory, what: 'usedBytes' | 'residentBytes'): number =>
    (more[what] - less[what]) / planes / 2 ** 20;
  add('management_used_mib_per_plane', share(asleep, empty, 'usedBytes'), 'MiB', { size: planes, aim: 2 });
  add('management_mib_per_plane', share(asleep, empty, 'residentBytes'), 'MiB', { size: planes });
  add('simulated_used_mib_per_plane', share(awake, asleep, 'usedBytes'), 'MiB', { size: planes });
  add('simulated_mib_per_plane', share(awake, asleep, 'residentBytes'), 'MiB', { size: planes });
}

async function atRest(capstan: CapstanProcess, client: HttpClient): Promise<void> {
  const size = sizes.at(-1) ?? 0;
  const restSeconds = Number(values.rest);
  const [revision, cpu] = [await revisionOf(client), processCpuSeconds(capstan.pid)];
  await new Promise((resolve) => setTimeout(resolve, restSeconds * 1000));
  const writes = (await revisionOf(client)) - revision;
  add('cores_at_rest', (processCpuSeconds(capstan.pid) - cpu) / restSeconds, '', { size });
  add('writes_at_rest', writes, '', { size, aim: 0 });
  if (writes > 0) for (const line of await writtenSince(client, revision)) console.error(`written at rest: ${line}`);
}

function profiling(): string[] {
  if (values.profile === undefined) return [];
  return ['--cpu-prof', '--cpu-prof-interval=1000', `--cpu-prof-dir=${values.profile}`];
}

function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Number(values.settle) * 1000));
}

function seconds(since: number): number {
  return (performance.now() - since) / 1000;
}

function kindOf(size: number): string {
  return `${values.flavor} ${size} x ${replicas}`;
}

function add(figure: string, value: number, unit: string, { size, aim }: { size: number; aim?: number }): void {
  // told as they come: a thousand planes take a while
  console.error(`${figure} ${kindOf(size)}: ${value.toFixed(2)} ${unit}`);
  figures.add({ figure, target: 'capstan', kind: kindOf(size) }, value, {
    unit,
    better: 'lower',
    ...(aim !== undefined && { aim }),
  });
}
