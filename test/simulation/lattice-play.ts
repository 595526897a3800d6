import { Clusters, type LatticeCluster, LatticeClusters, Machines, OpenStackMachines } from '../../src/api/index.ts';
import type { Client } from '../../src/client/index.ts';
import { ignoreNotFound, type Random, seededRandom } from '../../src/machinery/index.ts';
import { checkForeign, checkNothingLeft, checkOwnership, foreignThings, InvariantViolation } from './invariants.ts';
import { applyLattice } from './lattice-manifest.ts';
import { createLatticeSystem, isActive, type LatticeSystem } from './lattice-system.ts';
import type { Outcome, PlayOptions } from './play.ts';
import { beginning, by } from './system.ts';

const name = 'one';
const namespace = `capi-${name}`;
const hour = 3_600_000;
const eventsBetweenChecks = 40;

interface Story {
  readonly system: LatticeSystem;
  readonly random: Random;
  readonly log: string[];
  readonly onTell: ((line: string) => void) | undefined;
  /** desired number of workers */
  wanted: number;
}

function tell(story: Story, line: string): void {
  const seconds = Math.round((story.system.parent.clock.now() - beginning) / 1_000);
  const text = `${String(seconds).padStart(6)} s  ${line}`;
  story.log.push(text);
  story.onTell?.(text);
}

const find = (client: Client): Promise<LatticeCluster | undefined> =>
  client.get(LatticeClusters, { name }).catch(ignoreNotFound);

const stageOf = (cluster: LatticeCluster | undefined): string =>
  cluster?.metadata.annotations?.['lattice.dev/management'] ?? 'here';

const conditionOf = (cluster: LatticeCluster | undefined, type: string): string | undefined =>
  cluster?.status?.conditions?.find((each) => each.type === type)?.status;

/** Tracks which side changed the cloud since the last check, and which side could. */
class Owners {
  #revision = -1;
  #seen = { parent: 0, child: 0 };
  #active = { parent: false, child: false };

