import {
  type Cluster,
  Clusters,
  infrastructureGroup,
  Machines,
  type OpenStackCluster,
  OpenStackClusters,
  OpenStackServers,
} from '../../../api/index.ts';
import { formatKey, type ObjectKey } from '../../../client/index.ts';
import { isOpenStackError } from '../../../openstack/index.ts';
import {
  after,
  type ControllerDefinition,
  changedBesidesStatus,
  defineController,
  done,
  type ReconcileContext,
  type Result,
  watchMapped,
  watchObjects,
  watchOwned,
} from '../../../runtime/index.ts';
import {
  clusterChanged,
  conditionOf,
  draftOf,
  isDeleting,
  isFilteredOut,
  managedByAnnotation,
  ownerOf,
  pausedBy,
  setVerdict,
  watchFilter,
  withoutFinalizer,
  writeObject,
} from '../../shared/index.ts';
import { createAttention } from '../common/attention.ts';
import { authenticationCondition, notReady, openStackErrorReason, setAuthentication } from '../common/conditions.ts';
import { defaultConcurrency, type InfrastructureDependencies } from '../common/dependencies.ts';
import { abandonAnnotation, clusterBase, heldBack, openStackClusterFinalizer } from '../common/names.ts';
import { CloudFault, cloudFaultOf, type Wait } from '../common/outcomes.ts';
import { ownerId } from '../common/ownership.ts';
import { mayHaveMade, recordIntent } from '../common/record-intent.ts';
import { warnOfNews } from '../common/warn.ts';
import { indexByIdentity, rotationSource } from '../common/watches.ts';
import { createLookupCache } from '../server/lookup-cache.ts';
import { deleteInfrastructure, recordedResources } from './deletion.ts';
import { eventReason } from './events.ts';
import { runPhases } from './phases.ts';
import { type ClusterMemory, type ClusterScope, newMemory } from './scope.ts';
import { ownsUpstreamsResources } from './upstream.ts';

