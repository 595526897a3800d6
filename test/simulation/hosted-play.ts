import { Clusters, type Machine, Machines, PersistentVolumeClaims, Pods } from '../../src/api/index.ts';
import { type KubeObject, type Resource, seededRandom } from '../../src/machinery/index.ts';
import { collect } from '../../src/openstack/index.ts';
import { tell } from './actions.ts';
import { clearCloudFaults, injectCloudFaults } from './cloud-faults.ts';
import { namespace } from './cluster-manifests.ts';
import { injectPlaneFault } from './hosted-faults.ts';
import { checkPlane, etcdOf, hostedDiffers, leftOfPlane, type Memory } from './hosted-invariants.ts';
import { planeKinds } from './hosted-manifests.ts';
import {
  applyHostedSpec,
  changeHosted,
  deleteHosted,
  drawHostedSpec,
  type HostedStory,
  lagging,
  lagsBehind,
  upgradePlane,
  upgradeWorkersTo,
} from './hosted-story.ts';
import { checkForeign, checkInvariants, checkNothingLeft, foreignThings, InvariantViolation } from './invariants.ts';
import { isOverHttp, type Outcome, type PlayOptions } from './play.ts';
import { checkQuiet } from './quiet.ts';
import { beginning, createSystem, type System } from './system.ts';

const hour = 3_600_000;
const eventsBetweenChecks = 40;
/** Time after which a kubelet without access counts as missing. */
const untilMissedMs = 120_000;

/** Runs the lifecycle of a hosted plane and its workers for a seed. */
export async function playHosted(seed: number, options: PlayOptions = {}): Promise<Outcome> {
  const random = seededRandom(seed * 7 + 5);
  const memory: Memory = { voters: 0, wasAvailable: false, workers: new Set(), revision: -1 };
  let story: HostedStory | undefined;
  let events = 0;
  const system = await createSystem({
    seed,
    hosted: true,
    overHttp: isOverHttp(seed, options),
    watch: async (watched) => {
      if (story) await checkPlane(story, memory);
      if (++events % eventsBetweenChecks === 0) await checkInvariants(watched);
    },
  });
  story = {
    system,
    random,
    desired: drawHostedSpec(random, seed),
    rotations: new Map(),
    reachedVersion: undefined,
    isDeleted: false,
    excusedUntil: 0,
    lastInjectedFault: 0,
    hasNewWorkers: false,
    log: [],
    onTell: options.onTell,
  };
  let problem: string | undefined;
  try {
    await live(story, memory, seed);
  } catch (error) {
    problem =
      error instanceof InvariantViolation
        ? error.message
        : error instanceof Error
          ? (error.stack ?? error.message)
          : String(error);
    problem += `\n${await situation(story)}`;
  } finally {
    await system.stop();
  }
  const simulatedSeconds = Math.round((system.clock.now() - beginning) / 1_000);
  return { seed, problem, story: story.log, simulatedSeconds };
}

async function live(story: HostedStory, memory: Memory, seed: number): Promise<void> {
  const { system, random } = story;
  const before = foreignThings(system);
  await applyHostedSpec(story);
  if (lagsBehind(seed)) await lagBehind(story, memory);
  if (random.next() < 0.5) injectCloudFaults(story);
  // Some runs wait until the plane is complete before its first change.
  if (random.next() < 0.6) await untilAsDesired(story, memory);
  const acts = 1 + Math.floor(random.next() * 3);
  for (let act = 0; act < acts; act++) {
    await system.pass(Math.floor(random.next() * 60_000));
    if (random.next() < 0.45) await injectPlaneFault(story);
    else await changeHosted(story);
  }
  if (random.next() < 0.3) {
    await untilAsDesired(story, memory);
    await changeHosted(story);
    await system.pass(Math.floor(random.next() * 15_000));
    if (random.next() < 0.5) await injectPlaneFault(story);
  }
  await system.pass(Math.floor(random.next() * 60_000));
  clearCloudFaults(story);
  await untilAsDesired(story, memory);
  await checkInvariants(system);
  checkForeign(system, before);
  const isWatched = random.next() < 0.4;
  if (isWatched) await checkQuiet(system);
  else if (story.rotations.size > 0) await system.pass(untilMissedMs);
  const why = await hostedDiffers(story, memory);
  if (why !== undefined) throw new InvariantViolation('what is as desired stays so', why);
  if (random.next() < 0.3) injectCloudFaults(story);
  await deleteHosted(story);
  if (random.next() < 0.5) system.crashSoon(60);
  await system.pass(Math.floor(random.next() * 60_000));
  clearCloudFaults(story);
  await untilGone(story);
  checkNothingLeft(system, before);
  await checkVolumesKept(story);
}

/**
 * Upgrades the plane release by release while its workers stay. The release too far ahead of them must wait, with a
 * condition that says so. Then the workers are upgraded to the plane's version, and the plane continues by itself.
 */
