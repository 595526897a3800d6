/**
 * Clusters made from one ClusterClass, on simulated time: what they cost to create, what they do at rest, and what one edit of the
 * class that touches all of them costs until all machines are replaced.
 */
import { parseArgs } from 'node:util';
import { ClusterClasses, type Machine, Machines } from '../src/api/index.ts';
import type { JsonObject } from '../src/machinery/index.ts';
import { type ClusterSpec, namespace } from '../test/simulation/cluster-manifests.ts';
import { by, createSystem } from '../test/simulation/system.ts';
import { patchesOf, topologyManifests } from '../test/simulation/topology-story.ts';
import { Figures } from './lib/figures.ts';
import { runAsShipped } from './lib/node-arguments.ts';
import { liftQuotas } from './lib/quotas.ts';

runAsShipped(import.meta.url);

const { values } = parseArgs({
  options: {
    clusters: { type: 'string', default: '200' },
    workers: { type: 'string', default: '1' },
    /** how long they are left alone, in simulated seconds */
    rest: { type: 'string', default: '600' },
  },
});
const second = 1_000;
const minute = 60 * second;
const patienceMs = 120 * minute;
const count = Number(values.clusters);
const workers = Number(values.workers);
const restSeconds = Number(values.rest);
const kind = `${count} x 1+${workers} of one class`;
const figures = new Figures();
const system = await createSystem({ seed: 1 });
try {
  await liftQuotas(system);
  await create();
  await rest();
  await editClass();
} finally {
  await system.stop();
}
figures.print();

function desired(index: number): ClusterSpec {
  return {
    name: `topo-${index}`,
    endpoint: 'floating-ip',
    controlPlanes: 1,
    workers,
    version: 'v1.33.6',
    flavor: 'm1.medium',
    bootFromVolume: false,
    healthCheck: false,
    index: index % 200,
  };
}

async function create(): Promise<void> {
  const cpu = process.cpuUsage();
  const before = system.counts.writes;
  for (let index = 0; index < count; index++) {
    const manifests = topologyManifests(desired(index), 'fleet');
    for (const { resource, object } of manifests) {
      // the class and its templates are there after the first
      if (index > 0 && object.kind !== 'Cluster') continue;
      await system.client.create(resource, object, by);
    }
  }
  await untilReady(() => true);
  add('writes_per_cluster', (system.counts.writes - before) / count, '');
  add('cpu_seconds_to_create', cpuSeconds(cpu), 's');
}

async function rest(): Promise<void> {
  await system.pass(15 * minute);
  const before = { ...system.counts };
  const cpu = process.cpuUsage();
  await system.pass(restSeconds * second);
  add('writes_at_rest', system.counts.writes - before.writes, '', 0);
  add('cpu_seconds_per_hour_at_rest', (cpuSeconds(cpu) * 3_600) / restSeconds, 's');
}

/** One patch of the class changes the template of every machine. */
async function editClass(): Promise<void> {
  const old = new Set((await machines()).map(({ metadata }) => metadata.uid));
  const cpu = process.cpuUsage();
  const before = system.counts.writes;
  const started = system.clock.now();
  const body: JsonObject = { spec: { patches: patchesOf(1) } };
  await system.client.patch(ClusterClasses, { namespace, name: 'fleet' }, 'merge', body, by);
  await untilReady(({ metadata }) => !old.has(metadata.uid));
  add('seconds_until_a_class_edit_is_rolled_out', (system.clock.now() - started) / second, 's');
  add('cpu_seconds_of_a_class_edit', cpuSeconds(cpu), 's');
  add('writes_of_a_class_edit_per_cluster', (system.counts.writes - before) / count, '');
}

async function machines(): Promise<Machine[]> {
  return (await system.client.list(Machines, { namespace })).items as Machine[];
}

async function untilReady(isWanted: (machine: Machine) => boolean): Promise<void> {
  const isReady = async (): Promise<boolean> => {
    const all = await machines();
    const ready = all.filter(
      (machine) =>
        isWanted(machine) &&
        machine.status?.conditions?.some(({ type, status }) => type === 'NodeReady' && status === 'True'),
    );
    return ready.length === count * (1 + workers) && all.length === ready.length;
  };
  for (const end = system.clock.now() + patienceMs; !(await isReady()); ) {
    if (system.clock.now() > end) throw new Error(`not Ready within ${patienceMs / minute} minutes`);
    await system.pass(second);
  }
}

function cpuSeconds(since: NodeJS.CpuUsage): number {
  const { user, system: kernel } = process.cpuUsage(since);
  return (user + kernel) / 1e6;
}

function add(figure: string, value: number, unit: string, aim?: number): void {
  figures.add({ figure, target: 'capstan', kind }, value, {
    unit,
    better: 'lower',
    ...(aim !== undefined && { aim }),
  });
}
