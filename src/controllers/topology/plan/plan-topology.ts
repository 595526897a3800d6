import {
  type Cluster,
  type ClusterClass,
  Clusters,
  type ContractReference,
  clusterNameLabel,
  type MachineDeployment,
  MachineDeployments,
  topologyDeploymentNameLabel,
} from '../../../api/index.ts';
import type { Client, Lister } from '../../../client/index.ts';
import {
  asUnstructured,
  type Clock,
  deepEqual,
  formatFieldError,
  isJsonObject,
  isNotFound,
  type JsonValue,
  type KubeObject,
  parseApiVersion,
  type Random,
  type UnstructuredObject,
} from '../../../machinery/index.ts';
import { nullLogger, type ReconcileContext } from '../../../runtime/index.ts';
import { createContractResolver, type Follower, textAt } from '../../shared/index.ts';
import { type Change, createObjectApplier, type ObjectApplier } from '../cluster/apply-objects.ts';
import { deploymentsOf } from '../cluster/current-state.ts';
import { readBlueprint, readClass } from '../cluster/read-class.ts';
import { hasTopology, type TopologyCluster, topologyManager } from '../common.ts';
import { computeDesired } from '../desired/compute.ts';
import { infrastructureRefPath } from '../desired/control-plane.ts';
import { withField } from '../desired/json-path.ts';
import { withReplicasVariable } from '../desired/replicas.ts';
import type { Blueprint, DesiredDeployment, DesiredTemplate } from '../desired/types.ts';
import type { ExternalPatches } from '../patches/engine.ts';
import { completePlan, listedSteps, lowestVersion, oneMinorSteps, type UpgradePlan } from '../upgrade/plan.ts';
import { defaultVariables, validateVariables } from '../variables/values.ts';
import type { PlannedObject, TopologyPlan } from './types.ts';

export interface PlanIo {
  /** reads objects with the edit applied (see `createOverlay`); writes are dry runs */
  client: Client;
  clock: Clock;
  random: Random;
  signal: AbortSignal;
  /** called with every object as the server would store it */
  onObject?(object: UnstructuredObject): void;
}

/**
 * Plans what the topology controller would do to a Cluster; for upgrades, the final state. Server-side dry runs show
 * the resulting objects, nothing is stored. Throws an Error that names the fault in the edit.
 */
export async function planTopology(io: PlanIo, key: { namespace: string; name: string }): Promise<TopologyPlan> {
  const cluster = await io.client.get(Clusters, key, { signal: io.signal });
  if (!hasTopology(cluster)) throw new Error(`Cluster ${key.namespace}/${key.name} has no spec.topology`);
  const context = await contextOf(io, cluster);
  const follower = readingFollower(io);
  const clusterClass = await readClass(context, cluster);
  const complete = withVariables(cluster, clusterClass);
  const blueprint = await readBlueprint(context, follower, complete, clusterClass);
  const { controlPlaneRef } = complete.spec;
  const { namespace } = key;
  const plane = controlPlaneRef && (await follower.get(controlPlaneRef, namespace, io))?.object;
  const { current, all } = deploymentsOf(context, complete);
  const { topology } = complete.spec;
  const workers = topology.workers?.machineDeployments ?? [];
  const desired = await computeDesired(
    blueprint,
    { cluster: complete, ...(plane && { controlPlane: plane }), deployments: current },
    { controlPlane: topology.version, deployments: new Map(workers.map(({ name }) => [name, topology.version])) },
    withoutExtensions,
  );

  const planner = new ObjectPlanner(io, follower, complete);
  await planner.object(desired.infrastructureCluster);
  let planeObject = desired.controlPlane.object;
  const planeRolls: string[] = [];
  if (desired.controlPlane.machineTemplate) {
    const settled = await planner.template(desired.controlPlane.machineTemplate);
    if (settled.isReplaced) planeRolls.push('machine template');
    const path = [...infrastructureRefPath(blueprint.controlPlaneContract), 'name'];
    planeObject = withField(planeObject, path, settled.name);
  }
  await planner.object(planeObject, (fields) => {
    const because = [
      ...planeRolls,
      ...fields.filter((field) => field !== 'spec.replicas' && field.startsWith('spec.')),
    ];
    return because.length > 0 ? { because: [...new Set(because)], machines: replicasOf(plane) } : undefined;
  });
  await planner.object(desired.controlPlane.healthCheck && asUnstructured(desired.controlPlane.healthCheck));
  for (const worker of desired.deployments) await planWorker(planner, worker);
  const wanted = new Set(workers.map(({ name }) => name));
  for (const { kind, metadata, spec } of all) {
    if (wanted.has(metadata.labels?.[topologyDeploymentNameLabel] ?? '')) continue;
    planner.add({
      action: 'delete',
      kind: kind ?? MachineDeployments.kind,
      name: metadata.name ?? '',
      fields: [],
      rolls: { machines: spec.replicas, because: ['the topology has it no more'] },
    });
  }
  return {
    ...key,
    className: topology.classRef.name,
    version: topology.version,
    steps: stepsOf(blueprint, topology.version, plane, current),
    objects: planner.planned,
    notes: [...desired.notes, ...notesOf(blueprint)],
  };
}

