import { Machines, PersistentVolumeClaims } from '../../../api/index.ts';
import { type InformerFactory, objectKey } from '../../../client/index.ts';
import { PatchRefusedError } from '../../../hosting/index.ts';
import { formatLabelSelectorObject, isConflict, type KubeObject, type Resource } from '../../../machinery/index.ts';
import { after, done, type ExternalSource, soonest, type Watch } from '../../../runtime/index.ts';
import { controllerOf, explain, isNotConnected, readSecret as readNamedSecret, secretsOf } from '../../shared/index.ts';
import { EtcdError } from '../etcd-client/types.ts';
import { PlaneObjectError } from './apply-objects.ts';
import { createBackgroundWork } from './background.ts';
import { PlaneCredentialError } from './certificates/errors.ts';
import { createPlaneClouds } from './cloud-credentials.ts';
import { planeEtcd } from './etcd/connect.ts';
import { driveEtcdCluster, type EtcdClusterReport, type EtcdClusterRequest } from './etcd-cluster.ts';
import { planeMetrics } from './metrics.ts';
import { type RemovalRequest, removePlane } from './removal.ts';
import { objectId } from './resources.ts';
import { bad, newPlaneMemory, type PlaneMemory, type PlaneScope, readSecret, type Stage, setStage } from './scope.ts';
import { secretDrafts } from './secret-drafts.ts';
import { registerPodIndexes } from './sets.ts';
import { reportArguments } from './stages/arguments.ts';
import { reconcileBackups } from './stages/backup.ts';
import { reconcileCloudCredentials } from './stages/cloud-credentials.ts';
import { issueCredentials, reportKubeconfig } from './stages/credentials.ts';
import { reconcileEtcd } from './stages/etcd.ts';
import { expose, publish } from './stages/exposure.ts';
import { judgeFunction, reconcileParts } from './stages/in-cluster.ts';
import { observePlane } from './stages/observe.ts';
import { findRestore, reconcileRestore } from './stages/restore.ts';
import { moveRotations } from './stages/rotation.ts';
import { acceptRequest, judgeVersion, keepPolicies, reconcileRoutes, reconcileWorkloads } from './stages/workloads.ts';
import { readState } from './state.ts';
import type { PlaneDependencies, PlaneReport, PlaneRequest, PlaneStage, RemovalReport } from './types.ts';
import { warnOfObstacles } from './warnings.ts';
import { type IsBeingMade, planeWatches } from './watches.ts';
import { runningVersionOf } from './workload-sets.ts';

/** Reconciles the planes of one kind; each hosted kind's controller has one. */
export interface PlaneDriver {
  /**
   * Reconciles a plane towards its spec. Errors are in the report, so that the caller can write the status before it
   * throws them.
   */
  drive(request: PlaneRequest): Promise<PlaneReport>;
  /** Deletes a plane; to be called until it is gone. */
  remove(request: RemovalRequest): Promise<RemovalReport>;
  /** Reconciles an etcd without a plane, for data stores that several planes share. */
  driveEtcd(request: EtcdClusterRequest): Promise<EtcdClusterReport>;
  /** registers informers and indexes */
  setup(informers: InformerFactory): void;
  /** watches that enqueue the owner of a plane when its objects change */
  watches(owner: Resource<KubeObject>): Watch[];
  /** enqueues the owner for events that no object reflects */
  readonly source: ExternalSource;
}

/** In order; a step that has to wait stops the ones after it. */
const steps: readonly (readonly [PlaneStage, Stage])[] = [
  ['exposure', observePlane],
  ['version', acceptRequest],
  ['version', judgeVersion],
  ['exposure', expose],
  ['endpoint', publish],
  ['certificates', issueCredentials],
  ['restore', findRestore],
  ['workloads', keepPolicies],
  ['etcd', reconcileEtcd],
  ['restore', reconcileRestore],
  ['kubeconfig', reportKubeconfig],
  ['exposure', stopWithoutEndpoint],
  ['routes', reconcileRoutes],
  ['arguments', reportArguments],
  ['workloads', reconcileWorkloads],
  ['backup', reconcileBackups],
  ['functional', judgeFunction],
  ['inCluster', reconcileParts],
  ['cloudCredentials', reconcileCloudCredentials],
  ['rotation', moveRotations],
];

