/**
 * Measures what clusters cost on a Kubernetes that is the management cluster, by a real kube-apiserver and etcd: seconds until Ready, CPU and memory of the
 * managers, API requests, writes of etcd, and all of these at rest. Managers of others are measured by the same command.
 *
 *   npx tsx bench/management-api.ts --clusters 50                                   starts a Kubernetes and `capstan controller`
 *   npx tsx bench/management-api.ts --hosted hosted --clusters 100                  hosted control planes without workers, on a simulated node
 *   npx tsx bench/management-api.ts --kubeconfig FILE --clusters 50                 starts `capstan controller --install` there
 *   npx tsx bench/management-api.ts --kubeconfig FILE --target NAME --pid PID…      measures the managers that work there already
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { discover, type HttpClient, httpClient, loadKubeconfig } from '../src/client/index.ts';
import type { KubeObject, Resource } from '../src/machinery/index.ts';
import { findOrBuildPrograms, findOrBuildScheduler } from '../test/conformance/go-build.ts';
import { startRealKubernetes } from '../test/conformance/real-kubernetes.ts';
import { type ControllerProcess, startController } from '../test/support/controller-process.ts';
import { startSimulatedNode } from '../test/support/node-process.ts';
import { freePorts } from '../test/support/ports.ts';
import { type AnsweredRequests, answeredRequests, requestsBetween } from './lib/api-server-requests.ts';
import { asDeployed } from './lib/as-deployed.ts';
import { buildCapstan, residentBytes } from './lib/capstan.ts';
import { createCloudSecret, liftQuotas } from './lib/cloud-access.ts';
import { startCloudProcess } from './lib/cloud-process.ts';
import { setTimings } from './lib/cloud-timings.ts';
import { Figures } from './lib/figures.ts';
import { type Fleet, openFleet } from './lib/fleet.ts';
import { fleetFlags, fleetKind, fleetShape, machinePace } from './lib/fleet-flags.ts';
import { flavors, openHostedFleet } from './lib/hosted-fleet.ts';
import { revisionOf } from './lib/quiet.ts';
import { processCpuSeconds } from './lib/target.ts';

const { values } = parseArgs({
  options: {
    ...fleetFlags,
    /** how long the fleet is left alone before it is watched at rest, and how long it is watched, in seconds */
    settle: { type: 'string', default: '30' },
    rest: { type: 'string', default: '60' },
    patience: { type: 'string', default: '1800' },
    /** delete the fleet at the end and measure that too */
    delete: { type: 'boolean', default: false },
    /** a Kubernetes that is there; default: one is started, from CAPSTAN_REAL_KUBERNETES_BIN or freshly built */
    kubeconfig: fleetFlags.kubeconfig,
    /** the managers that work there; without any, ours is started */
    pid: fleetFlags.pid,
    target: { type: 'string', default: 'capstan' },
    /** control planes in Pods instead of machines: k0smotron or hosted. A Kubernetes that is there needs a node for them. */
    hosted: { type: 'string' },
    /** of every hosted control plane */
    replicas: { type: 'string', default: '3' },
    /** tell what each of our controllers asked for until the fleet was ready */
    requests: { type: 'boolean', default: false },
    /** further arguments of `capstan controller` */
    argument: { type: 'string', multiple: true, default: [] },
  },
});

const shape = fleetShape(values, 'fleet');
const flavor = values.hosted === undefined ? undefined : flavors[values.hosted];
if (values.hosted !== undefined && !flavor)
  throw new Error(`--hosted ${values.hosted}: one of ${Object.keys(flavors).join(', ')}`);