async function planWorker(planner: ObjectPlanner, worker: DesiredDeployment): Promise<void> {
  const bootstrap = await planner.template(worker.bootstrapTemplate);
  const infrastructure = await planner.template(worker.infrastructureTemplate);
  const { spec } = worker.object;
  const references = spec.template.spec;
  const { configRef } = references.bootstrap;
  const object: MachineDeployment = {
    ...worker.object,
    spec: {
      ...spec,
      template: {
        ...spec.template,
        spec: {
          ...references,
          bootstrap: configRef ? { configRef: { ...configRef, name: bootstrap.name } } : references.bootstrap,
          infrastructureRef: { ...references.infrastructureRef, name: infrastructure.name },
        },
      },
    },
  };
  await planner.object(asUnstructured(object), (fields) => {
    const because = fields.filter((field) => rollingFields.some((one) => field.startsWith(one)));
    return because.length > 0 ? { because, machines: spec.replicas } : undefined;
  });
  await planner.object(worker.healthCheck && asUnstructured(worker.healthCheck));
}

/** MachineDeployment fields that require new machines; all others change in place. */
const rollingFields: readonly string[] = [
  'spec.template.spec.version',
  'spec.template.spec.bootstrap',
  'spec.template.spec.infrastructureRef',
  'spec.template.spec.failureDomain',
];

type Rolls = (fields: readonly string[]) => PlannedObject['rolls'] | undefined;

class ObjectPlanner {
  readonly planned: PlannedObject[] = [];
  readonly #io: PlanIo;
  readonly #follower: Follower;
  readonly #owner: TopologyCluster;
  readonly #applier: ObjectApplier = createObjectApplier();

  constructor(io: PlanIo, follower: Follower, owner: TopologyCluster) {
    this.#io = io;
    this.#follower = follower;
    this.#owner = owner;
  }

  add(planned: PlannedObject): void {
    this.planned.push(planned);
  }

  /** Plans a template; changed content gets a new name. */
  async template(desired: DesiredTemplate): Promise<{ name: string; isReplaced: boolean }> {
    const { kind, metadata } = desired.object;
    const before = await this.#read(referenceOf(desired.object));
    const settled = await this.#applier.settle(this.#io, this.#follower, this.#owner, desired);
    const name = settled.desired.metadata.name ?? '';
    const isReplaced = before !== undefined && name !== metadata.name;
    if (isReplaced) {
      const fields = differences(before['spec'] as JsonValue, desired.object['spec'] as JsonValue, 'spec');
      this.add({ action: 'replace', kind, name: metadata.name ?? '', replacedBy: name, fields });
    } else if (!settled.live) this.add({ action: 'create', kind, name, fields: [] });
    else await this.#compare(settled, settled.live);
    if (isReplaced || !settled.live) await this.#tell(settled.desired);
    return { name, isReplaced };
  }

  async object(desired: UnstructuredObject | undefined, rolls?: Rolls): Promise<void> {
    if (!desired) return;
    const live = await this.#read(referenceOf(desired));
    if (!live) {
      this.add({ action: 'create', kind: desired.kind, name: desired.metadata.name ?? '', fields: [] });
      await this.#tell(desired);
      return;
    }
    const { group, version } = parseApiVersion(desired.apiVersion);
    const { resource } = await this.#follower.kindOf({ apiGroup: group, kind: desired.kind }, this.#io.signal);
    await this.#compare({ resource: { ...resource, version }, desired, live }, live, rolls);
  }

  async #compare({ resource, desired }: Change, live: UnstructuredObject, rolls?: Rolls): Promise<void> {
    const { signal, client } = this.#io;
    const options = { fieldManager: topologyManager, force: true, dryRun: true, signal };
    const result = await client.apply(resource, desired, options);
    this.#io.onObject?.(result);
    const before = live.apiVersion === result.apiVersion ? live : await client.get(resource, keyOf(live), { signal });
    const fields = [
      ...differences(before['spec'] as JsonValue, result['spec'] as JsonValue, 'spec'),
      ...differences(before.metadata.labels ?? {}, result.metadata.labels ?? {}, 'metadata.labels'),
      ...differences(before.metadata.annotations ?? {}, result.metadata.annotations ?? {}, 'metadata.annotations'),
    ];
    const rolling = rolls?.(fields);
    this.add({
      action: fields.length > 0 ? 'change' : 'unchanged',
      kind: desired.kind,
      name: desired.metadata.name ?? '',
      fields,
      ...(rolling && { rolls: rolling }),
    });
  }

  /** Dry-runs the creation of an object, only if a caller wants the result. */
  async #tell(desired: UnstructuredObject): Promise<void> {
    const { signal, client, onObject } = this.#io;
    if (!onObject) return;
    const { group, version } = parseApiVersion(desired.apiVersion);
    const { resource } = await this.#follower.kindOf({ apiGroup: group, kind: desired.kind }, signal);
    const options = { fieldManager: topologyManager, force: true, dryRun: true, signal };
    onObject(await client.apply({ ...resource, version }, desired, options));
  }

  async #read(reference: ContractReference): Promise<UnstructuredObject | undefined> {
    const found = await this.#follower.get(reference, this.#owner.metadata.namespace ?? '', this.#io);
    return found?.object;
  }
}

