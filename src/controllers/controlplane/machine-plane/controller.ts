import { type Cluster, Clusters, type Machine, Machines, type Secret, Secrets } from '../../../api/index.ts';
import { type ObjectKey, objectKey } from '../../../client/index.ts';
import { isNotFound, parseApiVersion, type UnstructuredObject } from '../../../machinery/index.ts';
import {
  after,
  type ControllerDefinition,
  defineController,
  done,
  type ReconcileContext,
  type Result,
  soonest,
  watchMapped,
  watchObjects,
} from '../../../runtime/index.ts';
import {
  clusterChanged,
  controllerOf,
  controlPlaneLabel,
  createApplyOnce,
  draftOf,
  ensureTemplate,
  isDeleting,
  isFilteredOut,
  isNotConnected,
  objectIndexValue,
  ownerOf,
  pausedBy,
  referenceIndexValue,
  setPausedCondition,
  watchFilter,
  withFinalizer,
  writeObject,
} from '../../shared/index.ts';
import { ensureCertificates } from './certificates.ts';
import { deleteControlPlane } from './deletion.ts';
import { isControlPlaneNode } from './health/control-plane-nodes.ts';
import { completeInPlaceUpdates, waitForInPlaceUpdates } from './in-place.ts';
import { inspectWorkload, reportUpToDate, reportWaiting } from './inspect.ts';
import { ensureKubeconfig } from './kubeconfig.ts';
import { completeMachinesOfPlane, deleteLeftovers } from './machines/create-machine.ts';
import { findMachines, registerMachineIndex } from './machines/find-machines.ts';
import { syncMachinesOfControlPlane } from './machines/machine-owner.ts';
import { readParts } from './machines/read-parts.ts';
import { releaseMachines } from './pre-terminate.ts';
import type { MachinePlane, PlaneProvider } from './provider.ts';
import { rebuildFromSnapshot } from './rebuild.ts';
import { remediate } from './remediate.ts';
import { rollOut } from './roll-out.ts';
import { scaleToReplicas } from './scale.ts';
import {
  type ControlPlaneDependencies,
  type ControlPlaneMemory,
  type ControlPlaneScope,
  clusterKeyOf,
  nameOf,
  type Step,
} from './scope.ts';
import { observeControlPlane } from './status.ts';
import { removeStrangers } from './unknown-members.ts';
import { noteCertificateExpiry } from './workload/certificate-expiry.ts';

/** Reconciles mostly wait for workload clusters, so many run at once. */
const defaultConcurrency = 25;
const byTemplate = 'infrastructureTemplate';
/** Fallback in case the event of a restored connection is lost. */
const connectionMs = 20_000;

/** In order; a step that has to wait stops the ones after it. */
const normal: readonly Step[] = [
  ownTemplate,
  findMachines,
  waitForInfrastructure,
  ensureCertificates,
  waitForEndpoint,
  ensureKubeconfig,
  completeMachinesOfPlane,
  readParts,
  syncMachinesOfControlPlane,
  rebuildFromSnapshot,
  inspectWorkload,
  removeStrangers,
  releaseMachines,
  completeInPlaceUpdates,
  remediate,
  waitForInPlaceUpdates,
  rollOut,
  scaleToReplicas,
  deleteLeftovers,
];
const deleting: readonly Step[] = [findMachines, readParts, deleteControlPlane];