/** Builds the controller of OpenStackClusters: network, router, security groups, endpoint, bastion, deletion. */
export function openStackClusterController(dependencies: InfrastructureDependencies): ControllerDefinition {
  const attention = createAttention();
  const lookups = dependencies.lookups ?? createLookupCache({ clock: dependencies.clock });
  const memories = new Map<string, { uid: string; memory: ClusterMemory }>();

  const memoryOf = (key: ObjectKey, uid: string): ClusterMemory => {
    const name = formatKey(key);
    const known = memories.get(name);
    if (known?.uid === uid) return known.memory;
    const memory = newMemory();
    memories.set(name, { uid, memory });
    return memory;
  };
  const forget = (key: ObjectKey): void => {
    attention.forget(key);
    memories.delete(formatKey(key));
  };

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const cached = context.cache.lister(OpenStackClusters).get(key);
    if (!cached) {
      forget(key);
      return done();
    }
    if (isFilteredOut(cached, dependencies.watchFilter)) return done();
    if (cached.metadata.annotations?.[managedByAnnotation] !== undefined) return done();
    const owner = ownerOf(cached, Clusters);
    const cluster = owner && context.cache.lister(Clusters).get({ namespace: key.namespace ?? '', name: owner.name });
    const deleting = isDeleting(cached);
    if (deleting && !cached.metadata.finalizers?.includes(openStackClusterFinalizer)) {
      forget(key);
      return done();
    }
    // no owner yet: the Cluster controller sets the owner reference
    if (!cluster && !deleting) return done();
    if (pausedBy(cached, cluster).length > 0) return done();
    const original = mayHaveMade(cached, openStackClusterFinalizer)
      ? await recordIntent(context, OpenStackClusters, cached, openStackClusterFinalizer)
      : cached;
    const objects = { original, draft: draftOf(original), cluster, clusterName: owner?.name ?? key.name };
    const outcome = await pass(context, key, objects);
    const { draft } = objects;
    if (outcome.gone) {
      draft.metadata.finalizers = withoutFinalizer(draft.metadata.finalizers, openStackClusterFinalizer);
      forget(key);
    }
    await writeObject(context, OpenStackClusters, outcome.stored ?? original, draft, { observed: false });
    return resultOf(outcome);
  };

  interface Outcome {
    readonly gone?: boolean;
    /** the object as last stored in this reconcile */
    readonly stored?: OpenStackCluster;
    readonly wait?: Wait | undefined;
    readonly fault?: unknown;
  }

  const pass = async (
    context: ReconcileContext,
    key: ObjectKey,
    objects: Pick<ClusterScope, 'original' | 'draft' | 'cluster' | 'clusterName'>,
  ): Promise<Outcome> => {
    const { original, draft } = objects;
    const now = context.clock.now();
    const deleting = isDeleting(original);
    let scope: ClusterScope;
    try {
      const access = await dependencies.clouds.access(draft.spec.identityRef, key.namespace ?? '', {
        signal: context.signal,
        leaving: deleting,
      });
      setAuthentication(draft, undefined, now);
      scope = {
        context,
        dependencies,
        ...objects,
        access,
        base: clusterBase(key.namespace ?? '', objects.clusterName),
        owner: ownerId(original),
        isBegunByUpstream: ownsUpstreamsResources(context, original, { clusterName: objects.clusterName, access }),
        memory: memoryOf(key, original.metadata.uid ?? ''),
        lookups,
        attention,
        followed: [],
      };
    } catch (error) {
      if (!(error instanceof CloudFault)) throw error;
      if (deleting && mayLetGo(context, original)) return { gone: true };
      warnOfNews(context, original, authenticationCondition, error);
      setAuthentication(draft, error.message, now);
      const message = deleting ? heldBack(error.message) : error.message;
      setVerdict(draft, 'Ready', notReady(openStackErrorReason, message), now);
      return { fault: error };
    }
    return deleting ? reconcileDelete(scope, key) : reconcileNormal(scope, key);
  };

  const reconcileNormal = async (scope: ClusterScope, key: ObjectKey): Promise<Outcome> => {
    const before = scope.original;
    const outcome = await runPhases(scope);
    if (outcome.fault instanceof CloudFault) warnOfNews(scope.context, before, 'Ready', outcome.fault);
    // an incomplete reconcile keeps the previous subscriptions
    if (outcome.fault === undefined) attention.follow(key, scope.access.observer, scope.followed);
    return { ...outcome, stored: scope.original };
  };

  const reconcileDelete = async (scope: ClusterScope, key: ObjectKey): Promise<Outcome> => {
    const now = scope.context.clock.now();
    try {
      const wait = await deleteInfrastructure(scope);
      if (!wait) return { gone: true };
      setVerdict(scope.draft, 'Ready', notReady(wait.reason, wait.message), now);
      attention.follow(key, scope.access.observer, scope.followed);
      return { wait };
    } catch (caught) {
      const error = isOpenStackError(caught) ? cloudFaultOf(caught, 'the cloud could not be asked') : caught;
      if (!(error instanceof CloudFault)) throw error;
      setVerdict(scope.draft, 'Ready', notReady(openStackErrorReason, error.message), now);
      return { fault: error };
    }
  };

  const keysOfCluster = (cluster: Cluster): ObjectKey[] => {
    const reference = cluster.spec.infrastructureRef;
    if (reference?.kind !== OpenStackClusters.kind || reference.apiGroup !== infrastructureGroup) return [];
    return [{ namespace: cluster.metadata.namespace ?? '', name: reference.name }];
  };

  return defineController({
    name: 'openstackcluster',
    for: OpenStackClusters,
    continuesAfterOwnWrite: 'everything',
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    setup: (cache) => indexByIdentity(cache, OpenStackClusters, ({ spec }) => spec?.identityRef),
    watches: [
      watchObjects(OpenStackClusters, {
        predicates: [...watchFilter(dependencies.watchFilter), changedBesidesStatus],
      }),
      watchMapped(Clusters, keysOfCluster, {
        predicates: [clusterChanged('paused', 'deletion', 'endpoint', 'infrastructureRef')],
      }),
      watchOwned(OpenStackServers, OpenStackClusters, { anyOwner: true }),
      watchMapped(
        Machines,
        ({ metadata, spec }) => {
          const name = { namespace: metadata.namespace ?? '', name: spec.clusterName };
          const cluster = dependencies.cache.lister(Clusters).get(name);
          return cluster && isDeleting(cluster) ? keysOfCluster(cluster) : [];
        },
        { predicates: [(event) => event.type === 'delete'] },
      ),
    ],
    sources: [attention.source, rotationSource(dependencies, OpenStackClusters)],
    reconcile,
  });
}

function resultOf({ wait, fault }: { wait?: Wait | undefined; fault?: unknown }): Result {
  if (fault instanceof CloudFault && fault.retryMs !== undefined) return after(fault.retryMs, fault.message);
  if (fault !== undefined) throw fault;
  return wait ? after(wait.ms, wait.message) : done();
}

/**
 * Tells whether an object with an unreachable cloud may be deleted: nothing was created for it, or the user abandons
 * its resources.
 */
function mayLetGo(context: ReconcileContext, object: OpenStackCluster): boolean {
  const recorded = recordedResources(object);
  if (object.metadata.annotations?.[abandonAnnotation] === 'true') {
    const what = recorded.length === 0 ? 'nothing is recorded' : recorded.join(', ');
    context.events.event(object, 'Warning', eventReason('Abandoned'), `Cloud resources were given up: ${what}`);
    return true;
  }
  const condition = conditionOf(object, authenticationCondition);
  const neverGotIn =
    recorded.length === 0 && object.spec.controlPlaneEndpoint === undefined && condition?.status === 'False';
  return neverGotIn && conditionOf(object, 'NetworkReady') === undefined;
}