  async check({ parent, child }: LatticeSystem): Promise<void> {
    const now = { parent: parent.counts.mutations, child: child.counts.mutations };
    const acted = { parent: now.parent > this.#seen.parent, child: now.child > this.#seen.child };
    this.#seen = now;
    const revision = parent.revision();
    const before = this.#active;
    if (revision !== this.#revision) {
      this.#revision = revision;
      this.#active = {
        parent: await isActive(parent.client, namespace),
        child: child.isUp() && (await isActive(child.client, namespace)),
      };
    }
    if (this.#active.parent && this.#active.child) throw new InvariantViolation('one owner', 'both sides are');
    for (const [side, other] of [
      ['parent', 'child'],
      ['child', 'parent'],
    ] as const) {
      if (acted[side] && before[other] && this.#active[other]) {
        throw new InvariantViolation('one owner', `the ${side} changed the cloud while the ${other} owns the cluster`);
      }
    }
  }
}

async function begin(story: Story): Promise<void> {
  const { parent } = story.system;
  const { random } = story;
  const controlPlane = random.next() < 0.2 ? 3 : 1;
  await applyLattice(parent, { name, controlPlane, workers: story.wanted });
  tell(story, `a cluster of ${controlPlane}+${story.wanted} is wanted`);
}

/** Kills the controllers of a side, or breaks the connection between them. */
function disturb(story: Story): void {
  const { system, random } = story;
  const { parent, child, way } = system;
  const drawn = random.next();
  if (drawn < 0.35) {
    parent.crashSoon(60);
    tell(story, 'the parent is about to die');
  } else if (drawn < 0.7) {
    child.lives.crashSoon(60);
    tell(story, 'the cluster is about to die');
  } else if (drawn < 0.85) {
    way.isCut = true;
    const ms = 1_000 + Math.floor(random.next() * 120_000);
    parent.clock.after(ms, () => {
      way.isCut = false;
    });
    tell(story, `the way between them is cut for ${Math.round(ms / 1_000)} s`);
  } else {
    way.faults.probability = 0.1;
    tell(story, 'answers get lost on the way');
  }
}

function calm({ system }: Story): void {
  const { parent, way } = system;
  parent.faults.probability = 0;
  way.faults.probability = 0;
  way.isCut = false;
}

async function until(story: Story, what: string, condition: () => Promise<boolean>): Promise<void> {
  let events = 0;
  const reached = await story.system.parent.until(async () => events++ % 5 === 0 && (await condition()), 4 * hour);
  if (!reached) throw new InvariantViolation('every error is recoverable', `never: ${what}`);
  tell(story, what);
}

const hasBegun = async ({ system }: Story): Promise<boolean> => {
  const live = await find(system.parent.client);
  return stageOf(live) !== 'here' || conditionOf(live, 'Ready') === 'True';
};

/** Injects a fault every few steps while the objects are moved. */
async function disturbWhile(story: Story, stage: string, times: number): Promise<void> {
  const { system, random } = story;
  for (let turn = 0; turn < times; turn++) {
    disturb(story);
    await system.parent.pass(Math.floor(random.next() * 6_000));
    const live = await find(system.parent.client);
    if (live === undefined || (stageOf(live) !== stage && stageOf(live) !== 'here')) return;
  }
}

/** Reports whether the cluster is as desired and its objects exist in exactly one API. */
async function isSelfManaged({ system, wanted }: Story): Promise<boolean> {
  const { parent, child } = system;
  if (stageOf(await find(parent.client)) !== 'self') return false;
  const inside = await find(child.client);
  if (conditionOf(inside, 'Ready') !== 'True' || inside?.status?.readyWorkers !== wanted) return false;
  if ((await parent.client.list(Clusters, { namespace })).items.length > 0) return false;
  const machines = (await child.client.list(Machines, { namespace })).items;
  const own = (await child.client.list(OpenStackMachines, { namespace })).items;
  const servers = parent.rows.of('servers').filter((server) => server.name?.startsWith(`${name}-`));
  const planes = inside.spec.nodes.controlPlane as number;
  const total = planes + wanted;
  return machines.length === total && own.length === total && servers.length === total;
}

async function scaleInside(story: Story): Promise<void> {
  const { child } = story.system;
  story.wanted = story.wanted === 1 ? 2 : 1;
  const spec = { nodes: { workerPools: { default: { replicas: story.wanted } } } };
  await child.client.patch(LatticeClusters, { name }, 'merge', { spec }, by);
  tell(story, `${story.wanted} workers are wanted, in the cluster`);
}

async function remove(story: Story): Promise<void> {
  const { parent, child } = story.system;
  const isInside = story.random.next() < 0.4 && stageOf(await find(parent.client)) === 'self';
  await (isInside ? child.client : parent.client).delete(LatticeClusters, { name }, {}).catch(ignoreNotFound);
  tell(story, `it is deleted ${isInside ? 'in the cluster' : 'at the parent'}`);
}

async function live(story: Story): Promise<void> {
  const { system, random } = story;
  const { parent } = system;
  await begin(story);
  const isEarly = random.next() < 0.1;
  if (isEarly) await parent.pass(Math.floor(random.next() * 900_000));
  else await until(story, 'it is ready at its parent', () => hasBegun(story));
  if (random.next() < 0.5) parent.faults.probability = 0.02;
  await disturbWhile(story, 'pivoting', 2 + Math.floor(random.next() * 10));
  const isDeletedEarly = random.next() < 0.35;
  if (!isDeletedEarly) {
    calm(story);
    await until(story, 'it manages itself', () => isSelfManaged(story));
    if (random.next() < 0.6) {
      parent.lives.hold();
      tell(story, 'the parent is gone');
      await scaleInside(story);
      if (random.next() < 0.5) system.child.lives.crashSoon(200);
      await until(story, 'it has what is wanted', async () => {
        const inside = await find(system.child.client);
        return inside?.status?.readyWorkers === story.wanted && conditionOf(inside, 'Ready') === 'True';
      });
      parent.lives.resume();
      tell(story, 'the parent is back');
      await until(story, 'both agree', () => isSelfManaged(story));
    }
  }
  await remove(story);
  if (random.next() < 0.7) await disturbWhile(story, 'unpivoting', 1 + Math.floor(random.next() * 8));
  calm(story);
  await until(story, 'it is gone', async () => (await find(parent.client)) === undefined);
}

/** Runs the lifecycle of a self-managed cluster and its parent for a seed. */
export async function playLattice(seed: number, { onTell }: PlayOptions = {}): Promise<Outcome> {
  const owners = new Owners();
  let events = 0;
  const system = await createLatticeSystem({
    seed,
    watch: async (watched) => {
      await owners.check(watched);
      if (++events % eventsBetweenChecks !== 0) return;
      const { parent, child } = watched;
      await checkOwnership(parent, child.isUp() ? [parent.client, child.client] : [parent.client]);
    },
  });
  const random = seededRandom(seed * 11 + 3);
  const story: Story = { system, random, log: [], onTell, wanted: random.next() < 0.5 ? 1 : 2 };
  let problem: string | undefined;
  try {
    const before = foreignThings(system.parent);
    await live(story);
    checkNothingLeft(system.parent, before);
    checkForeign(system.parent, before);
  } catch (error) {
    problem = error instanceof InvariantViolation ? error.message : String((error as Error).stack ?? error);
    problem += `\n${await situation(system)}`;
  } finally {
    await system.stop();
  }
  const simulatedSeconds = Math.round((system.parent.clock.now() - beginning) / 1_000);
  return { seed, problem, story: story.log, simulatedSeconds };
}

/** Returns the status of both sides, for reading a failure. */
async function situation({ parent, child }: LatticeSystem): Promise<string> {
  const lines: string[] = [];
  for (const [side, client] of [
    ['parent', parent.client],
    ['child', child.client],
  ] as const) {
    const cluster = await find(client);
    lines.push(
      `  ${side}: ${JSON.stringify(cluster?.metadata.annotations)} ${cluster?.status?.phase}: ${cluster?.status?.message}`,
    );
    for (const { type, status, message } of cluster?.status?.conditions ?? []) {
      if (status !== 'True') lines.push(`    ${type}=${status} ${message ?? ''}`);
    }
    for (const { metadata, status } of (await client.list(Machines, { namespace })).items) {
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      lines.push(
        `    Machine ${metadata.name} ${status?.phase} ${metadata.deletionTimestamp ?? ''} ${ready?.message ?? ''}`,
      );
    }
  }
  const errors = parent.entries.filter(({ level }) => level === 'error').slice(-5);
  return [...lines, ...errors.map((entry) => `  ${JSON.stringify(entry)}`)].join('\n');
}