async function lagBehind(story: HostedStory, memory: Memory): Promise<void> {
  const { system } = story;
  await untilAsDesired(story, memory);
  const [first, ...next] = lagging;
  for (const version of next.slice(0, -1)) {
    await upgradePlane(story, version);
    await untilAsDesired(story, memory);
    // Skipping the version of the status is refused.
    await system.until(async () => (await planeStatus(story)).version?.startsWith(version) === true, hour);
  }
  const [running, tooFar] = [story.desired.version, next.at(-1)!];
  await upgradePlane(story, tooFar);
  const held = await system.until(async () => (await versionVerdict(story))?.reason === 'VersionSkew', hour);
  if (!held) throw new InvariantViolation('a plane never leaves its workers behind', `${first} beside ${tooFar}`);
  tell(story, `the plane waits: ${(await versionVerdict(story))?.message}`);
  await upgradeWorkersTo(story, running);
  await untilAsDesired(story, memory);
  await upgradeWorkersTo(story, tooFar);
  await untilAsDesired(story, memory);
}

interface PlaneCondition {
  readonly type: string;
  readonly reason: string;
  readonly message?: string;
}

interface PlaneStatus {
  readonly version?: string;
  readonly conditions?: readonly PlaneCondition[];
}

async function planeStatus({ system, desired }: HostedStory): Promise<PlaneStatus> {
  const { resource } = planeKinds[desired.kind];
  const plane = await system.client.get(resource, { namespace, name: desired.name });
  return (plane as { status?: PlaneStatus }).status ?? {};
}

async function versionVerdict(story: HostedStory): Promise<PlaneCondition | undefined> {
  return (await planeStatus(story)).conditions?.find(({ type }) => type === 'VersionAccepted');
}

async function untilAsDesired(story: HostedStory, memory: Memory): Promise<void> {
  let why: string | undefined;
  let events = 0;
  const reached = await story.system.until(async () => {
    if (events++ % 10 !== 0) return false;
    why = await hostedDiffers(story, memory);
    return why === undefined;
  }, 2 * hour);
  if (!reached) throw new InvariantViolation('every error is recoverable', `never: ${why}`);
  story.reachedVersion = story.desired.version;
  tell(story, 'everything is as desired');
}

async function untilGone(story: HostedStory): Promise<void> {
  let left: string[] = [];
  let events = 0;
  const reached = await story.system.until(async () => {
    if (events++ % 10 !== 0) return false;
    left = await leftOfPlane(story);
    return left.length === 0;
  }, 2 * hour);
  if (!reached) throw new InvariantViolation('deletion always ends', `left: ${left.join(', ')}`);
  tell(story, 'everything is gone');
}

/** Checks that volumes the user wants to keep still exist. */
async function checkVolumesKept({ system, desired }: HostedStory): Promise<void> {
  if (desired.kind !== 'k0smotron' || desired.deletesVolumes) return;
  const { items } = await system.client.list(PersistentVolumeClaims, { namespace });
  if (items.length === 0) throw new InvariantViolation('volumes that are to stay do', 'all claims are gone');
}

/** Returns the status of all objects, for reading a failure. */
async function situation(story: HostedStory): Promise<string> {
  const { system, desired } = story;
  const lines: string[] = [];
  for (const kind of [Clusters, planeKinds[desired.kind].resource, Machines as Resource<Machine>]) {
    for (const object of (await system.client.list(kind as Resource<KubeObject>, {})).items) {
      lines.push(`  ${kind.kind} ${object.metadata.name}: ${badConditions(object)}`);
    }
  }
  for (const pod of (await system.client.list(Pods, {})).items) {
    const { phase, containerStatuses = [] } = pod.status ?? {};
    const states = containerStatuses.map(({ name, ready, state }) => `${name} ${ready} ${JSON.stringify(state)}`);
    lines.push(
      `  Pod ${pod.metadata.name} ${phase}${pod.metadata.deletionTimestamp ? ' (deleting)' : ''}: ${states.join(', ')}`,
    );
  }
  for (const { id, name, isLearner } of etcdOf(story)?.members ?? []) {
    lines.push(`  etcd ${name}${isLearner ? ' (learner)' : ''} ${etcdOf(story)?.isRunning(id) ? 'runs' : 'is down'}`);
  }
  const errors = system.entries.filter(({ level }) => level === 'error' || level === 'warn').slice(-5);
  return [...lines, ...errors.map((entry) => `  ${JSON.stringify(entry)}`), ...(await said(system))].join('\n');
}

function badConditions(object: KubeObject): string {
  const { conditions = [] } =
    (object as { status?: { conditions?: { type: string; status: string; message?: string }[] } }).status ?? {};
  return conditions
    .filter(({ status }) => status !== 'True')
    .map(({ type, status, message }) => `${type}=${status} ${message ?? ''}`)
    .join('; ');
}

/** Returns the last output of machines, and of containers that do not run. */
async function said({ client, pods, admin }: System): Promise<string[]> {
  const lines: string[] = [];
  for (const { id, name } of await collect(admin.compute.servers.list({ allTenants: true }))) {
    const console = await admin.compute.servers.consoleOutput(id).catch(() => '');
    const words = console.split('\n').filter((line) => /error|fail|warn/i.test(line));
    lines.push(...words.slice(-7).map((line) => `  ${name}: ${line}`));
  }
  for (const pod of (await client.list(Pods, {})).items) {
    for (const { name, ready } of pod.status?.containerStatuses ?? []) {
      if (ready || !pods) continue;
      const options = { container: name, follow: false, previous: false, timestamps: false, tailLines: 3 };
      try {
        for await (const text of pods.host.podLogs(pod as never, {
          ...options,
          signal: new AbortController().signal,
        })) {
          lines.push(`  ${pod.metadata.name}/${name}: ${text.trimEnd()}`);
        }
      } catch {
        // No output.
      }
    }
  }
  return lines;
}