const replicas = Number(values.replicas);
const kind = flavor ? `${shape.clusters} x ${values.hosted}, ${replicas} replicas` : fleetKind(shape);
const figures = new Figures();
let reportRequests = async (): Promise<void> => {};
const build = await buildCapstan();
process.env['CAPSTAN_PROGRAM'] = build.program;
const cloud = await startCloudProcess(build.program);
const stops: (() => Promise<unknown>)[] = [() => cloud.stop()];
try {
  await liftQuotas(cloud);
  await setTimings(cloud, machinePace(values));
  const kubeconfig = values.kubeconfig ?? (await startKubernetes());
  const controller = values.pid.length > 0 ? undefined : await startOurs(kubeconfig);
  if (flavor && values.kubeconfig === undefined) await startNode(kubeconfig);
  await measure(kubeconfig, controller ? [controller.process.pid] : values.pid.map(Number));
} finally {
  for (const stop of stops.reverse()) await stop();
  build.remove();
}
figures.print();

async function startKubernetes(): Promise<string> {
  const programs = await findOrBuildPrograms(process.env, console.error);
  const scheduler = flavor && (await findOrBuildScheduler(process.env, console.error));
  const kubernetes = await startRealKubernetes(programs, { ...(scheduler !== undefined && { scheduler }) });
  stops.push(() => kubernetes.stop());
  return kubernetes.kubeconfig;
}

async function startNode(kubeconfig: string): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'capstan-bench-node-'));
  stops.push(async () => rmSync(directory, { recursive: true, force: true }));
  const node = await startSimulatedNode({ kubeconfig, directory, args: [] });
  stops.push(() => node.stop());
}

/** What is created and waited for. */
async function openWork(
  client: HttpClient,
  limits: { patienceMs: number; signal: AbortSignal },
): Promise<Pick<Fleet, 'apply' | 'untilReady' | 'delete' | 'untilGone'>> {
  if (!flavor) return await openFleet(client, shape, limits);
  const planes = await openHostedFleet(client, flavor, { replicas, ...limits });
  const names = Array.from({ length: shape.clusters }, (_, index) => `plane-${index}`);
  return {
    apply: () => planes.apply(names),
    untilReady: () => planes.untilComplete(names),
    delete: () => planes.delete(names),
    untilGone: () => planes.untilGone(names),
  };
}

async function startOurs(kubeconfig: string): Promise<ControllerProcess> {
  const [port = 0] = await freePorts(2);
  const started = performance.now();
  const controller = await startController({
    kubeconfig,
    port,
    args: values.argument,
    variables: asDeployed,
  });
  stops.push(() => controller.process.stop());
  if (values.requests) reportRequests = () => reportRequestsOf(port + 1);
  add('seconds_until_installed', (performance.now() - started) / 1000, 's');
  return controller;
}

interface Reading {
  at: number;
  cpuSeconds: number;
  revision: number;
  requests: AnsweredRequests;
  own: number;
}

async function measure(kubeconfig: string, pids: readonly number[]): Promise<void> {
  let own = 0;
  const config = await loadKubeconfig({ path: kubeconfig, env: {} });
  const client = httpClient(config, { maxConnections: 16, onRequest: () => void own++ });
  const read = async (): Promise<Reading> => ({
    at: performance.now(),
    cpuSeconds: pids.map(processCpuSeconds).reduce((sum, each) => sum + each, 0),
    revision: await revisionOf(client),
    requests: await answeredRequests(client),
    own,
  });
  const stop = new AbortController();
  try {
    await createCloudSecret(client, cloud);
    add('resident_mib_before', mib(pids.map(residentBytes)), 'MiB');
    await cloud.operate('DELETE', '/requests');
    const fleet = await openWork(client, { patienceMs: Number(values.patience) * 1000, signal: stop.signal });
    const objectsBefore = await storedObjects(client);
    const before = await read();
    await Promise.all([fleet.untilReady(), fleet.apply()]);
    const ready = await read();
    add('seconds_until_ready', (ready.at - before.at) / 1000, 's');
    tell('until_ready', before, ready, shape.clusters);
    add('resident_mib', mib(pids.map(residentBytes)), 'MiB');
    add('peak_resident_mib', mib(pids.map(peakBytes)), 'MiB');
    await reportRequests();
    add('cloud_requests_per_cluster', (await cloud.requestCount()) / shape.clusters, '');
    await seconds(Number(values.settle));
    const objects = await storedObjects(client);
    add('objects_per_cluster', (objects.count - objectsBefore.count) / shape.clusters, '');
    add('kib_per_cluster', (objects.bytes - objectsBefore.bytes) / shape.clusters / 1024, 'KiB');
    await atRest(read, pids);
    if (values.delete) {
      const begun = await read();
      await Promise.all([fleet.untilGone(), fleet.delete()]);
      const gone = await read();
      add('seconds_until_deleted', (gone.at - begun.at) / 1000, 's');
      tell('until_deleted', begun, gone, shape.clusters);
    }
  } finally {
    stop.abort();
    await client.close();
  }
}

