import {
  clusters,
  kubeadmConfigs,
  kubeadmControlPlanes,
  machineDeployments,
  machineSets,
  machines,
  openStackClusters,
  openStackMachines,
  openStackServers,
} from '../../src/api/index.ts';
import { type KubeObject, type Resource, seededRandom } from '../../src/machinery/index.ts';
import { collect } from '../../src/openstack/index.ts';
import { type ClusterWish, controlPlaneName, deploymentName, namespace } from './cluster-manifests.ts';
import { BrokenPromise, checkForeign, checkNothingLeft, checkPromises, foreignThings } from './invariants.ts';
import { beginWithMistake } from './mistakes.ts';
import { checkQuiet } from './quiet.ts';
import { beginning, createSystem, type System } from './system.ts';
import { calmTheCloud, strike, troubleTheCloud } from './trouble.ts';
import { applyWish, changeSomething, deleteCluster, drawWish, type Story, tell } from './wishes.ts';

export interface Outcome {
  readonly seed: number;
  /** undefined: every promise was kept */
  readonly problem: string | undefined;
  readonly story: readonly string[];
  readonly simulatedSeconds: number;
}

const hour = 3_600_000;
/** One large life costs as much as three small ones, and seldom shows what these do not. */
const livesPerLargeOne = 10;
/** A whole look at the cloud costs more than most events do. */
const eventsBetweenLooks = 40;

const condition = (object: KubeObject, type: string): string | undefined =>
  (object as { status?: { conditions?: { type: string; status: string }[] } }).status?.conditions?.find(
    (each) => each.type === type,
  )?.status;

/** Whether a cluster is what its user wants, by what is there and not by what is said of it alone. */
async function differs(system: System, wish: ClusterWish): Promise<string | undefined> {
  const { client } = system;
  const find = async <T extends KubeObject>(resource: Resource<T>, name: string): Promise<T> =>
    client.get(resource, { namespace, name });
  const cluster = await find(clusters, wish.name);
  if (condition(cluster, 'Available') !== 'True') return `Cluster ${wish.name} is not Available`;
  const own = (await client.list(machines, { namespace })).items.filter(({ spec }) => spec.clusterName === wish.name);
  const isControlPlane = (machine: KubeObject): boolean =>
    machine.metadata.labels?.['cluster.x-k8s.io/control-plane'] !== undefined;
  const groups = {
    controlPlanes: own.filter(isControlPlane),
    workers: own.filter((machine) => !isControlPlane(machine)),
  };
  for (const [role, members] of Object.entries(groups)) {
    const wanted = wish[role as 'controlPlanes' | 'workers'];
    if (members.length !== wanted) return `${wish.name} has ${members.length} ${role}, not ${wanted}`;
  }
  for (const machine of own) {
    const { name } = machine.metadata;
    if (machine.metadata.deletionTimestamp) return `Machine ${name} is being deleted`;
    if (machine.spec.version !== wish.version) return `Machine ${name} has version ${machine.spec.version}`;
    if (condition(machine, 'Ready') !== 'True') return `Machine ${name} is not Ready`;
    if (condition(machine, 'UpToDate') === 'False') return `Machine ${name} is not up to date`;
  }
  const plane = await find(kubeadmControlPlanes, controlPlaneName(wish));
  const deployment = await find(machineDeployments, deploymentName(wish));
  for (const [object, wanted] of [
    [plane, wish.controlPlanes],
    [deployment, wish.workers],
  ] as const) {
    const { replicas, readyReplicas, upToDateReplicas } = (object.status ?? {}) as Record<string, number | undefined>;
    const counts = [replicas ?? 0, readyReplicas ?? 0, upToDateReplicas ?? 0];
    if (counts.some((count) => count !== wanted)) return `${object.kind} ${object.metadata.name} counts ${counts}`;
  }
  const servers = (await collect(system.admin.compute.servers.list({ allTenants: true }))).filter(({ name }) =>
    name.startsWith(`${wish.name}-`),
  );
  if (servers.length !== own.length) return `${wish.name} has ${servers.length} servers for ${own.length} Machines`;
  const dead = servers.find(({ status }) => status !== 'ACTIVE');
  return dead && `server ${dead.name} is ${dead.status}`;
}

async function untilWished(story: Story): Promise<void> {
  const { system } = story;
  let why: string | undefined;
  let events = 0;
  const reached = await system.until(async () => {
    if (events++ % 10 !== 0) return false;
    why = undefined;
    for (const wish of story.wishes) why ??= await differs(system, wish);
    return why === undefined;
  }, 4 * hour);
  if (!reached) throw new BrokenPromise('every error is recoverable', `never: ${why}`);
  tell(story, 'everything is as wished');
}

