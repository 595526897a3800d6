import {
  Clusters,
  KubeadmConfigs,
  KubeadmControlPlanes,
  MachineDeployments,
  MachineSets,
  Machines,
  OpenStackClusters,
  OpenStackMachines,
  OpenStackServers,
  RKE2Configs,
  RKE2ControlPlanes,
} from '../../src/api/index.ts';
import { type KubeObject, type Resource, seededRandom } from '../../src/machinery/index.ts';
import { collect } from '../../src/openstack/index.ts';
import {
  applySpec,
  changeSomething,
  deleteCluster,
  drawSpec,
  plainStyle,
  rke2Style,
  type Story,
  type Style,
  tell,
} from './actions.ts';
import { clearCloudFaults, injectCloudFaults, strike } from './cloud-faults.ts';
import {
  type ClusterSpec,
  controlPlaneName,
  deploymentName,
  namespace,
  planesOf,
  releaseOf,
} from './cluster-manifests.ts';
import { checkForeign, checkInvariants, checkNothingLeft, foreignThings, InvariantViolation } from './invariants.ts';
import { beginWithMistake } from './mistakes.ts';
import { planAndChange, planAndCreate } from './planned.ts';
import { checkQuiet } from './quiet.ts';
import { lackOfSets } from './resource-sets.ts';
import { beginning, createSystem, type System } from './system.ts';
import { topologyStyle } from './topology-story.ts';

export interface Outcome {
  readonly seed: number;
  /** undefined: all invariants held */
  readonly problem: string | undefined;
  readonly story: readonly string[];
  readonly simulatedSeconds: number;
}

const hour = 3_600_000;
/** A large run costs as much as three small ones and rarely shows more. */
const livesPerLargeOne = 10;
/** A full check of the cloud costs more than most events. */
const eventsBetweenChecks = 40;
/** Fraction of runs whose first clusters are created without faults, as planned. */
const plannedFromTheBeginning = 0.3;

const condition = (object: KubeObject, type: string): string | undefined =>
  (object as { status?: { conditions?: { type: string; status: string }[] } }).status?.conditions?.find(
    (each) => each.type === type,
  )?.status;

/** Returns why a cluster differs from its desired state, based on actual state and not only on its status. */
async function differs(system: System, desired: ClusterSpec): Promise<string | undefined> {
  const { client } = system;
  const find = async <T extends KubeObject>(resource: Resource<T>, name: string): Promise<T> =>
    client.get(resource, { namespace, name });
  const cluster = await find(Clusters, desired.name);
  if (condition(cluster, 'Available') !== 'True') return `Cluster ${desired.name} is not Available`;
  const lack = await lackOfSets(client);
  if (lack !== undefined) return lack;
  const own = (await client.list(Machines, { namespace })).items.filter(
    ({ spec }) => spec.clusterName === desired.name,
  );
  const isControlPlane = (machine: KubeObject): boolean =>
    machine.metadata.labels?.['cluster.x-k8s.io/control-plane'] !== undefined;
  const groups = {
    controlPlanes: own.filter(isControlPlane),
    workers: own.filter((machine) => !isControlPlane(machine)),
  };
  for (const [role, members] of Object.entries(groups)) {
    const wanted = desired[role as 'controlPlanes' | 'workers'];
    if (members.length !== wanted) return `${desired.name} has ${members.length} ${role}, not ${wanted}`;
  }
  for (const machine of own) {
    const { name } = machine.metadata;
    if (machine.metadata.deletionTimestamp) return `Machine ${name} is being deleted`;
    if (machine.spec.version !== releaseOf(desired)) return `Machine ${name} has version ${machine.spec.version}`;
    if (condition(machine, 'Ready') !== 'True') return `Machine ${name} is not Ready`;
    if (condition(machine, 'UpToDate') === 'False') return `Machine ${name} is not up to date`;
  }
  const plane = (await find(planesOf(desired), controlPlaneName(desired))) as KubeObject & { status?: object };
  const deployment = await find(MachineDeployments, deploymentName(desired));
  for (const [object, wanted] of [
    [plane, desired.controlPlanes],
    [deployment, desired.workers],
  ] as const) {
    const { replicas, readyReplicas, upToDateReplicas } = (object.status ?? {}) as Record<string, number | undefined>;
    const counts = [replicas ?? 0, readyReplicas ?? 0, upToDateReplicas ?? 0];
    if (counts.some((count) => count !== wanted)) return `${object.kind} ${object.metadata.name} counts ${counts}`;
  }
  const servers = (await collect(system.admin.compute.servers.list({ allTenants: true }))).filter(({ name }) =>
    name.startsWith(`${desired.name}-`),
  );
  if (servers.length !== own.length) return `${desired.name} has ${servers.length} servers for ${own.length} Machines`;
  const dead = servers.find(({ status }) => status !== 'ACTIVE');
  return dead && `server ${dead.name} is ${dead.status}`;
}

async function untilAsDesired(story: Story): Promise<void> {
  const { system } = story;
  let why: string | undefined;
  let events = 0;
  const reached = await system.until(async () => {
    if (events++ % 10 !== 0) return false;
    why = undefined;
    for (const desired of story.specs) {
      why ??= (await differs(system, desired)) ?? (await story.style.differs?.(story, desired));
    }
    return why === undefined;
  }, 4 * hour);
  if (!reached) throw new InvariantViolation('every error is recoverable', `never: ${why}`);
  tell(story, 'everything is as desired');
}