/** Steps that only observe or prepare; a later step of the same stage reports the result. */
const preparing: ReadonlySet<Stage> = new Set([observePlane, findRestore, keepPolicies]);

/** Reported stages, in reconcile order. */
export const planeStages: readonly PlaneStage[] = [
  ...new Set(steps.flatMap(([stage, step]) => (preparing.has(step) ? [] : [stage]))),
];

/** Certificates and etcd do not depend on the API endpoint; all later steps do. */
function stopWithoutEndpoint({ endpoint }: PlaneScope): 'stop' | undefined {
  return endpoint ? undefined : 'stop';
}

export function createPlaneDriver(dependencies: PlaneDependencies): PlaneDriver {
  const memories = new Map<string, PlaneMemory>();
  const background = createBackgroundWork();
  const clouds = createPlaneClouds();
  const metrics = planeMetrics(dependencies.metrics?.registry);
  let openEtcd = dependencies.etcd;

  const memoryOf = ({ metadata }: KubeObject): PlaneMemory => {
    const uid = metadata.uid ?? '';
    const known = memories.get(uid);
    if (known) return known;
    const memory = newPlaneMemory();
    memories.set(uid, memory);
    return memory;
  };

  const isBeingMade: IsBeingMade = (resource, object) =>
    memories.get(controllerOf(object)?.uid ?? '')?.making.has(objectId(resource, object)) === true;

  return {
    source: background.source,
    async drive(request) {
      openEtcd ??= planeEtcd(dependencies.connectPod, request.context.clock);
      const memory = memoryOf(request.owner);
      memory.making.clear();
      const { context, owner, desired } = request;
      const secrets = await secretsOf(context, desired.identity.namespace, owner.metadata.uid);
      const scope = openScope(request, { dependencies, openEtcd, background, clouds, memory, secrets });
      const error = await runStages(scope);
      warnOfObstacles(scope);
      if (scope.credentials) metrics.show(scope.key, scope.credentials.reports);
      return reportOf(scope, error);
    },
    async remove(request) {
      const report = await removePlane(request);
      if (report.isGone) {
        memories.delete(request.owner.metadata.uid ?? '');
        background.forget(objectKey(request.owner));
        clouds.forget(objectKey(request.owner));
        metrics.forget(objectKey(request.owner));
      }
      return report;
    },
    async driveEtcd(request) {
      openEtcd ??= planeEtcd(dependencies.connectPod, request.context.clock);
      return await driveEtcdCluster(request, { open: openEtcd, memory: memoryOf(request.owner) });
    },
    setup(informers) {
      registerPodIndexes(informers);
      informers.informer(PersistentVolumeClaims);
      informers.informer(Machines);
    },
    watches: (owner) => [...planeWatches(dependencies.cache, owner, isBeingMade), ...clouds.watches],
  };
}

function openScope(
  request: PlaneRequest,
  parts: Pick<PlaneScope, 'dependencies' | 'openEtcd' | 'background' | 'clouds' | 'memory' | 'secrets'>,
): PlaneScope {
  const { context, desired, owner } = request;
  const { client, cache, clock, signal } = context;
  const { naming, identity } = desired;
  const { namespace } = identity;
  const scope: PlaneScope = {
    request,
    ...parts,
    key: objectKey(owner),
    desired,
    apply: {
      client,
      cache,
      fieldManager: naming.fieldManager,
      memory: parts.memory.applied,
      making: parts.memory.making,
      nowMs: clock.now(),
      signal,
      onWrite: () => {
        scope.hasWritten = true;
      },
    },
    drafts: secretDrafts({
      client,
      namespace,
      owner: identity.owner,
      fieldManager: naming.fieldManager,
      read: async (key) => readSecret(scope, key) ?? (await readNamedSecret(context, key)),
      making: parts.memory.making,
      signal,
    }),
    written: new Map(),
    state: { rotations: {} },
    facts: { checksums: new Map(), trust: {} },
    stages: new Map(),
    endpoint: undefined,
    credentials: undefined,
    etcd: undefined,
    controlPlane: undefined,
    holdsBack: false,
    isRestoring: false,
    hasWritten: false,
    isRolledOut: false,
    isFunctional: false,
    isInClusterSettled: false,
    rotations: [],
    backup: undefined,
    later: done(),
  };
  scope.state = readState(readSecret(scope, { namespace, name: naming.rotationState }));
  return scope;
}

