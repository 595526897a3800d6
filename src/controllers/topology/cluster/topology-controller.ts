import {
  type Cluster,
  type ClusterAddon,
  ClusterAddons,
  type ClusterClass,
  ClusterClasses,
  Clusters,
  type ContractReference,
  clusterNameLabel,
  type Machine,
  type MachineDeployment,
  MachineDeployments,
  MachineHealthChecks,
  MachineSets,
  Machines,
  topologyDeploymentNameLabel,
  topologyOwnedLabel,
  upgradeStepAnnotation,
} from '../../../api/index.ts';
import { type ObjectKey, objectKey } from '../../../client/index.ts';
import {
  asUnstructured,
  deepEqual,
  errorMessage,
  formatFieldError,
  isInvalid,
  type KubeObject,
  must,
  parseApiVersion,
  type Resource,
  type UnstructuredObject,
} from '../../../machinery/index.ts';
import {
  after,
  type ControllerDefinition,
  changedBesidesStatus,
  defineController,
  done,
  type Predicate,
  type ReconcileContext,
  type Result,
  watchMapped,
  watchObjects,
} from '../../../runtime/index.ts';
import {
  ContractError,
  draftOf,
  type Follower,
  isDeleting,
  isFilteredOut,
  isHookPending,
  isOkToDelete,
  isTrue,
  isUpdatingInPlace,
  markHookDone,
  markHooksPending,
  markOkToDelete,
  pausedBy,
  setVerdict,
  type Verdict,
  watchFilter,
  writeObject,
} from '../../shared/index.ts';
import {
  byTopologyCluster,
  classesWith,
  classKeyOf,
  clustersOf,
  hasTopology,
  indexValue,
  registerClassIndex,
  type TopologyCluster,
  type TopologyDependencies,
} from '../common.ts';
import { computeDesired } from '../desired/compute.ts';
import { infrastructureRefPath } from '../desired/control-plane.ts';
import { withField } from '../desired/json-path.ts';
import { withReplicasVariable } from '../desired/replicas.ts';
import type { Blueprint, DesiredState } from '../desired/types.ts';
import { ClassPatchError } from '../patches/engine.ts';
import { externalPatches } from '../patches/external.ts';
import {
  completePlan,
  listedSteps,
  lowestVersion,
  oneMinorSteps,
  type UpgradePlan,
  UpgradePlanError,
} from '../upgrade/plan.ts';
import { decideVersions, type Sequence, type SequenceHooks } from '../upgrade/sequence.ts';
import { defaultVariables, validateVariables } from '../variables/values.ts';
import {
  type Change,
  createObjectApplier,
  type ObjectApplier,
  RefusedObjectError,
  requireOwn,
} from './apply-objects.ts';
import { deploymentsOf, planeStateOf, workerStatesOf } from './current-state.ts';
import { NotYet, readBlueprint, readClass } from './read-class.ts';
import {
  createTemplateSweep,
  kindId,
  removeSurplusDeployments,
  removeSurplusHealthChecks,
  type TemplateSweep,
  type TemplatesInUse,
  templateReferences,
} from './surplus.ts';
import { notePlan, topologyVerdict } from './verdict.ts';

const defaultConcurrency = 10;
/** retry interval after an API rejection, which a changed definition or policy may resolve without an event */
const refusedRetryMs = 120_000;
/** longest pause after a failure; there is no event when an extension works again either */
const maxBackoffMs = 60_000;
const untoldRetrySeconds = 30;