const keyOf = ({ metadata: { namespace = '', name = '' } }: KubeObject) => ({ namespace, name });

const referenceOf = ({ apiVersion, kind, metadata }: UnstructuredObject): ContractReference => ({
  apiGroup: parseApiVersion(apiVersion).group,
  kind,
  name: metadata.name ?? '',
});

/** Lists paths at which two values differ; lists are compared as a whole. */
function differences(before: JsonValue | undefined, after: JsonValue | undefined, path: string): string[] {
  if (deepEqual(before, after)) return [];
  if (!isJsonObject(before) || !isJsonObject(after)) return [path];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].sort().flatMap((name) => differences(before[name], after[name], `${path}.${name}`));
}

function replicasOf(plane: UnstructuredObject | undefined): number | undefined {
  const spec = plane?.['spec'];
  return isJsonObject(spec) && typeof spec['replicas'] === 'number' ? spec['replicas'] : undefined;
}

function withVariables(stored: TopologyCluster, clusterClass: ClusterClass): TopologyCluster {
  const definitions = clusterClass.status?.variables ?? [];
  const cluster = structuredClone(stored);
  cluster.spec.topology = withReplicasVariable(clusterClass, cluster.spec.topology);
  defaultVariables(cluster.spec.topology, definitions);
  const errors = validateVariables(cluster.spec.topology, definitions);
  if (errors.length > 0) throw new Error(errors.map(formatFieldError).join('; '));
  return cluster;
}

/** Lists the intermediate versions. Throws an Error if the version cannot be reached. */
function stepsOf(
  { class: { spec } }: Blueprint,
  desired: string,
  plane: UnstructuredObject | undefined,
  deployments: ReadonlyMap<string, MachineDeployment>,
): UpgradePlan {
  const controlPlane = plane && textAt(plane, 'spec', 'version');
  if (controlPlane === undefined) return { controlPlane: [], workers: [] };
  const versions = [...deployments.values()].map((one) => one.spec.template.spec.version ?? desired);
  const question = { desired, controlPlane, workers: lowestVersion(versions) };
  if (spec.upgrade?.external?.generateUpgradePlanExtension !== undefined) return completePlan(question, [desired]);
  const listed = spec.kubernetesVersions;
  return completePlan(question, listed ? listedSteps(listed, question) : oneMinorSteps(question));
}

/** Skips extensions, which need not be reachable from where the plan runs. */
const withoutExtensions: ExternalPatches = {
  generate: async (_patch, templates) => [...templates],
  validate: async () => {},
};

function notesOf({ class: { spec } }: Blueprint): string[] {
  const external = (spec.patches ?? []).filter((patch) => patch.external !== undefined).map(({ name }) => name);
  const notes =
    external.length === 0
      ? []
      : [`patches of extensions are left out, what they do is shown as if it were undone: ${external.join(', ')}`];
  if (spec.upgrade?.external) notes.push('an extension decides which versions an upgrade passes');
  return notes;
}

/** Builds a reconcile context with the caches of one cluster filled. */
async function contextOf({ client, clock, random, signal }: PlanIo, cluster: Cluster): Promise<ReconcileContext> {
  const { namespace = '', name = '' } = cluster.metadata;
  const labelSelector = `${clusterNameLabel}=${name}`;
  const { items } = await client.list(MachineDeployments, { namespace, labelSelector, signal });
  const listerOf = <T extends KubeObject>(objects: readonly T[]): Lister<T> => ({
    get: (key) => objects.find(({ metadata }) => metadata.name === key.name && metadata.namespace === key.namespace),
    list: () => [...objects],
    byIndex: () => [...objects],
    countByIndex: () => objects.length,
    indexValues: () => [],
    size: objects.length,
  });
  return {
    client,
    clock,
    random,
    signal,
    log: nullLogger,
    events: { event: () => {} },
    cache: {
      lister: (resource) => (resource.kind === MachineDeployments.kind ? listerOf(items as never[]) : listerOf([])),
    },
  };
}

/** Builds a follower that reads provider objects from the API. */
function readingFollower({ client, clock }: PlanIo): Follower {
  const contracts = createContractResolver({ client, clock });
  return {
    source: { start: () => {} },
    kindOf: ({ apiGroup, kind }, signal) => contracts.resolve(apiGroup, kind, signal),
    controlledBy: async () => [],
    async get(reference, namespace, { signal }) {
      const kind = await contracts.resolve(reference.apiGroup, reference.kind, signal);
      try {
        const object = await client.get(kind.resource, { namespace, name: reference.name }, signal ? { signal } : {});
        return { object, contract: kind.contract };
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
  };
}