/** Conflicts are not failures; the requeue reads the new version. */
const conflictRetryMs = 50;
const settleMs = 1_000;

async function runStages(scope: PlaneScope): Promise<unknown> {
  for (const [name, stage] of steps) {
    try {
      if ((await stage(scope)) === 'stop') return undefined;
    } catch (error) {
      if (scope.request.context.signal.aborted) throw error;
      if (isNotConnected(error)) {
        setStage(scope, name, bad('NotAnswering', explain(error)));
        return undefined;
      }
      if (isConflict(error)) {
        scope.later = soonest(scope.later, after(conflictRetryMs, 'written by somebody else meanwhile'));
        return undefined;
      }
      setStage(scope, name, bad(reasonOf(error), explain(error)));
      return error;
    }
  }
  return undefined;
}

/** Returns a specific reason for errors that the user can fix. */
function reasonOf(error: unknown): string {
  if (error instanceof PlaneObjectError) return 'ObjectRefused';
  if (error instanceof PlaneCredentialError) return 'CredentialNotUsable';
  if (error instanceof PatchRefusedError) return 'PatchRefused';
  return error instanceof EtcdError ? 'EtcdNotAnswering' : 'Failed';
}

/** Stages whose failure does not keep the plane from its desired state. */
const besides: ReadonlySet<PlaneStage> = new Set(['cloudCredentials', 'arguments', 'rotation', 'backup']);

function reportOf(scope: PlaneScope, error: unknown): PlaneReport {
  const { desired, controlPlane, etcd, facts, endpoint, credentials } = scope;
  const counts = controlPlane?.counts ?? {
    desired: desired.replicas,
    replicas: 0,
    ready: 0,
    available: 0,
    upToDate: 0,
  };
  const runningVersion = (controlPlane && runningVersionOf(desired, controlPlane)) ?? undefined;
  const address = facts.service?.ingress[0];
  const serviceAddress = address?.ip ?? address?.hostname ?? facts.service?.clusterIPs[0];
  const isSettled =
    error === undefined &&
    [...scope.stages].every(([stage, { status }]) => besides.has(stage) || status === 'True') &&
    (desired.replicas === 0 || (scope.isRolledOut && scope.isFunctional));
  return {
    stages: scope.stages,
    isSettled,
    // Pods held at their old revision do not count as up to date
    counts: { ...counts, desired: desired.replicas, ...(scope.holdsBack && { upToDate: 0 }) },
    selector: formatLabelSelectorObject({ matchLabels: { ...desired.naming.selector('control-plane') } }),
    isFunctional: scope.isFunctional,
    certificates: credentials?.reports ?? [],
    rotations: scope.rotations,
    // writes to kinds that are not watched cause no event, so requeue
    result: scope.hasWritten ? soonest(scope.later, after(settleMs, 'what was written takes effect')) : scope.later,
    ...(endpoint && { endpoint }),
    ...(serviceAddress !== undefined && { serviceAddress }),
    ...(runningVersion !== undefined && { runningVersion }),
    ...(etcd && { etcd: etcd.report }),
    ...(scope.backup && { backup: scope.backup }),
    ...(error !== undefined && { error }),
  };
}
