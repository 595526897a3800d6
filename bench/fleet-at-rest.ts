/** Counts what a fleet asks of OpenStack, on simulated time: per worker made, at rest, and until a loss is noticed. */
import { parseArgs } from 'node:util';
import type { Machine, OpenStackServer } from '../src/api/index.ts';
import { MachineDeployments, Machines, OpenStackServers } from '../src/api/index.ts';
import { type ClusterSpec, deploymentName, manifestsOf, namespace } from '../test/simulation/cluster-manifests.ts';
import { by, createSystem } from '../test/simulation/system.ts';
import { Figures } from './lib/figures.ts';
import { runAsShipped } from './lib/node-arguments.ts';
import { liftQuotas } from './lib/quotas.ts';

runAsShipped(import.meta.url);

const { values } = parseArgs({
  options: {
    clusters: { type: 'string', default: '20' },
    'control-planes': { type: 'string', default: '1' },
    workers: { type: 'string', default: '9' },
    /** how long the fleet is left alone, in simulated seconds */
    rest: { type: 'string', default: '600' },
  },
});
const second = 1_000;
const minute = 60 * second;
const patienceMs = 60 * minute;
const clusterCount = Number(values.clusters);
const controlPlanes = Number(values['control-planes']);
const workers = Number(values.workers);
const restSeconds = Number(values.rest);
const kind = `${clusterCount} x ${controlPlanes}+${workers}`;
const figures = new Figures();
const system = await createSystem({ seed: 1 });
try {
  await liftQuotas(system);
  const specs = Array.from({ length: clusterCount }, (_, index) => desired(index));
  await create(specs);
  await growOne(specs[0]!);
  await rest();
  await loseServer();
} finally {
  await system.stop();
}
figures.print();

function desired(index: number): ClusterSpec {
  return {
    name: `fleet-${index}`,
    endpoint: 'floating-ip',
    controlPlanes,
    workers,
    version: 'v1.33.6',
    flavor: 'm1.medium',
    bootFromVolume: false,
    healthCheck: false,
    index,
  };
}

async function create(specs: readonly ClusterSpec[]): Promise<void> {
  const before = { ...system.counts };
  for (const each of specs) {
    for (const { resource, object } of manifestsOf(each)) await system.client.create(resource, object, by);
  }
  await untilReady(clusterCount * (controlPlanes + workers));
  add('requests_per_cluster', (system.counts.requests - before.requests) / clusterCount, '');
  add('writes_per_cluster', (system.counts.writes - before.writes) / clusterCount, '');
}

/** Ten workers more in a cluster that exists: what a worker alone costs. */
async function growOne(one: ClusterSpec): Promise<void> {
  const more = 10;
  await system.pass(5 * minute);
  const before = system.counts.requests;
  const key = { namespace, name: deploymentName(one) };
  await system.client.patch(MachineDeployments, key, 'merge', { spec: { replicas: workers + more } }, by);
  await untilReady(clusterCount * (controlPlanes + workers) + more);
  add('requests_per_worker', (system.counts.requests - before) / more, '', 12);
}

async function rest(): Promise<void> {
  await system.pass(15 * minute);
  const before = { ...system.counts };
  await system.pass(restSeconds * second);
  add('requests_per_second_at_rest', (system.counts.requests - before.requests) / restSeconds, '/s', 1);
  add('writes_per_second_at_rest', (system.counts.writes - before.writes) / restSeconds, '/s', 0);
}

/** Somebody deletes a server in the cloud. */
async function loseServer(): Promise<void> {
  const [victim] = (await system.client.list(OpenStackServers, { namespace })).items as OpenStackServer[];
  const id = victim!.status!.instanceID!;
  await system.tenant.compute.servers.delete(id);
  const started = system.clock.now();
  const key = { namespace, name: victim!.metadata.name! };
  const isNoticed = async (): Promise<boolean> => {
    const server = await system.client.get(OpenStackServers, key);
    return !server.status?.conditions?.some(({ type, status }) => type === 'InstanceReady' && status === 'True');
  };
  if (!(await system.until(isNoticed, patienceMs))) throw new Error('the loss of a server was not noticed');
  add('seconds_until_a_lost_server_is_noticed', (system.clock.now() - started) / second, 's', 60);
}

async function untilReady(count: number): Promise<void> {
  const isReady = async (): Promise<boolean> => {
    const all = (await system.client.list(Machines, { namespace })).items as Machine[];
    const ready = all.filter(({ status }) =>
      status?.conditions?.some(({ type, status: value }) => type === 'NodeReady' && value === 'True'),
    );
    return ready.length === count;
  };
  // counting thousands of machines at every event would take longer than what is counted
  for (const end = system.clock.now() + patienceMs; !(await isReady()); ) {
    if (system.clock.now() > end) throw new Error(`the fleet was not Ready within ${patienceMs / minute} minutes`);
    await system.pass(second);
  }
}

function add(figure: string, value: number, unit: string, aim?: number): void {
  figures.add({ figure, target: 'capstan', kind }, value, {
    unit,
    better: 'lower',
    ...(aim !== undefined && { aim }),
  });
}