/** Builds the controller that creates the objects of Clusters from `spec.topology` and a ClusterClass. */
export function topologyController(dependencies: TopologyDependencies): ControllerDefinition {
  const { cache } = dependencies;
  const applier = createObjectApplier();
  const templates = createTemplateSweep();
  const follower = dependencies.externals.follow((object) => concernedBy(object));

  /** maps an object to clusters: objects of a topology, and templates of a class */
  function concernedBy(object: UnstructuredObject): ObjectKey[] {
    const { labels, namespace = '' } = object.metadata;
    const cluster = labels?.[clusterNameLabel];
    if (labels?.[topologyOwnedLabel] !== undefined && cluster !== undefined) return [{ namespace, name: cluster }];
    return classesWith(cache, object).flatMap((clusterClass) => clustersOf(cache, clusterClass).map(objectKey));
  }

  function forget(cluster: ObjectKey): void {
    applier.keepOnly(cluster, []);
    templates.forget(cluster);
  }

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const cluster = context.cache.lister(Clusters).get(key);
    if (!cluster) forget(key);
    if (!cluster || !hasTopology(cluster) || isFilteredOut(cluster, dependencies.watchFilter)) return done();
    const pass = new Pass(dependencies, context, { follower, applier, templates }, cluster);
    const pauses = pausedBy(cluster, cluster);
    if (pauses.length > 0) {
      await pass.say({ status: 'False', reason: 'Paused', message: pauses.join(', ') });
      return done();
    }
    try {
      return isDeleting(cluster) ? await pass.letGo() : await pass.build();
    } catch (error) {
      if (context.signal.aborted) throw error;
      return await explained(pass, error);
    }
  };

  return defineController({
    name: 'topology',
    for: Clusters,
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    maxBackoffMs,
    setup(informers) {
      registerClassIndex(informers);
      for (const resource of [MachineDeployments, MachineSets, Machines, MachineHealthChecks]) {
        informers
          .informer<KubeObject & { spec: { clusterName: string } }>(resource)
          .addIndexer(byTopologyCluster, (object) => [
            indexValue({ namespace: object.metadata.namespace ?? '', name: object.spec.clusterName }),
          ]);
      }
    },
    watches: [
      watchObjects(Clusters, { predicates: [...watchFilter(dependencies.watchFilter), concernsTopology] }),
      watchMapped(ClusterClasses, (clusterClass) => clustersOf(cache, clusterClass).map(objectKey)),
      watchMapped(MachineDeployments, clusterKey, { predicates: [changedBesidesStatus] }),
      // an upgrade waits for the add-ons of its stack
      watchMapped(ClusterAddons, clusterOfAddon, { predicates: [servedHook] }),
      watchMapped(MachineHealthChecks, clusterKey, { predicates: [changedBesidesStatus] }),
      watchMapped(MachineSets, clusterKey, { predicates: [changedBesidesStatus], patient: true }),
      watchMapped(Machines, clusterKey, { predicates: [versionChanged], patient: true }),
    ],
    sources: [follower.source],
    released: forget,
    reconcile,
  });

  function clusterKey({ metadata, spec }: KubeObject & { spec: { clusterName: string } }): ObjectKey[] {
    if (metadata.labels?.[topologyOwnedLabel] === undefined) return [];
    return [{ namespace: metadata.namespace ?? '', name: spec.clusterName }];
  }
}

/** Reacts only to these status fields; the rest aggregates objects of the topology. */
const concernsTopology: Predicate<Cluster> = (event) =>
  event.type !== 'update' ||
  changedBesidesStatus(event) ||
  !deepEqual(event.object.status?.initialization, event.old.status?.initialization);

/** Reacts to machines that are created, deleted or change version; an in-place update changes it at its end. */
const versionChanged: Predicate<Machine> = (event) =>
  event.type !== 'update' ||
  event.object.spec.version !== event.old.spec.version ||
  isUpdatingInPlace(event.object) !== isUpdatingInPlace(event.old);

function clusterOfAddon({ metadata, spec }: ClusterAddon): ObjectKey[] {
  return [{ namespace: metadata.namespace ?? '', name: spec.clusterRef.name ?? '' }];
}

/** Reacts to add-ons whose hook is done. */
const servedHook: Predicate<ClusterAddon> = (event) =>
  event.type === 'update' && !event.object.spec.hook && (event.old.spec.hook ?? '') !== '';

/** Reports an error on the Cluster. Errors that only an object change can fix are not retried. */
async function explained(pass: Pass, error: unknown): Promise<Result> {
  if (error instanceof NotYet) {
    await pass.say({ status: 'False', reason: error.reason, message: error.message });
    return error.retryMs === undefined ? done() : after(error.retryMs, error.message);
  }
  const ofClass = error instanceof ClassPatchError || error instanceof RefusedObjectError;
  const message = ofClass ? `${errorMessage(error)}. ${pass.cure()}` : errorMessage(error);
  await pass.say({ status: 'False', reason: 'ReconcileFailed', message });
  // extensions generate patches and plans, and their next answer may differ
  if (ofClass || error instanceof UpgradePlanError) {
    return after(refusedRetryMs, 'patches, objects or a plan of the class cannot be used');
  }
  if (isInvalid(error)) return after(refusedRetryMs, 'the API refused an object of the topology');
  throw error;
}

