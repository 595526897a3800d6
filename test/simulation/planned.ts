import { makePlan } from '../../src/cli/plan/make-plan.ts';
import type { Plan, PlannedChange } from '../../src/cli/plan/types.ts';
import type { Client } from '../../src/client/index.ts';
import { guidePrices } from '../../src/controllers/index.ts';
import {
  asUnstructured,
  formatApiVersion,
  type KubeObject,
  type Random,
  type Resource,
  seededRandom,
  type UnstructuredObject,
} from '../../src/machinery/index.ts';
import { createSessionPool } from '../../src/openstack/index.ts';
import { type Change, pick, type Story, tell } from './actions.ts';
import { InvariantViolation } from './broken-promise.ts';
import type { ClusterSpec, Manifest } from './cluster-manifests.ts';
import { by, type System } from './system.ts';

// Invariant: the plan before an apply matches the later state of the cloud.

/** Changes of manifests. Others, such as deleting a Machine, are not edits. */
const edits: readonly string[] = ['scale workers', 'scale the control plane', 'upgrade', 'other machines'];

/** Applies the manifests of new clusters and checks the plan made before. */
export async function planAndCreate(
  story: Story,
  specs: readonly ClusterSpec[],
  create: () => Promise<void>,
): Promise<void> {
  const { client } = story.system;
  const wanted: UnstructuredObject[] = [];
  for (const { resource, object } of specs.flatMap((desired) => story.style.manifestsOf(desired))) {
    wanted.push(await dryCreate(client, { resource, object }));
  }
  await isKept(story, wanted, create);
}

/** Edits a cluster that is as desired, and checks the plan made before. */
export async function planAndChange(story: Story, random: Random, untilAsDesired: () => Promise<void>): Promise<void> {
  const [desired] = story.specs.length > 0 ? [pick(random, story.specs)] : [];
  const names = edits.filter((name) => story.style.changes[name] !== undefined);
  const name = names.length > 0 ? pick(random, names) : undefined;
  const change: Change | undefined = name === undefined ? undefined : story.style.changes[name];
  if (!desired || !change) return;
  // The same change twice: as dry run, then applied.
  const drawn = Math.floor(random.next() * 1_000_000);
  const edited: UnstructuredObject[] = [];
  const client = dryClient(story.system.client, edited);
  const dry: Story = {
    ...story,
    log: [],
    onTell: undefined,
    random: seededRandom(drawn),
    system: { ...story.system, client },
  };
  if ((await change(dry, desired)) === undefined) return;
  await isKept(story, edited, async () => {
    tell(story, `the user, with a plan: ${name} of ${desired.name}`);
    const next = await change({ ...story, random: seededRandom(drawn) }, desired);
    if (next) story.specs = story.specs.map((each) => (each === desired ? next : each));
    await untilAsDesired();
  });
}

async function isKept(story: Story, edited: readonly UnstructuredObject[], work: () => Promise<void>): Promise<void> {
  const { system } = story;
  let plan = await planOf(system, edited);
  // Drift of the cloud is corrected once it is detected.
  for (let look = 0; driftOf(plan).length > 0 && look < 20; look++) {
    await system.pass(30_000);
    plan = await planOf(system, edited);
  }
  const drift = driftOf(plan);
  if (drift.length > 0) throw new InvariantViolation('the plan never lies', `drift at rest: ${JSON.stringify(drift)}`);
  const before = thingsOf(system);
  await work();
  let difference = differenceOf(plan, before, thingsOf(system));
  // Deletion may complete shortly after everything else is as desired.
  for (let look = 0; difference !== undefined && look < 20; look++) {
    await system.pass(30_000);
    difference = differenceOf(plan, before, thingsOf(system));
  }
  if (difference !== undefined) throw new InvariantViolation('the plan never lies', difference);
  tell(story, 'it came as planned');
}

async function planOf(system: System, edited: readonly UnstructuredObject[]): Promise<Plan> {
  const { client, clock, random, cloudTransport } = system;
  const sessions = createSessionPool({ transport: cloudTransport, clock, random });
  try {
    const plan = await makePlan({
      client,
      edited,
      sessions,
      prices: guidePrices,
      clock,
      signal: new AbortController().signal,
    });
    const [problem] = plan.problems.filter(({ severity }) => severity === 'error');
    if (problem) throw new InvariantViolation('the plan never lies', `${problem.object}: ${problem.message}`);
    return plan;
  } finally {
    await sessions.close();
  }
}

