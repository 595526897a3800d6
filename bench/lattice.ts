/**
 * A LatticeCluster that takes over its own objects, on simulated time: how long we make it wait beyond what its machines and the cloud take, and
 * how long the pivot of a large cluster takes and leaves it without an owner. A write takes 50 ms here, as on a slow disk.
 */
import { parseArgs } from 'node:util';
import { Clusters, LatticeClusters, Machines } from '../src/api/index.ts';
import { ignoreNotFound } from '../src/machinery/index.ts';
import { collect } from '../src/openstack/index.ts';
import { applyLattice } from '../test/simulation/lattice-manifest.ts';
import { createLatticeSystem, isActive, type LatticeSystem } from '../test/simulation/lattice-system.ts';
import { Figures } from './lib/figures.ts';
import { runAsShipped } from './lib/node-arguments.ts';
import { liftQuotas } from './lib/quotas.ts';

runAsShipped(import.meta.url);

const { values } = parseArgs({
  options: {
    /** of the cluster that is made as the guide prints it */
    'control-plane': { type: 'string', default: '3' },
    workers: { type: 'string', default: '5' },
    /** of the large one, in all; 0 leaves it out */
    machines: { type: 'string', default: '200' },
    runs: { type: 'string', default: '1' },
  },
});
const name = 'one';
const namespace = `capi-${name}`;
const patienceMs = 6 * 3_600_000;
const figures = new Figures();

for (let run = 0; run < Number(values.runs); run++) {
  const shape = { controlPlane: Number(values['control-plane']), workers: Number(values.workers) };
  await measure(run, shape, `${shape.controlPlane}+${shape.workers}`);
  const machines = Number(values.machines);
  if (machines > 0) await measure(run, { controlPlane: 3, workers: machines - 3 }, `3+${machines - 3}`);
}
figures.print();

async function measure(run: number, shape: { controlPlane: number; workers: number }, kind: string): Promise<void> {
  const system = await createLatticeSystem({ seed: run + 1, watch: async () => {} });
  try {
    await liftQuotas(system.parent);
    await follow(system, shape, kind);
  } finally {
    await system.stop();
  }
}

async function follow(system: LatticeSystem, shape: { controlPlane: number; workers: number }, kind: string) {
  const { parent, child } = system;
  const { clock } = parent;
  const begun = clock.now();
  await applyLattice(parent, { name, ...shape });
  const total = shape.controlPlane + shape.workers;
  let at = begun;
  let wasBusy = false;
  let own = 0;
  let pivot: { begun: number; cpu: NodeJS.CpuUsage } | undefined;
  let unowned = { since: undefined as number | undefined, longest: 0 };
  const reached = await parent.until(async () => {
    const now = clock.now();
    // what passed since the last look was somebody's: that of machines and cloud, or ours
    if (!wasBusy) own += now - at;
    at = now;
    const cluster = await parent.client.get(LatticeClusters, { name }).catch(ignoreNotFound);
    const stage = cluster?.metadata.annotations?.['lattice.dev/management'];
    if (stage === undefined) wasBusy = await isBusy(system, total);
    else wasBusy = false;
    if (stage === undefined) return false;
    pivot ??= { begun: now, cpu: process.cpuUsage() };
    const isOwned = (await isActive(parent.client, namespace)) || (await isActive(child.client, namespace));
    if (isOwned) {
      if (unowned.since !== undefined) unowned.longest = Math.max(unowned.longest, now - unowned.since);
      unowned = { since: undefined, longest: unowned.longest };
    } else unowned.since ??= now;
    return stage === 'self' && isOwned;
  }, patienceMs);
  if (!reached || pivot === undefined) throw new Error(`the cluster of ${kind} never managed itself`);
  const { user, system: kernel } = process.cpuUsage(pivot.cpu);
  const moved = (await child.client.list(Machines, { namespace })).items.length;
  if (moved !== total || (await parent.client.list(Clusters, { namespace })).items.length > 0) {
    throw new Error(`${moved} of ${total} Machines are in the cluster of ${kind}`);
  }
  const add = (figure: string, value: number, aim?: number): void =>
    figures.add({ figure, target: 'capstan', kind }, value, {
      unit: 's',
      better: 'lower',
      ...(aim !== undefined && { aim }),
    });
  add('apply_to_pivot_complete_seconds', (clock.now() - begun) / 1_000);
  add('apply_to_pivot_complete_own_seconds', own / 1_000);
  add('pivot_seconds', (clock.now() - pivot.begun) / 1_000);
  add('pivot_longest_without_owner_seconds', unowned.longest / 1_000);
  add('pivot_cpu_seconds', (user + kernel) / 1e6);
}

/** The cloud makes something, or a machine boots: nothing of ours could go faster meanwhile. */
async function isBusy({ parent, nodes }: LatticeSystem, total: number): Promise<boolean> {
  const { loadBalancer, compute } = parent.admin;
  const balancers = await collect(loadBalancer.loadBalancers.list());
  if (balancers.some(({ provisioningStatus }) => provisioningStatus.startsWith('PENDING_'))) return true;
  const servers = (await collect(compute.servers.list({ allTenants: true }))).filter(({ name: server }) =>
    server.startsWith(`${name}-`),
  );
  if (servers.some(({ status }) => status === 'BUILD')) return true;
  if (servers.length === 0) return false;
  const ready = await nodes(name);
  return servers.length < total ? ready < servers.length : ready < total;
}