async function untilGone(story: Story): Promise<void> {
  const { system } = story;
  const kinds: readonly Resource<KubeObject>[] = [
    clusters,
    openStackClusters,
    kubeadmControlPlanes,
    machineDeployments,
    machineSets,
    machines,
    openStackMachines,
    openStackServers,
    kubeadmConfigs,
  ];
  let left: string[] = [];
  let events = 0;
  const reached = await system.until(async () => {
    if (events++ % 10 !== 0) return false;
    left = [];
    for (const kind of kinds) {
      for (const { metadata } of (await system.client.list(kind, {})).items) left.push(`${kind.kind} ${metadata.name}`);
    }
    return left.length === 0;
  }, 4 * hour);
  if (!reached) throw new BrokenPromise('deletion always ends', `left: ${left.join(', ')}`);
  tell(story, 'everything is gone');
}

/** The life of an installation that follows from a seed. */
export async function play(seed: number, onTell?: (line: string) => void): Promise<Outcome> {
  let events = 0;
  const system = await createSystem({
    seed,
    watch: async (watched) => {
      if (++events % eventsBetweenLooks === 0) await checkPromises(watched);
    },
  });
  const story: Story = { system, random: seededRandom(seed * 7 + 5), wishes: [], log: [], onTell };
  const { random } = story;
  let problem: string | undefined;
  try {
    const before = foreignThings(system);
    const isLarge = seed % livesPerLargeOne === 0;
    const amount = isLarge && random.next() < 0.4 ? 2 : 1;
    for (let index = 0; index < amount; index++) await applyWish(story, drawWish(random, index, isLarge));
    const mistaken = random.next() < 0.15 ? await beginWithMistake(story, drawWish(random, 9, false)) : undefined;
    if (random.next() < 0.8) troubleTheCloud(story);
    const acts = 1 + Math.floor(random.next() * (isLarge ? 4 : 2));
    for (let act = 0; act < acts; act++) {
      await system.pass(Math.floor(random.next() * 120_000));
      if (random.next() < 0.5) await strike(story);
      else await changeSomething(story);
    }
    await mistaken?.();
    if (random.next() < 0.5) await untilWished(story);
    if (random.next() < 0.5) await changeSomething(story);
    await system.pass(Math.floor(random.next() * 60_000));
    calmTheCloud(story);
    await untilWished(story);
    await checkPromises(system);
    checkForeign(system, before);
    if (random.next() < (isLarge ? 0.5 : 0.2)) await checkQuiet(system);
    if (random.next() < 0.5) troubleTheCloud(story);
    for (const wish of [...story.wishes]) await deleteCluster(story, wish);
    if (random.next() < 0.5) system.crashSoon(60);
    await system.pass(60_000);
    calmTheCloud(story);
    await untilGone(story);
    checkNothingLeft(system, before);
  } catch (error) {
    problem =
      error instanceof BrokenPromise
        ? error.message
        : error instanceof Error
          ? (error.stack ?? error.message)
          : String(error);
    problem += `\n${await situation(system)}`;
  } finally {
    await system.stop();
  }
  const simulatedSeconds = Math.round((system.clock.now() - beginning) / 1_000);
  return { seed, problem, story: story.log, simulatedSeconds };
}

/** What the objects say of themselves, for whoever reads a failure. */
async function situation({ client, entries, admin }: System): Promise<string> {
  const lines: string[] = [];
  for (const kind of [
    clusters,
    openStackClusters,
    kubeadmControlPlanes,
    machineDeployments,
    machines,
    openStackServers,
  ]) {
    for (const object of (await client.list(kind as Resource<KubeObject>, {})).items) {
      const conditions = (object as { status?: { conditions?: { type: string; status: string; message?: string }[] } })
        .status?.conditions;
      const bad = (conditions ?? []).filter(
        ({ type, status }) => status !== 'True' && /Ready|Available|Provisioned|Deleting/.test(type),
      );
      const text = bad.map(({ type, status, message }) => `${type}=${status} ${message ?? ''}`).join('; ');
      lines.push(
        `  ${kind.kind} ${object.metadata.name}${object.metadata.deletionTimestamp ? ' (deleting)' : ''}: ${text}`,
      );
    }
  }
  for (const { id, name } of await collect(admin.compute.servers.list({ allTenants: true }))) {
    const console = await admin.compute.servers.consoleOutput(id).catch(() => '');
    const said = console.split('\n').filter((line) => /error|fail|warn/i.test(line));
    lines.push(...said.slice(-7).map((line) => `  ${name}: ${line}`));
  }
  lines.push(...(await balancing(admin)));
  const errors = entries.filter(({ level }) => level === 'error').slice(-5);
  return [...lines, ...errors.map((entry) => `  ${JSON.stringify(entry)}`)].join('\n');
}

/** Where connections to the load balancers go. */
async function balancing({ loadBalancer }: System['admin']): Promise<string[]> {
  const lines: string[] = [];
  for (const pool of await collect(loadBalancer.pools.list())) {
    lines.push(`  pool ${pool.name}: ${pool.provisioningStatus} ${pool.operatingStatus}`);
    for (const member of await collect(loadBalancer.members(pool.id).list())) {
      lines.push(`    ${member.name} ${member.address}: ${member.provisioningStatus} ${member.operatingStatus}`);
    }
  }
  return lines;
}