const driftOf = ({ clusters }: Plan): PlannedChange[] =>
  clusters.flatMap(({ changes }) => changes).filter(({ cause }) => cause === 'drift');

/** Resources by id: type, and name where it is set by the controllers. */
type Things = ReadonlyMap<string, string>;

const compared = {
  network: 'networks',
  subnet: 'subnets',
  router: 'routers',
  securityGroup: 'securityGroups',
  floatingIp: 'floatingIps',
  loadBalancer: 'loadBalancers',
  server: 'servers',
  volume: 'volumes',
  port: 'ports',
} as const;

function thingsOf({ rows }: System): Things {
  const things = new Map<string, string>();
  for (const [type, table] of Object.entries(compared)) {
    for (const row of rows.of(table)) {
      // The cloud itself creates other ports, for routers, load balancers and addresses.
      if (type === 'port' && 'device_owner' in row && !ownPort(row.device_owner)) continue;
      if (type === 'securityGroup' && row.name?.startsWith('lb-')) continue;
      things.set(row.id, `${type} ${type === 'floatingIp' ? '' : (row.name ?? '')}`);
    }
  }
  return things;
}

const ownPort = (owner: string): boolean => owner === '' || owner.startsWith('compute:');

/** Compares created and deleted resources with the plan. Returns undefined if they match. */
function differenceOf(plan: Plan, before: Things, after: Things): string | undefined {
  const changes = plan.clusters.flatMap((cluster) => cluster.changes);
  const came = [...after].filter(([id]) => !before.has(id)).map(([, what]) => what);
  const went = [...before].filter(([id]) => !after.has(id)).map(([, what]) => what);
  const lines = [
    ...compare('made', planned(changes, 'create'), came),
    ...compare('deleted', planned(changes, 'delete'), went),
  ];
  return lines.length === 0 ? undefined : lines.join('; ');
}

function planned(changes: readonly PlannedChange[], action: PlannedChange['action']): string[] {
  return changes
    .filter((change) => change.action === action && change.type in compared)
    .map(({ type, name }) => `${type} ${type === 'floatingIp' ? '' : name}`);
}

function compare(verb: string, expected: readonly string[], seen: readonly string[]): string[] {
  const left = [...seen];
  const missing: string[] = [];
  for (const pattern of expected) {
    const matching = new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '[a-z0-9]{5}')}$`);
    const at = left.findIndex((name) => matching.test(name));
    if (at < 0) missing.push(pattern);
    else left.splice(at, 1);
  }
  return [
    ...(missing.length > 0 ? [`planned and not ${verb}: ${missing.join(', ')}`] : []),
    ...(left.length > 0 ? [`${verb} and not planned: ${left.join(', ')}`] : []),
  ];
}

async function dryCreate(client: Client, { resource, object }: Manifest): Promise<UnstructuredObject> {
  return whole(resource, await client.create(resource, object, { ...by, dryRun: true }));
}

const whole = (resource: Resource, object: KubeObject): UnstructuredObject =>
  asUnstructured({ ...object, apiVersion: formatApiVersion(resource.group, resource.version), kind: resource.kind });

/** Collects writes instead of sending them. */
function dryClient(client: Client, written: UnstructuredObject[]): Client {
  return {
    ...client,
    get: (resource, key, options) => client.get(resource, key, options),
    list: (resource, options) => client.list(resource, options),
    async create(resource, object, options) {
      const created = await client.create(resource, object, { ...options, dryRun: true });
      written.push(whole(resource, created));
      return created;
    },
    async patch(resource, key, type, patch, options) {
      const patched = await client.patch(resource, key, type, patch, { ...options, dryRun: true });
      written.push(whole(resource, patched));
      return patched;
    },
    async update(resource, object, options) {
      const updated = await client.update(resource, object, { ...options, dryRun: true });
      written.push(whole(resource, updated));
      return updated;
    },
  };
}