/** Who asked for what, most first. */
async function reportRequestsOf(metricsPort: number): Promise<void> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const lines = [...text.matchAll(/^capstan_api_requests_total\{(.*)\} (\d+)$/gm)]
    .map(([, labels = '', count]) => ({ count: Number(count), labels: labels.replaceAll(/\w+="([^"]*)",?/g, '$1 ') }))
    .sort((a, b) => b.count - a.count);
  for (const { count, labels } of lines) console.error(`${String(count).padStart(6)}  ${labels}`);
}

async function atRest(read: () => Promise<Reading>, pids: readonly number[]): Promise<void> {
  const before = await read();
  await seconds(Number(values.rest));
  const after = await read();
  const minutes = (after.at - before.at) / 60_000;
  const { all, writes } = requestsBetween(before.requests, after.requests);
  add('api_requests_per_minute_at_rest', (all - (after.own - before.own)) / minutes, '/min');
  add('api_writes_per_minute_at_rest', writes / minutes, '/min');
  add('etcd_writes_per_minute_at_rest', (after.revision - before.revision) / minutes, '/min');
  add('cores_at_rest', (after.cpuSeconds - before.cpuSeconds) / minutes / 60, '');
  add('resident_mib_at_rest', mib(pids.map(residentBytes)), 'MiB');
}

/** What a step cost; requests are those of everybody but this program. */
function tell(step: string, before: Reading, after: Reading, clusters: number): void {
  const { all, writes } = requestsBetween(before.requests, after.requests);
  add(`cpu_seconds_${step}`, after.cpuSeconds - before.cpuSeconds, 's');
  add(`cpu_seconds_per_cluster_${step}`, (after.cpuSeconds - before.cpuSeconds) / clusters, 's');
  add(`api_requests_per_cluster_${step}`, (all - (after.own - before.own)) / clusters, '');
  add(`api_writes_per_cluster_${step}`, writes / clusters, '');
  add(`etcd_writes_per_cluster_${step}`, (after.revision - before.revision) / clusters, '');
}

/** Objects of the namespace of the fleet and their size as JSON, events left out: those go by themselves. */
async function storedObjects(client: HttpClient): Promise<{ count: number; bytes: number }> {
  const { resources } = await discover(client);
  const seen = new Set<string>();
  let bytes = 0;
  for (const resource of resources) {
    if (!resource.namespaced || resource.plural === 'events' || !resource.verbs.includes('list')) continue;
    if (!resource.verbs.includes('watch')) continue;
    const { items } = await client.list(resource as Resource<KubeObject>, { namespace: 'default' });
    for (const item of items) {
      // kinds are served in several versions; the object is one
      const uid = item.metadata.uid ?? '';
      if (seen.has(uid)) continue;
      seen.add(uid);
      bytes += JSON.stringify(item).length;
    }
  }
  return { count: seen.size, bytes };
}

function peakBytes(pid: number): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) * 1024;
}

function mib(bytes: readonly number[]): number {
  return bytes.reduce((sum, each) => sum + each, 0) / 2 ** 20;
}

function seconds(count: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, count * 1000));
}

function add(figure: string, value: number, unit: string): void {
  console.error(`${figure} ${value.toFixed(2)} ${unit}`);
  figures.add({ figure, target: values.target, kind }, value, { unit, better: 'lower' });
}
