/** Measures how long a fleet of clusters takes to be Ready on a simulated cloud, and what that costs. */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type HttpClient, httpClient, loadKubeconfig } from '../src/client/index.ts';
import { buildCapstan, residentBytes, startCapstan } from './lib/capstan.ts';
import { createCloudSecret, liftQuotas } from './lib/cloud-access.ts';
import { startCloudProcess } from './lib/cloud-process.ts';
import { setTimings } from './lib/cloud-timings.ts';
import { Figures } from './lib/figures.ts';
import { isControlPlane, type MachineView, openFleet } from './lib/fleet.ts';
import { fleetFlags, fleetKind, fleetShape, machinePace } from './lib/fleet-flags.ts';
import { processCpuSeconds } from './lib/target.ts';

const { values } = parseArgs({
  options: {
    ...fleetFlags,
    /** so many clusters are made and deleted first, for a program that has been running for a while */
    'warm-up': { type: 'string', default: '0' },
    /** how long the fleet is watched at rest, in seconds */
    rest: { type: 'string', default: '30' },
    /** delete the fleet at the end and measure that too */
    delete: { type: 'boolean', default: false },
    /** the cloud refuses to delete the servers of one cluster: shows what that means for the others; implies --delete */
    stuck: { type: 'boolean', default: false },
    /** also tell the memory after a collection at rest; costs a little of everything else */
    memory: { type: 'boolean', default: false },
    /** write the metrics of the management API to this file when the fleet is Ready */
    metrics: { type: 'string' },
    /** write a CPU profile of both processes to this directory */
    profile: { type: 'string' },
  },
});

const shape = fleetShape(values, 'fleet');
const machineCount = shape.clusters * (shape.controlPlanes + shape.workers);
const warmUp = Number(values['warm-up']);
const target = values.kubeconfig === undefined ? 'capstan' : 'other';
const kind = fleetKind(shape);
const figures = new Figures();
const build = await buildCapstan();
const cloud = await startCloudProcess(build.program, profiling('cloud'));
try {
  await liftQuotas(cloud);
  if (values.kubeconfig === undefined) {
    const capstan = await startCapstan({
      program: build.program,
      probe: values.memory,
      nodeArguments: profiling('capstan'),
    });
    try {
      const emptyBytes = capstan.residentBytes();
      const settled = async (): Promise<void> => {
        const { memory } = await capstan.report({ collectGarbage: true });
        add('settled_heap_mib', memory.heapUsed / 2 ** 20, 'MiB');
        add('settled_mib', capstan.residentBytes() / 2 ** 20, 'MiB');
        add('settled_mib_per_cluster', (capstan.residentBytes() - emptyBytes) / shape.clusters / 2 ** 20, 'MiB', 2);
      };
      await measure(capstan.kubeconfig, [capstan.pid], values.memory ? settled : undefined);
    } finally {
      await capstan.stop();
    }
  } else {
    await measure(values.kubeconfig, values.pid.map(Number));
  }
} finally {
  await cloud.stop();
  build.remove();
}
figures.print();

function profiling(name: string): string[] {
  return values.profile === undefined
    ? []
    : [
        '--cpu-prof',
        '--cpu-prof-interval=1000',
        `--cpu-prof-dir=${values.profile}`,
        `--cpu-prof-name=${name}.cpuprofile`,
      ];
}

async function measure(kubeconfig: string, pids: readonly number[], settled?: () => Promise<void>): Promise<void> {
  const client = httpClient(await loadKubeconfig({ path: kubeconfig, env: {} }), { maxConnections: 16 });
  const stop = new AbortController();
  const limits = { patienceMs: Number(values.patience) * 1000, signal: stop.signal };
  try {
    await createCloudSecret(client, cloud);
    if (warmUp > 0) {
      await setTimings(cloud, { boot: 1, step: 0.2, jitter: 0.2 });
      const first = await openFleet(client, { ...shape, prefix: 'warm-up', clusters: warmUp }, limits);
      await Promise.all([first.untilReady(), first.apply()]);
      await Promise.all([first.untilGone(), first.delete()]);
    }
    await setTimings(cloud, machinePace(values));
    const fleet = await openFleet(client, shape, limits);
    await untilReady(client, fleet, pids);
    await atRest(pids);
    await settled?.();
    if (values.stuck) await deleteWithOneStuck(fleet);
    else if (values.delete) await deleteAll(fleet);
  } finally {
    stop.abort();
    await client.close();
  }
}

type Fleet = Awaited<ReturnType<typeof openFleet>>;

