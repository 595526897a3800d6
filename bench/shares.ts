/** Measures what a second process adds where several share the clusters, and how soon work continues when one is killed. */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { MachineDeployments, MachineSets } from '../src/api/index.ts';
import { type HttpClient, httpClient, loadKubeconfig } from '../src/client/index.ts';
import { Leases } from '../src/runtime/index.ts';
import { buildCapstan } from './lib/capstan.ts';
import { createCloudSecret, liftQuotas } from './lib/cloud-access.ts';
import { startCloudProcess } from './lib/cloud-process.ts';
import { setTimings } from './lib/cloud-timings.ts';
import { Figures } from './lib/figures.ts';
import { openFleet } from './lib/fleet.ts';
import { fleetFlags, fleetKind, fleetShape, machinePace } from './lib/fleet-flags.ts';
import { type Sharing, shareBesideOwnApi, shareOn } from './lib/sharing.ts';
import { processCpuSeconds } from './lib/target.ts';

const { values } = parseArgs({
  options: {
    ...fleetFlags,
    clusters: { type: 'string', default: '20' },
    /** numbers of processes, one after the other */
    shares: { type: 'string', default: '1,2' },
    runs: { type: 'string', default: '1' },
    /** cores each process may use, as the limit of a Pod would have it; 0: no limit. Needs root. */
    cores: { type: 'string', default: '0' },
    boot: { type: 'string', default: '0.3' },
    step: { type: 'string', default: '0.1' },
    patience: { type: 'string', default: '600' },
    /** also kill a process of the last number, and measure until its clusters are worked on again */
    kill: { type: 'boolean', default: false },
  },
});

const cores = Number(values.cores);
const shape = fleetShape(values, 'share');
const kind = `${fleetKind(shape)}${cores > 0 ? `, ${cores} cores each` : ''}`;
const figures = new Figures();
const build = await buildCapstan();
const cloud = await startCloudProcess(build.program);
try {
  await liftQuotas(cloud);
  await setTimings(cloud, machinePace(values));
  await measure();
} finally {
  await cloud.stop();
  build.remove();
}
figures.print();

async function measure(): Promise<void> {
  const counts = values.shares.split(',').map(Number);
  for (let run = 0; run < Number(values.runs); run++) {
    const outcomes: Outcome[] = [];
    for (const count of counts) {
      const { kubeconfig } = values;
      const sharing = { program: build.program, count, ...(cores > 0 && { cores }) };
      const processes = await (kubeconfig === undefined
        ? shareBesideOwnApi(sharing)
        : shareOn({ ...sharing, kubeconfig, apiPids: values.pid.map(Number) }));
      try {
        outcomes.push(await withShares(processes, count, values.kill && count === counts.at(-1)));
      } finally {
        await processes.stop();
      }
    }
    const [first, last] = [outcomes[0], outcomes.at(-1)];
    if (!first || !last) continue;
    const beside = `of_${counts.at(-1)}_beside_${counts[0]}`;
    const ratio = { unit: 'x', better: 'higher', aim: 1.7 } as const;
    figures.add({ figure: `rate_${beside}`, target: 'capstan', kind }, last.perSecond / first.perSecond, ratio);
    // what the rate would be where each process has a core, and API and cloud keep up
    const byCpu = first.busiestCpuSeconds / last.busiestCpuSeconds;
    figures.add({ figure: `rate_by_cpu_${beside}`, target: 'capstan', kind }, byCpu, ratio);
  }
}

interface Outcome {
  perSecond: number;
  /** of the process that had most to do */
  busiestCpuSeconds: number;
}

/** Makes a fleet with so many processes, and deletes it. */
async function withShares(sharing: Sharing, count: number, kills: boolean): Promise<Outcome> {
  const target = `${count} ${count === 1 ? 'share' : 'shares'}`;
  const add = (figure: string, value: number, unit: string, aim?: number): void =>
    figures.add({ figure, target, kind }, value, {
      unit,
      better: unit === '/s' ? 'higher' : 'lower',
      ...(aim !== undefined && { aim }),
    });
  const client = httpClient(await loadKubeconfig({ path: sharing.kubeconfig, env: {} }), { maxConnections: 16 });
  const stop = new AbortController();
  try {
    await createCloudSecret(client, cloud);
    await untilMembers(client, count);
    const limits = { patienceMs: Number(values.patience) * 1000, signal: stop.signal };
    const fleet = await openFleet(client, shape, limits);
    const groups = [sharing.pids, sharing.apiPids, [cloud.pid]];
    const before = groups.map(cpuSeconds);
    const eachBefore = sharing.pids.map(processCpuSeconds);
    const started = performance.now();
    await Promise.all([fleet.untilReady(), fleet.apply()]);
    const seconds = (performance.now() - started) / 1000;
    const [own = 0, api = 0, simulated = 0] = groups.map((group, index) => cpuSeconds(group) - (before[index] ?? 0));
    const each = sharing.pids.map((pid, index) => processCpuSeconds(pid) - (eachBefore[index] ?? 0));
    const outcome = { perSecond: shape.clusters / seconds, busiestCpuSeconds: Math.max(...each) };
    add('clusters_per_second', shape.clusters / seconds, '/s');
    add('seconds_until_ready', seconds, 's');
    add('controllers_cpu_seconds', own, 's');
    add('busiest_process_cpu_seconds', outcome.busiestCpuSeconds, 's');
    add('api_cpu_seconds', api, 's');
    add('cloud_cpu_seconds', simulated, 's');
    add('busy_cores', (own + api + simulated) / seconds, `of ${cpus().length}`);
    if (kills) add('seconds_until_work_goes_on_after_a_kill', await afterKill(client, sharing, fleet.names), 's', 5);
    await Promise.all([fleet.untilGone(), fleet.delete()]);
    return outcome;
  } finally {
    stop.abort();
    await client.close();
  }
}

/** Those who are killed leave their leases behind: only members that are counted by all others matter. */
async function untilMembers(client: HttpClient, count: number): Promise<void> {
  for (;;) {
    const { items } = await client.list(Leases, {
      namespace: 'capstan-system',
      labelSelector: 'shares.capstan.dev/of',
    });
    const views = items.map(({ metadata }) => metadata.annotations?.['shares.capstan.dev/members'] ?? '');
    if (views.filter((view) => view.split(',').length === count).length >= count) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/**
 * Kills one process and asks for a change of every cluster at the same moment: how long until all have been acted on.
 * The status would come some seconds after that.
 */
async function afterKill(client: HttpClient, sharing: Sharing, clusters: readonly string[]): Promise<number> {
  const mine = new Set(clusters);
  const { items } = await client.list(MachineDeployments, { namespace: 'default' });
  const scaled = items.filter(({ spec }) => mine.has(spec.clusterName));
  const started = performance.now();
  sharing.killOne();
  for (const { metadata } of scaled) {
    const key = { namespace: 'default', name: metadata.name ?? '' };
    await client.patch(MachineDeployments, key, 'merge', { spec: { replicas: 1 } }, { fieldManager: 'bench' });
  }
  for (;;) {
    const { items: all } = await client.list(MachineSets, { namespace: 'default' });
    const done = all.filter(({ spec }) => mine.has(spec.clusterName) && spec.replicas === 1);
    if (done.length >= scaled.length) return (performance.now() - started) / 1000;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function cpuSeconds(pids: readonly number[]): number {
  return pids.map(processCpuSeconds).reduce((sum, each) => sum + each, 0);
}