/** One reconcile of one Cluster. */
class Pass {
  readonly #dependencies: TopologyDependencies;
  readonly #context: ReconcileContext;
  readonly #follower: Follower;
  readonly #applier: ObjectApplier;
  readonly #templates: TemplateSweep;
  #stored: TopologyCluster;
  #draft: TopologyCluster;

  constructor(
    dependencies: TopologyDependencies,
    context: ReconcileContext,
    tools: { follower: Follower; applier: ObjectApplier; templates: TemplateSweep },
    cluster: TopologyCluster,
  ) {
    this.#dependencies = dependencies;
    this.#context = context;
    this.#follower = tools.follower;
    this.#applier = tools.applier;
    this.#templates = tools.templates;
    this.#stored = cluster;
    this.#draft = draftOf(cluster);
  }

  /** Writes the draft with TopologyReconciled. */
  async say(verdict: Verdict): Promise<void> {
    setVerdict(this.#draft, 'TopologyReconciled', verdict, this.#context.clock.now());
    await this.#write();
  }

  /** Describes the remedy for unusable results of a class. */
  cure(): string {
    const { name, namespace } = classKeyOf(this.#stored);
    return (
      `Nothing was changed: correct templates or patches of ClusterClass ${namespace}/${name}, or the variables ` +
      'of the Cluster that they read'
    );
  }

  async #write(): Promise<void> {
    const stored = await writeObject(this.#context, Clusters, this.#stored, this.#draft, { observed: false });
    this.#stored = stored as TopologyCluster;
    this.#draft = draftOf(this.#stored);
  }

  /** The cluster controller performs the deletion once all BeforeClusterDelete handlers agree. */
  async letGo(): Promise<Result> {
    const { hooks } = this.#dependencies;
    const cluster = this.#stored;
    if (!isOkToDelete(cluster)) {
      const result = await hooks.call('BeforeClusterDelete', cluster, { cluster }, this.#context.signal);
      if (result.status !== 'go-on') {
        const message = `hook BeforeClusterDelete: ${result.message}`;
        if (result.status === 'failed') throw new Error(message);
        await this.say({ status: 'False', reason: 'Deleting', message: `Cluster is deleting. ${message}` });
        return after(result.retryAfterSeconds * 1000, 'BeforeClusterDelete asked to wait');
      }
      markOkToDelete(this.#draft);
    }
    await this.say({ status: 'False', reason: 'Deleting', message: 'Cluster is deleting' });
    return done();
  }

  async build(): Promise<Result> {
    const { hooks } = this.#dependencies;
    const context = this.#context;
    const clusterClass = await readClass(context, this.#stored);
    const cluster = this.#withVariables(clusterClass);
    const blueprint = await readBlueprint(context, this.#follower, cluster, clusterClass);
    const { controlPlaneRef, infrastructureRef } = cluster.spec;
    this.#requireKinds(blueprint);

    const waiting = controlPlaneRef || infrastructureRef ? undefined : await this.#beforeCreate();
    if (waiting) return waiting;

    const plane = controlPlaneRef && (await this.#read(controlPlaneRef));
    const { current, all } = deploymentsOf(context, cluster);
    const workers = workerStatesOf(context, cluster, current);
    const planeState = plane && planeStateOf(plane);
    const plan = await this.#plan(
      cluster,
      blueprint,
      planeState?.version,
      [...workers.values()].map(({ version }) => version),
    );
    const sequence = await decideVersions({
      draft: this.#draft,
      plan,
      plane: planeState,
      workers,
      hooks: this.#sequenceHooks(),
    });
    const untold = await this.#afterInitialized();
    const desired = await computeDesired(
      blueprint,
      { cluster, ...(plane && { controlPlane: plane.object }), deployments: current },
      { controlPlane: sequence.controlPlane, deployments: sequence.deployments },
      externalPatches(hooks, cluster, context.signal),
    );
    await this.#apply(blueprint, desired, sequence, { plane: plane?.object, current });
    const wanted = new Set((cluster.spec.topology.workers?.machineDeployments ?? []).map(({ name }) => name));
    const removed = await removeSurplusDeployments(context, all, ({ metadata }) =>
      wanted.has(metadata.labels?.[topologyDeploymentNameLabel] ?? ''),
    );
    for (const name of removed) {
      context.events.event(
        cluster,
        'Normal',
        'TopologyDelete',
        `Deleted MachineDeployment ${name}: the topology has it no more`,
      );
    }
    notePlan(this.#draft, sequence.progress);
    await this.say(
      topologyVerdict(this.#draft, {
        progress: sequence.progress,
        planeKind: desired.controlPlane.object.kind,
        planeVersion: sequence.controlPlane,
        notes: desired.notes,
      }),
    );
    const retries = [...sequence.progress.blocked, ...(untold ? [untold] : [])].map(
      ({ retryAfterSeconds }) => retryAfterSeconds,
    );
    return retries.length > 0 ? after(Math.min(...retries) * 1000, 'a hook asked to wait, or failed') : done();
  }

  /** Returns the Cluster with defaults and validated variables; it may be older than the last change of its class. */
  #withVariables(clusterClass: ClusterClass): TopologyCluster {
    const definitions = clusterClass.status?.variables ?? [];
    const cluster = draftOf(this.#stored);
    cluster.spec.topology = withReplicasVariable(clusterClass, cluster.spec.topology);
    defaultVariables(cluster.spec.topology, definitions);
    const errors = validateVariables(cluster.spec.topology, definitions);
    if (errors.length > 0) throw new NotYet('ReconcileFailed', errors.map(formatFieldError).join('; '));
    const pools = cluster.spec.topology.workers?.machinePools ?? [];
    if (pools.length > 0) {
      throw new NotYet(
        'ReconcileFailed',
        'spec.topology.workers.machinePools: OpenStack has no machine pools: write machineDeployments instead',
      );
    }
    return cluster;
  }

  /** Checks that references keep their kinds: another class may only bring objects of the same kinds. */
  #requireKinds({ infrastructureTemplate, controlPlaneTemplate, class: { metadata } }: Blueprint): void {
    const { infrastructureRef, controlPlaneRef } = this.#stored.spec;
    const check = (reference: ContractReference | undefined, template: UnstructuredObject, field: string): void => {
      if (!reference) return;
      const { group } = parseApiVersion(template.apiVersion);
      if (`${reference.kind}Template` === template.kind && reference.apiGroup === group) return;
      throw new NotYet(
        'ReconcileFailed',
        `${field} is a ${reference.kind} of ${reference.apiGroup}, but ClusterClass ${metadata.name} has a ${template.kind} of ${group}: ` +
          'the Cluster cannot change to another kind; choose a class of the same kinds',
      );
    };
    check(infrastructureRef, infrastructureTemplate, 'spec.infrastructureRef');
    check(controlPlaneRef, controlPlaneTemplate, 'spec.controlPlaneRef');
  }

  async #beforeCreate(): Promise<Result | undefined> {
    const cluster = this.#stored;
    const result = await this.#dependencies.hooks.call(
      'BeforeClusterCreate',
      cluster,
      { cluster },
      this.#context.signal,
    );
    if (result.status === 'go-on') return undefined;
    const message = `hook BeforeClusterCreate: ${result.message}`;
    if (result.status === 'failed') throw new Error(message);
    await this.say({ status: 'False', reason: 'ClusterCreating', message });
    return after(result.retryAfterSeconds * 1000, 'BeforeClusterCreate asked to wait');
  }

  /** Calls the non-blocking AfterControlPlaneInitialized hook once. Returns when to call again if an extension failed. */
  async #afterInitialized(): Promise<{ retryAfterSeconds: number } | undefined> {
    const { hooks } = this.#dependencies;
    const cluster = this.#stored;
    const hook = 'AfterControlPlaneInitialized';
    if (!cluster.spec.controlPlaneRef) {
      if (hooks.isListenedTo(hook, cluster)) markHooksPending(this.#draft, hook);
      return undefined;
    }
    if (!isHookPending(this.#draft, hook) || !isTrue(cluster, 'ControlPlaneInitialized')) return undefined;
    const result = await hooks.call(hook, cluster, { cluster }, this.#context.signal);
    if (result.status === 'go-on') {
      markHookDone(this.#draft, hook);
      return undefined;
    }
    this.#context.log.warn('Hook is not done yet', { hook, message: result.message });
    return { retryAfterSeconds: result.status === 'wait' ? result.retryAfterSeconds : untoldRetrySeconds };
  }

  #sequenceHooks(): SequenceHooks {
    const { hooks } = this.#dependencies;
    const cluster = this.#stored;
    return {
      isListenedTo: (hook) => hooks.isListenedTo(hook, cluster),
      call: async (hook, request) => {
        const result = await hooks.call(hook, cluster, request, this.#context.signal);
        if (result.status === 'failed') throw new Error(`hook ${hook}: ${result.message}`);
        return result.status === 'wait' ? result : undefined;
      },
    };
  }

  async #plan(
    cluster: TopologyCluster,
    { class: { spec } }: Blueprint,
    planeVersion: string | undefined,
    workerVersions: readonly string[],
  ): Promise<UpgradePlan> {
    if (planeVersion === undefined) return { controlPlane: [], workers: [] };
    const question = {
      desired: cluster.spec.topology.version,
      controlPlane: planeVersion,
      workers: lowestVersion(workerVersions),
    };
    const handler = spec.upgrade?.external?.generateUpgradePlanExtension;
    if (handler !== undefined) {
      if (question.desired === planeVersion) return completePlan(question, []);
      const answer = await this.#dependencies.hooks.ask(
        'GenerateUpgradePlan',
        handler,
        cluster,
        {
          cluster,
          fromControlPlaneKubernetesVersion: planeVersion,
          ...(question.workers !== undefined && { fromWorkersKubernetesVersion: question.workers }),
          toKubernetesVersion: question.desired,
        },
        { signal: this.#context.signal },
      );
      const versions = (steps: readonly { version: string }[] = []): string[] => steps.map(({ version }) => version);
      return completePlan(question, versions(answer.controlPlaneUpgrades), versions(answer.workersUpgrades));
    }
    const listed = spec.kubernetesVersions;
    return completePlan(question, listed ? listedSteps(listed, question) : oneMinorSteps(question));
  }

  async #read(reference: ContractReference) {
    const { client, signal } = this.#context;
    return await this.#follower.get(reference, this.#stored.metadata.namespace ?? '', { client, signal });
  }

  async #apply(
    blueprint: Blueprint,
    desired: DesiredState,
    sequence: Sequence,
    existing: { plane: UnstructuredObject | undefined; current: ReadonlyMap<string, MachineDeployment> },
  ): Promise<void> {
    const context = this.#context;
    const follower = this.#follower;
    const applier = this.#applier;
    const owner = this.#stored;
    const { cache } = context;
    const namespace = owner.metadata.namespace ?? '';

    const change = async (object: UnstructuredObject, live: UnstructuredObject | undefined): Promise<Change> => {
      const { group, version } = parseApiVersion(object.apiVersion);
      const { resource } = await follower.kindOf({ apiGroup: group, kind: object.kind }, context.signal);
      return { resource: { ...resource, version }, desired: object, live };
    };
    const typed = (resource: Resource<KubeObject>, object: KubeObject): Change => ({
      resource: resource as Resource<UnstructuredObject>,
      desired: asUnstructured(object),
      live: cache.lister(resource).get(objectKey(object)) as UnstructuredObject | undefined,
    });

    const { infrastructureCluster, controlPlane } = desired;
    const infrastructureRef = owner.spec.infrastructureRef ?? referenceOf(infrastructureCluster);
    const controlPlaneRef = owner.spec.controlPlaneRef ?? referenceOf(controlPlane.object);
    const changes: Change[] = [await change(infrastructureCluster, (await this.#read(infrastructureRef))?.object)];
    const inUse = new Map<string, TemplatesInUse>();
    const use = ({ resource, desired: template }: Change): void => {
      const id = kindId({ kind: resource.kind, apiGroup: resource.group });
      const entry = inUse.get(id) ?? { resource, names: new Set<string>() };
      entry.names.add(template.metadata.name ?? '');
      inUse.set(id, entry);
    };
    let plane = controlPlane.object;
    if (controlPlane.machineTemplate) {
      const template = await applier.settle(context, follower, owner, controlPlane.machineTemplate);
      use(template);
      changes.push(template);
      const path = [...infrastructureRefPath(blueprint.controlPlaneContract), 'name'];
      plane = withField(plane, path, template.desired.metadata.name ?? '');
    }
    const livePlane = existing.plane ?? (await this.#read(controlPlaneRef))?.object;
    changes.push(await change(plane, livePlane));
    const checks = new Set<string>();
    const check = (object: KubeObject | undefined): void => {
      if (!object) return;
      checks.add(object.metadata.name ?? '');
      changes.push(typed(MachineHealthChecks, object));
    };
    check(controlPlane.healthCheck);
    for (const worker of desired.deployments) {
      const bootstrap = await applier.settle(context, follower, owner, worker.bootstrapTemplate);
      const infrastructure = await applier.settle(context, follower, owner, worker.infrastructureTemplate);
      for (const template of [bootstrap, infrastructure]) {
        use(template);
        changes.push(template);
      }
      const { spec } = worker.object;
      const references = spec.template.spec;
      const object: MachineDeployment = {
        ...worker.object,
        spec: {
          ...spec,
          template: {
            ...spec.template,
            spec: {
              ...references,
              bootstrap: {
                configRef: {
                  ...must(references.bootstrap.configRef, 'the reference that was just made'),
                  name: bootstrap.desired.metadata.name ?? '',
                },
              },
              infrastructureRef: { ...references.infrastructureRef, name: infrastructure.desired.metadata.name ?? '' },
            },
          },
        },
      };
      changes.push(typed(MachineDeployments, object));
      check(worker.healthCheck);
    }

    const due = changes.filter((one) => {
      requireOwn(one, owner);
      return !(one.live && isDeleting(one.live)) && applier.differs(one);
    });
    // dry-run everything first, so that an API rejection changes nothing
    const isNews = due.some(({ live }) => live === undefined) || due.length > 1;
    if (isNews) for (const one of due) await applier.apply(context, one, { dryRun: true });
    // write references before the objects exist, so that an interrupted reconcile leaves no orphans
    this.#record(infrastructureRef, controlPlaneRef, sequence);
    await this.#write();
    if (due.some(({ live }) => live === undefined)) this.#templates.expect(owner);
    const kept = changes.flatMap(({ live }) => live ?? []);
    for (const one of due) {
      kept.push(await applier.apply(context, one));
      if (!one.live) {
        const { kind, metadata } = one.desired;
        context.events.event(owner, 'Normal', 'TopologyCreate', `Created ${kind} ${metadata.name}`);
      }
    }
    applier.keepOnly(objectKey(owner), kept);
    await removeSurplusHealthChecks(context, owner, checks);
    for (const resource of await this.#otherKinds(owner)) {
      const id = kindId({ kind: resource.kind, apiGroup: resource.group });
      if (!inUse.has(id)) inUse.set(id, { resource, names: new Set() });
    }
    await this.#templates.removeUnused(context, owner, inUse, async (resource) => {
      const selector = `${clusterNameLabel}=${owner.metadata.name},${topologyOwnedLabel}`;
      const listed = await context.client.list(resource, {
        namespace,
        labelSelector: selector,
        signal: context.signal,
      });
      return listed.items;
    });
  }

  /** Lists kinds of templates that old workers still use or used until now; a class may change to another kind. */
  async #otherKinds(owner: TopologyCluster): Promise<Resource<UnstructuredObject>[]> {
    const kinds = [...this.#templates.formerKinds(owner)];
    for (const reference of templateReferences(this.#context, owner)) {
      if (kinds.some(({ kind, group }) => kind === reference.kind && group === reference.apiGroup)) continue;
      try {
        kinds.push((await this.#follower.kindOf(reference, this.#context.signal)).resource);
      } catch (error) {
        // a kind whose definition is gone has no templates
        if (!(error instanceof ContractError)) throw error;
      }
    }
    return kinds;
  }

  #record(
    infrastructureRef: ContractReference,
    controlPlaneRef: ContractReference,
    { controlPlane, progress }: Sequence,
  ): void {
    const { metadata, spec } = this.#draft;
    metadata.labels = {
      ...metadata.labels,
      [clusterNameLabel]: metadata.name ?? '',
      [topologyOwnedLabel]: '',
    };
    const { [upgradeStepAnnotation]: _, ...annotations } = metadata.annotations ?? {};
    const { plan } = progress;
    const isUnderWay =
      plan.controlPlane.length + plan.workers.length > 0 || isHookPending(this.#draft, 'AfterClusterUpgrade');
    metadata.annotations = isUnderWay ? { ...annotations, [upgradeStepAnnotation]: controlPlane } : annotations;
    spec.infrastructureRef = infrastructureRef;
    spec.controlPlaneRef = controlPlaneRef;
  }
}

const referenceOf = ({ apiVersion, kind, metadata }: UnstructuredObject): ContractReference => ({
  apiGroup: parseApiVersion(apiVersion).group,
  kind,
  name: metadata.name ?? '',
});
