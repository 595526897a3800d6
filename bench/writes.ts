/**
 * Tells which requests the controllers write to a Kubernetes until clusters are Ready, and which until they are deleted. On simulated time, so that
 * the numbers are the same on every machine.
 *
 *   npx tsx bench/writes.ts                       sums by kind and verb
 *   npx tsx bench/writes.ts --clusters 20 --list  every write
 */
import { parseArgs } from 'node:util';
import { Clusters } from '../src/api/index.ts';
import { requestOrigin } from '../src/client/index.ts';
import { isNotFound } from '../src/machinery/index.ts';
import { type ClusterSpec, manifestsOf, namespace } from '../test/simulation/cluster-manifests.ts';
import { by, createSystem } from '../test/simulation/system.ts';
import { timingsOf } from './lib/cloud-timings.ts';
import { Figures } from './lib/figures.ts';
import { fleetFlags, machinePace } from './lib/fleet-flags.ts';
import { type Write, WriteList } from './lib/write-list.ts';

const { values } = parseArgs({
  options: {
    clusters: fleetFlags.clusters,
    'control-planes': fleetFlags['control-planes'],
    workers: fleetFlags.workers,
    boot: fleetFlags.boot,
    step: fleetFlags.step,
    jitter: fleetFlags.jitter,
    /** list every write */
    list: { type: 'boolean', default: false },
    /** what is listed: names of kinds in the plural */
    only: { type: 'string', multiple: true, default: [] },
  },
});

const writes: Write[] = [];
const system = await createSystem({
  seed: 1,
  overHttp: true,
  timings: timingsOf(machinePace(values)),
  onWrite: ([verb, plural, name, content, subresource]) =>
    writes.push({
      atMs: system.clock.now(),
      writer: requestOrigin(),
      verb: [verb, subresource].filter((part) => part !== undefined).join(' '),
      plural: String(plural),
      name: String(name),
      content,
    }),
});
const figures = new Figures();
const count = Number(values.clusters);
const limitMs = 3_600_000;
const settleMs = 60_000;
const specs = Array.from(
  { length: count },
  (_, index): ClusterSpec => ({
    name: `c${index}`,
    endpoint: 'floating-ip',
    controlPlanes: Number(values['control-planes']),
    workers: Number(values.workers),
    version: 'v1.34.2',
    flavor: 'm1.medium',
    bootFromVolume: false,
    healthCheck: false,
    index: index % 200,
  }),
);
await system.pass(1_000);

await step('ready', async () => {
  for (const spec of specs) {
    for (const { resource, object } of manifestsOf(spec)) await system.client.create(resource, object, by);
  }
  return async () => {
    const { items } = await system.client.list(Clusters, { namespace });
    return items.every(({ status }) => status?.conditions?.find(({ type }) => type === 'Available')?.status === 'True');
  };
});
await step('deleted', async () => {
  for (const { name } of specs) await system.client.delete(Clusters, { namespace, name });
  return async () => {
    for (const { name } of specs) {
      const found = await system.client.get(Clusters, { namespace, name }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
      if (found) return false;
    }
    return true;
  };
});
await system.stop();
figures.print();
process.exit(0);

async function step(name: string, begin: () => Promise<() => Promise<boolean>>): Promise<void> {
  writes.length = 0;
  const started = system.clock.now();
  const condition = await begin();
  if (!(await system.until(condition, limitMs))) throw new Error(`not ${name} within ${limitMs / 60_000} minutes`);
  const reached = system.clock.now();
  const until = writes.length;
  await system.pass(settleMs);
  if (values.list) list(started);
  sums();
  figures.add({ figure: `seconds_until_${name}`, target: 'capstan' }, (reached - started) / 1000, {
    unit: 's',
    better: 'lower',
  });
  figures.add({ figure: `writes_per_cluster_until_${name}`, target: 'capstan' }, until / count, {
    unit: '',
    better: 'lower',
  });
  figures.add({ figure: `writes_per_cluster_until_quiet_after_${name}`, target: 'capstan' }, writes.length / count, {
    unit: '',
    better: 'lower',
  });
}

function sums(): void {
  const counts = new Map<string, number>();
  for (const { verb, plural } of writes) {
    const key = `${verb} ${plural}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  for (const [key, times] of [...counts].sort(([, a], [, b]) => b - a)) {
    console.error(`${(times / count).toFixed(1).padStart(6)}  ${key}`);
  }
}

function list(started: number): void {
  const changes = new WriteList();
  for (const write of writes) {
    const { atMs, writer = '-', verb, plural, name } = write;
    const change = changes.describe(write);
    if (values.only.length > 0 && !values.only.includes(plural)) continue;
    const at = ((atMs - started) / 1000).toFixed(2).padStart(8);
    console.error(`${at}  ${writer.padEnd(18)} ${verb} ${plural} ${name}  ${change}`);
  }
}