async function untilReady(client: HttpClient, fleet: Fleet, pids: readonly number[]): Promise<void> {
  await cloud.operate('DELETE', '/requests');
  const [before, cloudBefore] = [cpuSeconds(pids), cpuSeconds([cloud.pid])];
  const started = performance.now();
  const seconds = (): number => (performance.now() - started) / 1000;
  const stages = stageTimes(seconds);
  const ready = fleet.untilReady(stages.look);
  await fleet.apply();
  await ready;
  const readyIn = seconds();
  add('seconds_until_ready', readyIn, 's', readyAim());
  stages.report();
  if (Number(values.jitter) === 0) {
    // a control plane boots and starts etcd and the API server, then the workers boot and join
    const path = 2 * Number(values.boot) + 3 * Number(values.step);
    add('seconds_of_the_cloud', path, 's');
    add('share_beyond_the_cloud', (readyIn - path) / path, '', 0.05);
  }
  add('cpu_seconds', cpuSeconds(pids) - before, 's');
  add('cloud_cpu_seconds', cpuSeconds([cloud.pid]) - cloudBefore, 's');
  add('resident_mib', pids.map(residentBytes).reduce((sum, each) => sum + each, 0) / 2 ** 20, 'MiB');
  add('cloud_resident_mib', residentBytes(cloud.pid) / 2 ** 20, 'MiB');
  const requests = await cloud.requestCount();
  add('requests_per_cluster', requests / shape.clusters, '');
  add('requests_per_machine', requests / machineCount, '', 12);
  if (values.metrics !== undefined) writeFileSync(values.metrics, (await client.raw('/metrics')).body);
}

async function atRest(pids: readonly number[]): Promise<void> {
  await cloud.operate('DELETE', '/requests');
  const before = cpuSeconds(pids);
  const seconds = Number(values.rest);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  add('requests_per_second_at_rest', (await cloud.requestCount()) / seconds, '/s', 1);
  add('cores_at_rest', (cpuSeconds(pids) - before) / seconds, '');
}

async function deleteAll(fleet: Fleet): Promise<void> {
  const started = performance.now();
  await Promise.all([fleet.untilGone(), fleet.delete()]);
  add('seconds_until_deleted', (performance.now() - started) / 1000, 's');
}

/** One cluster cannot go: its servers stay whatever is asked. All others go as if it were not there. */
async function deleteWithOneStuck(fleet: Fleet): Promise<void> {
  const [stuck = ''] = fleet.names;
  await cloud.operate('PUT', '/faults/stuck', {
    when: { operation: 'server.delete', name: `${stuck}-*` },
    effect: { kind: 'stuck' },
  });
  const started = performance.now();
  await Promise.all([fleet.untilGone([stuck]), fleet.delete()]);
  add('seconds_until_all_but_the_stuck_one_deleted', (performance.now() - started) / 1000, 's');
  // without this the figure would also be told when nothing was stuck at all
  const left = await fleet.existing();
  if (!left.includes(stuck)) throw new Error(`${stuck} was to be stuck, but it was deleted with the others`);
  await cloud.operate('DELETE', '/faults/stuck');
}

function cpuSeconds(pids: readonly number[]): number {
  return pids.map(processCpuSeconds).reduce((sum, each) => sum + each, 0);
}

function add(figure: string, value: number, unit: string, aim?: number): void {
  const warm = warmUp > 0 ? `${kind}, warm` : kind;
  figures.add({ figure, target, kind: warm }, value, { unit, better: 'lower', ...(aim !== undefined && { aim }) });
}

/** What the plan asks for, with the timings it asks for. */
function readyAim(): number | undefined {
  const isUsual = values.boot === '10' && values.step === '2' && shape.controlPlanes === 1 && shape.workers === 2;
  return isUsual ? ({ 1: 30, 50: 35 } as Record<number, number>)[shape.clusters] : undefined;
}

/** When the last machine of the fleet reached each stage. */
function stageTimes(seconds: () => number): { look(all: readonly MachineView[]): void; report(): void } {
  const isProvisioned = ({ status }: MachineView): boolean =>
    status?.initialization?.infrastructureProvisioned === true;
  const controlPlanes = shape.clusters * shape.controlPlanes;
  const stages: { name: string; reached: (machine: MachineView) => boolean; count: number; at?: number }[] = [
    {
      name: 'control_plane_servers',
      reached: (machine) => isControlPlane(machine) && isProvisioned(machine),
      count: controlPlanes,
    },
    {
      name: 'control_plane_nodes',
      reached: (machine) => isControlPlane(machine) && machine.status?.nodeRef !== undefined,
      count: controlPlanes,
    },
    {
      name: 'worker_servers',
      reached: (machine) => !isControlPlane(machine) && isProvisioned(machine),
      count: shape.clusters * shape.workers,
    },
  ];
  return {
    look(all) {
      for (const stage of stages) {
        if (stage.at === undefined && all.filter(stage.reached).length === stage.count) stage.at = seconds();
      }
    },
    report() {
      for (const { name, at } of stages) if (at !== undefined) add(`seconds_until_${name}`, at, 's');
    },
  };
}