async function untilGone(story: Story): Promise<void> {
  const { system } = story;
  const kinds: readonly Resource<KubeObject>[] = [
    Clusters,
    OpenStackClusters,
    KubeadmControlPlanes,
    RKE2ControlPlanes,
    MachineDeployments,
    MachineSets,
    Machines,
    OpenStackMachines,
    OpenStackServers,
    KubeadmConfigs,
    RKE2Configs,
  ];
  let left: string[] = [];
  let events = 0;
  const reached = await system.until(async () => {
    if (events++ % 10 !== 0) return false;
    left = [];
    for (const kind of kinds) {
      for (const { metadata } of (await system.client.list(kind, {})).items) left.push(`${kind.kind} ${metadata.name}`);
    }
    left.push(...((await story.style.left?.(story)) ?? []));
    return left.length === 0;
  }, 4 * hour);
  if (!reached) throw new InvariantViolation('deletion always ends', `left: ${left.join(', ')}`);
  tell(story, 'everything is gone');
}

export interface PlayOptions {
  readonly onTell?: ((line: string) => void) | undefined;
  /** controllers use HTTP to the management API; default: in some runs */
  readonly overHttp?: boolean;
}

/** One of this number of runs uses HTTP, unless all do. */
const livesPerHttpOne = 4;
export const isOverHttp = (seed: number, { overHttp = false }: PlayOptions): boolean =>
  overHttp || seed % livesPerHttpOne === livesPerHttpOne - 1;

/** Runs the lifecycle of an installation for a seed. */
export async function play(seed: number, options: PlayOptions = {}, style: Style = plainStyle): Promise<Outcome> {
  let events = 0;
  const system = await createSystem({
    seed,
    overHttp: isOverHttp(seed, options),
    watch: async (watched) => {
      if (++events % eventsBetweenChecks === 0) await checkInvariants(watched);
    },
  });
  const story: Story = {
    system,
    random: seededRandom(seed * 7 + 5),
    specs: [],
    log: [],
    onTell: options.onTell,
    style,
  };
  const { random } = story;
  /** A separate generator, so that planning does not change the rest of the simulation. */
  const planning = seededRandom(seed * 13 + 3);
  let problem: string | undefined;
  try {
    const before = foreignThings(system);
    const isLarge = seed % livesPerLargeOne === 0;
    const amount = isLarge && random.next() < 0.4 ? 2 : 1;
    const { distribution } = style;
    const wanted = Array.from({ length: amount }, (_, index) => ({
      ...drawSpec(random, index, isLarge),
      ...(distribution && { distribution }),
    }));
    const create = async (): Promise<void> => {
      for (const desired of wanted) await applySpec(story, desired);
    };
    if (planning.next() < plannedFromTheBeginning && style.isPlanned !== false) {
      await planAndCreate(story, wanted, async () => {
        await create();
        await untilAsDesired(story);
      });
    } else await create();
    const mayErr = style === plainStyle;
    const mistaken =
      random.next() < 0.15 && mayErr ? await beginWithMistake(story, drawSpec(random, 9, false)) : undefined;
    if (random.next() < 0.8) injectCloudFaults(story);
    const acts = 1 + Math.floor(random.next() * (isLarge ? 4 : 2));
    for (let act = 0; act < acts; act++) {
      await system.pass(Math.floor(random.next() * 120_000));
      if (random.next() < 0.5) await strike(story);
      else await changeSomething(story);
    }
    await mistaken?.();
    if (random.next() < 0.5) await untilAsDesired(story);
    if (random.next() < 0.5) await changeSomething(story);
    await system.pass(Math.floor(random.next() * 60_000));
    clearCloudFaults(story);
    await untilAsDesired(story);
    await checkInvariants(system);
    checkForeign(system, before);
    if (style.isPlanned !== false) {
      await planAndChange(story, planning, () => untilAsDesired(story));
      await checkInvariants(system);
    }
    if (random.next() < (isLarge ? 0.5 : 0.2)) await checkQuiet(system);
    if (random.next() < 0.5) injectCloudFaults(story);
    for (const desired of [...story.specs]) await deleteCluster(story, desired);
    if (random.next() < 0.5) system.crashSoon(60);
    await system.pass(60_000);
    clearCloudFaults(story);
    await untilGone(story);
    checkNothingLeft(system, before);
  } catch (error) {
    problem =
      error instanceof InvariantViolation
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

/** The same with clusters from a ClusterClass. */
export const playTopology = (seed: number, options?: PlayOptions): Promise<Outcome> =>
  play(seed, options, topologyStyle);

/** The same with control planes and machines of rke2. */
export const playRke2 = (seed: number, options?: PlayOptions): Promise<Outcome> => play(seed, options, rke2Style);

/** Returns the status of all objects, for reading a failure. */
async function situation({ client, entries, admin }: System): Promise<string> {
  const lines: string[] = [];
  for (const kind of [
    Clusters,
    OpenStackClusters,
    KubeadmControlPlanes,
    RKE2ControlPlanes,
    MachineDeployments,
    Machines,
    OpenStackServers,
  ]) {
    for (const object of (await client.list(kind as Resource<KubeObject>, {})).items) {
      const conditions = (object as { status?: { conditions?: { type: string; status: string; message?: string }[] } })
        .status?.conditions;
      const bad = (conditions ?? []).filter(
        ({ type, status }) => status !== 'True' && /Ready|Available|Provisioned|Deleting|TopologyReconciled/.test(type),
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

/** Returns the targets of the load balancers. */
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