/** Builds the controller of a control plane whose machines are replaced over time. */
export function machinePlaneController(
  dependencies: ControlPlaneDependencies,
  provider: PlaneProvider,
): ControllerDefinition {
  const { cache, externals, workloads } = dependencies;
  const { resource } = provider;
  const finish: Step = async (scope) => {
    await provider.finish(scope);
    return undefined;
  };
  const steps = [...normal, finish, noteCertificateExpiry];
  const isOurs = ({ apiGroup, kind }: { apiGroup: string; kind: string }): boolean =>
    apiGroup === resource.group && kind === resource.kind;
  const memories = new Map<string, ControlPlaneMemory>();
  const applies = {
    machine: createApplyOnce(provider.manager),
    metadata: createApplyOnce(provider.metadataManager),
  };
  const ofCluster = (key: ObjectKey): ObjectKey[] => {
    const reference = cache.lister(Clusters).get(key)?.spec.controlPlaneRef;
    return reference && isOurs(reference) ? [withNamespace(key.namespace, reference.name)] : [];
  };
  /** Maps templates to control planes that use them, and parts without a machine to their creator. */
  const concerned = (object: UnstructuredObject): ObjectKey[] => {
    const keys = cache.lister(resource).byIndex(byTemplate, objectIndexValue(object)).map(objectKey);
    const owner = controllerOf(object, resource);
    if (owner) keys.push(withNamespace(object.metadata.namespace, owner.name));
    return keys;
  };
  const follower = externals.follow(concerned);

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const cached = context.cache.lister(resource).get(key);
    if (!cached || isFilteredOut(cached, dependencies.watchFilter)) return done();
    const controlPlane = await withFinalizer(context, resource, cached, provider.finalizer);
    const cluster = ownerCluster(context, controlPlane);
    const draft = draftOf(controlPlane);
    if (!cluster) return await withoutCluster(context, provider, controlPlane, draft);
    const pauses = pausedBy(controlPlane, cluster);
    setPausedCondition(draft, pauses, context.clock.now());
    if (pauses.length > 0) {
      await writeObject(context, resource, controlPlane, draft, { observed: false });
      return done();
    }
    const uid = controlPlane.metadata.uid ?? '';
    const memory = memories.get(uid) ?? {};
    memories.set(uid, memory);
    const scope: ControlPlaneScope = {
      context,
      dependencies,
      provider,
      follower,
      applies,
      memory,
      cluster,
      original: controlPlane,
      controlPlane: draft,
      machines: [],
      drafts: new Map(),
      configs: new Map(),
      infrastructure: new Map(),
      outdated: new Map(),
      missingTemplate: false,
      certificatesAvailable: false,
      inspection: undefined,
      health: new Map(),
      waiting: [],
      creationProblem: undefined,
      deletion: undefined,
      later: done(),
    };
    const { result, error } = await run(isDeleting(controlPlane) ? deleting : steps, scope);
    if (draft.metadata.finalizers?.includes(provider.finalizer) !== true) memories.delete(uid);
    await write(scope, error === undefined);
    if (error !== undefined) throw error.cause;
    return soonest(result, scope.later);
  };

  return defineController({
    name: provider.name,
    for: resource,
    continuesAfterOwnWrite: 'everything',
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    groupOf: (key) => key.namespace ?? '',
    setup(informers) {
      registerMachineIndex(informers);
      informers
        .informer(resource)
        .addIndexer(byTemplate, ({ metadata, spec }: MachinePlane) => [
          referenceIndexValue(spec.machineTemplate.spec.infrastructureRef, metadata.namespace ?? ''),
        ]);
    },
    watches: [
      watchObjects(resource, { predicates: watchFilter(dependencies.watchFilter) }),
      watchMapped(Clusters, (cluster) => ofClusterObject(cluster), {
        predicates: [clusterChanged('anythingDesired', 'deletion', 'infrastructureProvisioned', 'failureDomains')],
      }),
      watchMapped(Machines, (machine) => ofMachine(machine), { patient: true }),
      // for Secrets deleted by other clients
      watchMapped(Secrets, (secret) => ofSecret(secret), { predicates: [({ type }) => type === 'delete'] }),
    ],
    sources: [
      follower.source,
      workloads.connectionSource(ofCluster),
      // worker Nodes do not affect the control plane
      workloads.nodeSource((cluster, node) => (isControlPlaneNode(node) ? ofCluster(cluster) : []), { patient: true }),
    ],
    reconcile,
  });

  function ofClusterObject({ metadata, spec }: Cluster): ObjectKey[] {
    const reference = spec.controlPlaneRef;
    return reference && isOurs(reference) ? [withNamespace(metadata.namespace, reference.name)] : [];
  }

  function ofSecret(secret: Secret): ObjectKey[] {
    const owner = controllerOf(secret, resource);
    return owner ? [withNamespace(secret.metadata.namespace, owner.name)] : [];
  }

  function ofMachine(machine: Machine): ObjectKey[] {
    const { namespace } = machine.metadata;
    const owner = controllerOf(machine, resource);
    if (owner) return [withNamespace(namespace, owner.name)];
    // a machine to adopt, or a worker that a deletion waits for
    const ofControlPlane = machine.metadata.labels?.[controlPlaneLabel] !== undefined;
    if (!ofControlPlane && !isDeleting(machine)) return [];
    return ofCluster(withNamespace(namespace, machine.spec.clusterName));
  }
}

