import {
  type Cluster,
  ClusterStacks,
  Clusters,
  MachineDeployments,
  OpenStackClusters,
  OpenStackFloatingIPPools,
  OpenStackMachines,
  OpenStackServers,
} from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import {
  clusterCosts,
  concernedClusters,
  createLookupCache,
  createOverlay,
  createRehearsedClouds,
  type Prices,
  planTopology,
  suffixesOf,
} from '../../controllers/index.ts';
import {
  asTyped,
  asUnstructured,
  type Clock,
  clone,
  errorMessage,
  isJsonObject,
  type KubeObject,
  systemRandom,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import type { OpenStack, RehearsedCloud, SessionPool } from '../../openstack/index.ts';
import { titleOf } from '../clouds-in-use.ts';
import {
  type ClusterRehearsal,
  createClusterRehearsal,
  describeObject,
  type MachineChange,
  type MadeChange,
  withoutPreflightChecks,
} from './cluster-rehearsal.ts';
import { detailOf, nameOf } from './describe-change.ts';
import { problemsOf } from './problems.ts';
import { compareQuotas, heightOf } from './quotas.ts';
import { clustersOf, credentialsOf, ObjectSet, objectsOfCluster, readStored } from './stored-objects.ts';
import type { Cause, ClusterPlan, Plan, PlannedChange, PlannedMachines, PlanProblem } from './types.ts';

export interface PlanInput {
  /** client of the management API; a plan writes only dry runs */
  readonly client: Client;
  /** whether there is no management API yet; the client then contains only the edited objects */
  readonly isBeginning?: boolean;
  /** objects as the server would store them */
  readonly edited: readonly UnstructuredObject[];
  /** objects to delete: kind, namespace and name are sufficient */
  readonly deleted?: readonly UnstructuredObject[];
  /** parts left out of the plan, and the reasons */
  readonly problems?: readonly PlanProblem[];
  readonly notes?: readonly string[];
  readonly sessions: SessionPool;
  /** overrides the clouds of the objects */
  readonly cloud?: OpenStack;
  readonly prices: Prices;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Computes the cloud changes of applying objects, by running the controllers in memory against recorded clouds. */
export async function makePlan(input: PlanInput): Promise<Plan> {
  const { client, signal, clock, sessions, cloud } = input;
  const problems: PlanProblem[] = [...(input.problems ?? [])];
  const edited = await ObjectSet.of(input.edited);
  const namespaces = new Set(edited.all().flatMap(({ metadata }) => metadata.namespace ?? []));
  const topologies = await planTopologies(input, namespaces, problems);
  const wanted = (await ObjectSet.of(topologies.objects)).over(edited);
  const stored = input.isBeginning ? await ObjectSet.of([]) : await readStored(client, namespaces, signal);
  const all = wanted.over(stored);

  const clouds = createRehearsedClouds({ sessions, ...(cloud && { instead: cloud }) });
  const lookups = createLookupCache({ clock });
  const titles = new Titles(signal);
  const clusters: ClusterPlan[] = [];
  const heights = new Map<RehearsedCloud, Awaited<ReturnType<typeof heightOf>>[]>();
  const unpriced = new Set<string>();
  for (const key of concerned(wanted, all, topologies.clusters)) {
    const rehearsal = createClusterRehearsal({ key, clouds, lookups, nowMs: clock.now(), signal });
    const used = new Set(objectsOfCluster(stored, key));
    const after = objectsOfCluster(all, key);
    // an edit may refer to stored objects that nothing refers to yet
    const before = [...used, ...after.filter((one) => !wanted.has(one) && !used.has(one))];
    const isStored = before.some(({ kind }) => kind === Clusters.kind);
    const unknown = unknownParts(
      after.find(({ kind }) => kind === Clusters.kind),
      isStored,
    );
    const deleted = [...topologies.deleted, ...(input.deleted ?? [])].filter(
      ({ metadata }) => metadata.namespace === key.namespace,
    );
    const edits = after.filter((one) => wanted.has(one));
    const made = await rehearseOne(rehearsal, { before, after: edits, deleted, key, wanted, unknown }, input);
    problems.push(...(await problemsOf(rehearsal)));
    for (const one of made.unpriced) unpriced.add(one);
    clusters.push({
      ...key,
      exists: isStored,
      clouds: await Promise.all(
        [...new Set(rehearsal.changes.map((change) => change.cloud))].map((one) => titles.of(one)),
      ),
      changes: made.changes,
      machines: machinesOf(rehearsal, (name) => lotless(name, rehearsal, unknown)),
      costs: made.costs,
    });
    for (const one of clouds.used) {
      const own = rehearsal.changes.filter((change) => change.cloud === one);
      if (own.length > 0) heights.set(one, [...(heights.get(one) ?? []), await heightOf(own)]);
    }
  }
  const quotas = await Promise.all(
    [...heights].map(async ([one, needs]) => compareQuotas(one, await titles.of(one), needs, signal)),
  );
  const sum = (which: 'before' | 'after'): number => clusters.reduce((total, { costs }) => total + costs[which], 0);
  return {
    clusters,
    quotas: quotas.flat(),
    problems: unique(problems),
    costs: {
      before: sum('before'),
      after: sum('after'),
      currency: input.prices.currency,
      unpriced: [...unpriced].sort(),
    },
    notes: [...(input.notes ?? []), ...topologies.notes, ...notesOf(wanted, all)],
  };
}

/** Caches the project title, which needs one request per project. */
class Titles {
  readonly #titles = new Map<RehearsedCloud, Promise<string>>();
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  of(cloud: RehearsedCloud): Promise<string> {
    const known =
      this.#titles.get(cloud) ??
      cloud.openstack.identity
        .whoami({ signal: this.#signal })
        .then(({ project }) => titleOf(cloud.openstack.config, project?.name));
    this.#titles.set(cloud, known);
    return known;
  }
}

/** Returns name parts that are not known yet: random, or derived from the id of a new object. */
function unknownParts(cluster: UnstructuredObject | undefined, isStored: boolean): string[] {
  return cluster && !isStored ? suffixesOf(asTyped<Cluster>(cluster)) : [];
}

interface OneCluster {
  readonly key: { readonly namespace: string; readonly name: string };
  /** stored objects of the cluster */
  readonly before: readonly UnstructuredObject[];
  /** edited objects of the cluster */
  readonly after: readonly UnstructuredObject[];
  readonly deleted: readonly UnstructuredObject[];
  /** all edited objects, including credentials outside the cluster */
  readonly wanted: ObjectSet;
  /** name parts that will differ */
  readonly unknown: readonly string[];
}

interface Rehearsed {
  readonly changes: PlannedChange[];
  readonly costs: ClusterPlan['costs'];
  readonly unpriced: readonly string[];
}

/** Runs the controllers without the edit first, to separate drift, and then with it. */
async function rehearseOne(
  rehearsal: ClusterRehearsal,
  { before, after, deleted, key, wanted, unknown }: OneCluster,
  { client, signal, prices }: PlanInput,
): Promise<Rehearsed> {
  const { objects } = rehearsal;
  const changes: PlannedChange[] = [];
  const costOf = () =>
    clusterCosts(
      {
        clusters: objects.list(Clusters).filter(({ metadata }) => metadata.name === key.name),
        openStackClusters: objects.list(OpenStackClusters),
        machines: objects.list(OpenStackMachines),
        servers: objects.list(OpenStackServers),
      },
      prices,
    );
  const total = (): number => costOf().reduce((sum, cost) => sum + cost.total, 0);
  const settle = async (cause: Cause): Promise<void> => {
    const seen = rehearsal.changes.length;
    await rehearsal.settle();
    for (const made of rehearsal.changes.slice(seen))
      changes.push(await plannedChange(made, cause, (name) => lotless(name, rehearsal, unknown)));
  };
  for (const object of await credentialsOf([...before, ...after], wanted, client, signal)) await objects.seed(object);
  for (const object of before) await objects.seed(withoutPreflightChecks(object));
  const paid = total();
  if (before.length > 0) await settle('drift');
  for (const object of after) await objects.seed(withoutPreflightChecks(withStateOf(rehearsal, object)));
  for (const { metadata } of deleted) {
    const gone = { namespace: key.namespace, name: metadata.name ?? '' };
    if (objects.get(MachineDeployments, gone)) await objects.client.delete(MachineDeployments, gone);
  }
  await settle('edit');
  return { changes, costs: { before: paid, after: total() }, unpriced: costOf().flatMap((cost) => cost.unpriced) };
}

/** An edit contains the desired state; the status on the object is kept. */
function withStateOf({ objects }: ClusterRehearsal, object: UnstructuredObject): UnstructuredObject {
  const { namespace, name = '' } = object.metadata;
  const resource = objects.resourceOf(object);
  const known = resource && objects.get(resource, { ...(namespace !== undefined && { namespace }), name });
  const draft = clone(object);
  if (!known) {
    // the values of a dry run will change
    delete draft.metadata.uid;
    delete draft['status'];
    return draft;
  }
  const { metadata, status } = asTyped<KubeObject & { status?: object }>(known);
  const { uid, finalizers, ownerReferences, creationTimestamp, generation = 1 } = metadata;
  draft.metadata = {
    ...draft.metadata,
    ...(uid !== undefined && { uid }),
    ...(finalizers && { finalizers }),
    ...(ownerReferences && { ownerReferences }),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
    generation: generation + 1,
    annotations: { ...metadata.annotations, ...draft.metadata.annotations },
  };
  return asUnstructured({ ...draft, ...(status && { status }) });
}

async function plannedChange(
  made: MadeChange,
  cause: Cause,
  withStars: (name: string) => string,
): Promise<PlannedChange> {
  const { change, cloud, object } = made;
  return {
    action: change.action,
    type: change.type,
    name: withStars(nameOf(change, cloud)),
    ...(!cloud.isNew(change.thing.id) && { id: change.thing.id }),
    object: withStars(object),
    cause,
    detail: await detailOf(change, cloud),
    fields: change.fields,
  };
}

/** Replaces unknown name parts, random or derived from a future id, by a star. */
function lotless(name: string, { objects }: ClusterRehearsal, unknown: readonly string[]): string {
  let text = name;
  for (const drawn of objects.drawn) text = text.replace(`-${drawn}`, '-*');
  for (const set of objects.newSetNames()) text = text.replace(set, `${set.slice(0, -5)}*`);
  for (const part of unknown) text = text.replace(`-${part}`, '-*');
  return text;
}

/** Groups machines by owner; a machine created for a deleted one counts as replacement. */
function machinesOf({ machines, outdated }: ClusterRehearsal, withStars: (name: string) => string): PlannedMachines[] {
  const byObject = new Map<string, MachineChange[]>();
  for (const one of machines) byObject.set(one.object, [...(byObject.get(one.object) ?? []), one]);
  return [...byObject].map(([object, changes]) => {
    const create = changes.filter(({ action }) => action === 'create').length;
    const replace = Math.min(create, changes.length - create);
    return {
      object: withStars(object),
      create,
      delete: changes.length - create,
      replace,
      because: [...(outdated.get(object) ?? [])],
    };
  });
}

interface Topologies {
  /** objects that classes generate for clusters */
  readonly objects: readonly UnstructuredObject[];
  readonly deleted: readonly UnstructuredObject[];
  readonly clusters: readonly { namespace: string; name: string }[];
  readonly notes: readonly string[];
}

async function planTopologies(
  { client, edited, clock, signal }: PlanInput,
  namespaces: Set<string>,
  problems: PlanProblem[],
): Promise<Topologies> {
  const overlay = createOverlay(client, edited);
  const objects: UnstructuredObject[] = [];
  const deleted: UnstructuredObject[] = [];
  const clusters: { namespace: string; name: string }[] = [];
  const notes: string[] = [];
  for (const key of await concernedClusters(client, edited, signal)) {
    namespaces.add(key.namespace);
    clusters.push(key);
    const own: UnstructuredObject[] = [];
    try {
      const io = {
        client: overlay.client,
        clock,
        random: systemRandom,
        signal,
        onObject: (one: UnstructuredObject) => void own.push(one),
      };
      const plan = await planTopology(io, key);
      notes.push(...plan.notes.map((note) => `cluster ${key.namespace}/${key.name}: ${note}`));
      for (const { action, kind, name } of plan.objects) {
        if (action !== 'delete') continue;
        deleted.push({ apiVersion: '', kind, metadata: { name, namespace: key.namespace } });
      }
      objects.push(...own, await withReferences(overlay.client, key, own));
    } catch (error) {
      signal.throwIfAborted();
      problems.push(topologyProblem(key, error, edited));
    }
  }
  return { objects, deleted, clusters, notes };
}

/** A class of a stack exists only after the stack. */
function topologyProblem(
  { namespace, name }: { namespace: string; name: string },
  error: unknown,
  edited: readonly UnstructuredObject[],
): PlanProblem {
  const object = `Cluster ${namespace}/${name}`;
  const stack = edited.find(({ kind, metadata }) => kind === ClusterStacks.kind && metadata.namespace === namespace);
  const message = errorMessage(error);
  if (!stack || !message.includes('ClusterClass')) return { object, message, severity: 'error' };
  return {
    object,
    message: `what its class makes is known when ${describeObject(stack)} has brought the class: apply the stack alone, then plan again (${message})`,
    severity: 'warning',
  };
}

/** Adds the references that a Cluster gets when its parts are created. */
async function withReferences(
  client: Client,
  key: { namespace: string; name: string },
  parts: readonly UnstructuredObject[],
): Promise<UnstructuredObject> {
  const cluster = asUnstructured(clone(await client.get(Clusters, key)));
  const spec = isJsonObject(cluster.spec) ? { ...cluster.spec } : {};
  for (const { apiVersion, kind, metadata } of parts) {
    const reference = { apiGroup: apiVersion.split('/')[0] ?? '', kind, name: metadata.name ?? '' };
    if (kind === OpenStackClusters.kind) spec['infrastructureRef'] ??= reference;
    else if (kind.endsWith('ControlPlane')) spec['controlPlaneRef'] ??= reference;
  }
  return { ...cluster, apiVersion: 'cluster.x-k8s.io/v1beta2', kind: Clusters.kind, spec };
}

/** Returns the clusters that the edit affects, in the order of the edit. */
function concerned(
  wanted: ObjectSet,
  all: ObjectSet,
  topologies: Topologies['clusters'],
): { namespace: string; name: string }[] {
  const keys = new Map<string, { namespace: string; name: string }>();
  const add = (key: { namespace: string; name: string }): void => void keys.set(`${key.namespace}/${key.name}`, key);
  for (const object of wanted.all()) {
    const { namespace = '' } = object.metadata;
    for (const name of clustersOf(all, object))
      if (all.find(Clusters.kind, { namespace, name })) add({ namespace, name });
  }
  for (const key of topologies) add(key);
  return [...keys.values()];
}

/** Kinds with cloud resources that a plan does not show. */
const notShown: readonly string[] = [OpenStackFloatingIPPools.kind, 'Image'];

function notesOf(wanted: ObjectSet, all: ObjectSet): string[] {
  const notes: string[] = [];
  for (const object of wanted.all()) {
    if (notShown.includes(object.kind))
      notes.push(`${describeObject(object)}: what becomes of it is not part of the plan`);
    const isPart = [OpenStackClusters.kind, MachineDeployments.kind].includes(object.kind);
    if (
      isPart &&
      clustersOf(all, object).every((name) => !all.find(Clusters.kind, { namespace: object.metadata.namespace, name }))
    ) {
      notes.push(`${describeObject(object)} belongs to no Cluster: nothing is made of it`);
    }
  }
  return notes;
}

function unique(problems: readonly PlanProblem[]): PlanProblem[] {
  return [...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()];
}