const withNamespace = (namespace: string | undefined, name: string): ObjectKey =>
  namespace === undefined ? { name } : { namespace, name };

function ownerCluster({ cache }: ReconcileContext, controlPlane: MachinePlane): Cluster | undefined {
  const owner = ownerOf(controlPlane, Clusters);
  if (!owner || parseApiVersion(owner.apiVersion).group !== Clusters.group) return undefined;
  return cache.lister(Clusters).get(withNamespace(controlPlane.metadata.namespace, owner.name));
}

/** Handles a control plane without a Cluster: no owner yet, or the Cluster is gone and deletion need not wait. */
async function withoutCluster(
  context: ReconcileContext,
  provider: PlaneProvider,
  controlPlane: MachinePlane,
  draft: MachinePlane,
): Promise<Result> {
  if (!isDeleting(controlPlane)) return done();
  const own = context.cache
    .lister(Machines)
    .list({ filter: (machine) => controllerOf(machine)?.uid === controlPlane.metadata.uid });
  if (own.length > 0) return done();
  draft.metadata.finalizers = (draft.metadata.finalizers ?? []).filter((name) => name !== provider.finalizer);
  await writeObject(context, provider.resource, controlPlane, draft, { observed: false });
  return done();
}

async function run(
  steps: readonly Step[],
  scope: ControlPlaneScope,
): Promise<{ result: Result; error: { cause: unknown } | undefined }> {
  for (const step of steps) {
    try {
      const result = await step(scope);
      if (result) return { result, error: undefined };
    } catch (cause) {
      // not a fault: the connection triggers a reconcile, and conditions report what is missing
      if (isNotConnected(cause)) return { result: after(connectionMs, 'no connection yet'), error: undefined };
      return { result: done(), error: { cause } };
    }
  }
  return { result: done(), error: undefined };
}

/** Makes the Cluster an owner of the template, so that both are deleted together. */
async function ownTemplate(scope: ControlPlaneScope): Promise<undefined> {
  const reference = scope.controlPlane.spec.machineTemplate.spec.infrastructureRef;
  scope.missingTemplate = !(await ensureTemplate(scope.context, scope.follower, scope.cluster, reference));
}

function waitForInfrastructure(scope: ControlPlaneScope): Result | undefined {
  if (scope.cluster.status?.initialization?.infrastructureProvisioned === true) return undefined;
  reportWaiting(scope, 'Waiting for Cluster status.initialization.infrastructureProvisioned to be true');
  reportUpToDate(scope);
  return done();
}

function waitForEndpoint(scope: ControlPlaneScope): Result | undefined {
  const { host, port } = scope.cluster.spec.controlPlaneEndpoint ?? {};
  if (host && port) return undefined;
  reportWaiting(scope, 'Waiting for Cluster spec.controlPlaneEndpoint to be set');
  return done();
}

/** Writes machines first, because the control plane's conditions aggregate theirs. */
async function write(scope: ControlPlaneScope, observed: boolean): Promise<void> {
  const { context, provider, drafts, original, controlPlane } = scope;
  const stored = new Map<string, Machine>();
  for (const machine of scope.machines) {
    const draft = drafts.get(nameOf(machine));
    if (!draft) continue;
    try {
      stored.set(nameOf(machine), await writeObject(context, Machines, machine, draft, { observed: false }));
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  const shown = scope.machines.map((machine) => stored.get(nameOf(machine)) ?? machine);
  observeControlPlane(controlPlane, {
    provider,
    cluster: scope.cluster,
    machines: shown,
    nodes: nodesOf(scope),
    etcd: scope.inspection?.etcd,
    health: scope.health,
    missingTemplate: scope.missingTemplate,
    waiting: scope.waiting,
    creationProblem: scope.creationProblem,
    deletion: scope.deletion,
    nowMs: context.clock.now(),
  });
  await writeObject(context, provider.resource, original, controlPlane, { observed });
}

function nodesOf(scope: ControlPlaneScope) {
  try {
    return scope.dependencies.workloads.nodes(clusterKeyOf(scope)).list();
  } catch {
    // not connected: the last known state stays
    return undefined;
  }
}
