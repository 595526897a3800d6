import {
  Clusters,
  clusterNameLabel,
  type Machine,
  Machines,
  type OpenStackCluster,
  OpenStackClusters,
  type OpenStackMachine,
  OpenStackMachines,
  OpenStackServers,
} from '../../../api/index.ts';
import { type ObjectKey, objectKey } from '../../../client/index.ts';
import {
  type ControllerDefinition,
  changedBesidesStatus,
  defineController,
  done,
  type Predicate,
  type ReconcileContext,
  type Result,
  soonest,
  watchMapped,
  watchObjects,
} from '../../../runtime/index.ts';
import {
  childWatches,
  clusterChanged,
  conditionOf,
  draftOf,
  isDeleting,
  isFilteredOut,
  openStackMachineFinalizer,
  ownerOf,
  pausedBy,
  watchFilter,
  withFinalizer,
  writeObject,
} from '../../shared/index.ts';
import { createAttention } from '../common/attention.ts';
import {
  authenticationCondition,
  authenticationFailedReason,
  notReady,
  openStackErrorReason,
  setAuthentication,
} from '../common/conditions.ts';
import { defaultConcurrency, type InfrastructureDependencies } from '../common/dependencies.ts';
import { observedStateOf } from '../common/observed-state.ts';
import { CloudFault } from '../common/outcomes.ts';
import { pauseAfter } from '../common/pause.ts';
import { warnOfNews } from '../common/warn.ts';
import { byIdentity } from '../common/watches.ts';
import { instanceNotReadyReason } from '../server/conditions.ts';
import { createServerMemories } from '../server/memory.ts';
import { placeFloatingIp } from './api-floating-ip.ts';
import { reconcileDelete } from './deletion.ts';
import { identityOf } from './desired-server.ts';
import { byControlPlaneOf, byOpenStackClusterOf, isControlPlane, registerIndexes } from './indexes.ts';
import { type ConsoleReads, consoleKey, explainLateNode } from './late-node.ts';
import { ensureMembers, usesLoadBalancer } from './load-balancer-members.ts';
import { createClusterMemories } from './memory.ts';
import {
  apiServerIngressCondition,
  floatingIpErrorReason,
  instanceReadyCondition,
  loadBalancerMemberErrorReason,
  readyCondition,
  waitingForBootstrapReason,
  waitingForClusterReason,
} from './names.ts';
import { judge, type MachineScope, type WholeScope } from './scope.ts';
import { wantsServerGroup } from './server-group.ts';
import { ensureServerObject } from './server-object.ts';
import { authenticationOf, reportOf, takeFromServer } from './status.ts';

/**
 * Builds the controller of OpenStackMachines, which create servers, and connect control plane machines to the API
 * ingress.
 */
export function openStackMachineController(dependencies: InfrastructureDependencies): ControllerDefinition {
  const attention = createAttention();
  const memories = createClusterMemories();
  const serverMemories = dependencies.serverMemories ?? createServerMemories();
  const consoleReads: ConsoleReads = new Map();

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const original = context.cache.lister(OpenStackMachines).get(key);
    if (!original) {
      attention.forget(key);
      consoleReads.delete(consoleKey(key));
      return done();
    }
    if (isFilteredOut(original, dependencies.watchFilter)) return done();
    const { owner, cluster, openStackCluster } = surroundings(context, original);
    if (pausedBy(original, cluster).length > 0) return done();
    if (!isDeleting(original) && (!owner || !cluster)) return done();
    if (isDeleting(original) && original.metadata.finalizers?.includes(openStackMachineFinalizer) !== true) {
      return done();
    }
    const draft = draftOf(original);
    const scope: MachineScope = {
      context,
      key,
      original,
      machine: draft,
      owner,
      cluster,
      openStackCluster,
      isControlPlane: owner !== undefined && isControlPlane(owner),
      memories,
      serverMemories,
      server: context.cache.lister(OpenStackServers).get(key),
      follows: [],
      cloud: () => access(context, original, openStackCluster),
    };
    let result: Result;
    let failure: unknown;
    try {
      result = (await (isDeleting(original) ? reconcileDelete(scope) : reconcileNormal(scope))) ?? done();
    } catch (error) {
      const pause = explainStop(scope, error);
      if (!pause) failure = error;
      result = pause ?? done();
    }
    await followCloud(scope);
    await writeObject(context, OpenStackMachines, scope.original, draft, { observed: false });
    if (isDeleting(original) && draft.metadata.finalizers?.includes(openStackMachineFinalizer) !== true) {
      attention.forget(key);
      if (openStackCluster && isDeleting(openStackCluster)) memories.forget(openStackCluster.metadata.uid ?? '');
    }
    if (failure !== undefined) throw failure;
    return result;
  };

  const access = (context: ReconcileContext, machine: OpenStackMachine, cluster: OpenStackCluster | undefined) => {
    const identity = machine.spec.identityRef ?? (cluster && identityOf(machine.spec, cluster));
    if (!identity) throw new CloudFault(openStackErrorReason, 'Neither the machine nor its cluster names credentials');
    return dependencies.clouds.access(identity, machine.metadata.namespace ?? '', {
      signal: context.signal,
      leaving: isDeleting(machine),
    });
  };

  const followCloud = async (scope: MachineScope): Promise<void> => {
    if (scope.follows.length === 0) return attention.forget(scope.key);
    const { observer } = await scope.cloud();
    attention.follow(scope.key, observedStateOf(observer), scope.follows);
  };

  const ofCluster = (index: string, { namespace, name }: ObjectKey): ObjectKey[] =>
    dependencies.cache
      .lister(Machines)
      .byIndex(index, `${namespace}/${name}`)
      .map(({ metadata, spec }) => ({ namespace: metadata.namespace ?? '', name: spec.infrastructureRef.name }));

  /**
   * Maps a Machine to its OpenStackMachine; one of a control plane maps to all of them, because they share the API
   * address.
   */
  const ofMachine = (machine: Machine): ObjectKey[] => {
    if (machine.spec.infrastructureRef.kind !== OpenStackMachines.kind) return [];
    const { namespace = '' } = machine.metadata;
    return isControlPlane(machine)
      ? ofCluster(byControlPlaneOf, { namespace, name: machine.spec.clusterName })
      : [{ namespace, name: machine.spec.infrastructureRef.name }];
  };

  /** Machines with credentials of their own, and control plane machines, which use those of their cluster. */
  const usersOf = (identity: string): ObjectKey[] => [
    ...dependencies.cache.lister(OpenStackMachines).byIndex(byIdentity, identity).map(objectKey),
    ...dependencies.cache
      .lister(OpenStackClusters)
      .byIndex(byIdentity, identity)
      .flatMap((cluster) => ofCluster(byControlPlaneOf, clusterKeyOf(cluster))),
  ];

  return defineController({
    name: 'openstackmachine',
    for: OpenStackMachines,
    continuesAfterOwnWrite: 'everything',
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    setup(cache) {
      registerIndexes(cache);
      cache.informer(OpenStackClusters);
    },
    watches: [
      watchObjects(OpenStackMachines, {
        predicates: [...watchFilter(dependencies.watchFilter), changedBesidesStatus],
      }),
      watchMapped(Machines, ofMachine, { predicates: [machineChanged] }),
      watchMapped(Clusters, (cluster) => ofCluster(byOpenStackClusterOf, objectKey(cluster)), {
        predicates: [clusterChanged('paused', 'deletion')],
      }),
      watchMapped(OpenStackClusters, (cluster) => ofCluster(byOpenStackClusterOf, clusterKeyOf(cluster)), {
        predicates: [openStackClusterChanged],
      }),
      ...childWatches(OpenStackServers, OpenStackMachines, ({ status }) =>
        JSON.stringify([status?.ready, status?.instanceID, status?.instanceState, status?.addresses]),
      ),
    ],
    sources: [attention.source, dependencies.clouds.rotationSource(usersOf)],
    reconcile,
  });

  async function reconcileNormal(scope: MachineScope): Promise<Result | undefined> {
    const { context, owner, openStackCluster } = scope;
    if (openStackCluster?.status?.initialization?.provisioned !== true) {
      const name = openStackCluster?.metadata.name ?? scope.cluster?.spec.infrastructureRef?.name ?? '';
      return waiting(scope, waitingForClusterReason, `Waiting for OpenStackCluster ${name} to be provisioned`);
    }
    if (owner?.spec.bootstrap.dataSecretName === undefined) {
      return waiting(scope, waitingForBootstrapReason, 'Waiting for the bootstrap provider to write the user data');
    }
    // check access first: a machine that can never have a server group must not get the finalizer for one
    if (wantsServerGroup(scope.machine)) await scope.cloud();
    scope.original = await withFinalizer(context, OpenStackMachines, scope.original, openStackMachineFinalizer);
    if (scope.original.metadata.finalizers) scope.machine.metadata.finalizers = [...scope.original.metadata.finalizers];
    const whole = scope as WholeScope;
    scope.server = await ensureServerObject(whole);
    const { verdict, isActive } = reportOf(scope.server);
    if (verdict.status === 'False' && verdict.reason !== instanceNotReadyReason) {
      warnOfNews(context, scope.original, instanceReadyCondition, { ...verdict, message: verdict.message ?? '' });
    }
    judge(scope, instanceReadyCondition, verdict);
    judge(scope, readyCondition, verdict);
    const authentication = authenticationOf(scope.server);
    if (authentication) judge(scope, authenticationCondition, authentication);
    takeFromServer(scope.machine, scope.server, isActive);
    const results = [isActive ? await explainLateNode(whole, consoleReads) : undefined];
    if (scope.isControlPlane) {
      if (!usesLoadBalancer(openStackCluster)) results.push(await placeFloatingIp(whole));
      else if (isActive) results.push(await ensureMembers(whole));
    }
    return soonest(...results.filter((result) => result !== undefined));
  }
}

function surroundings({ cache }: ReconcileContext, machine: OpenStackMachine) {
  const { namespace = '' } = machine.metadata;
  const reference = ownerOf(machine, Machines);
  const owner = reference && cache.lister(Machines).get({ namespace, name: reference.name });
  const clusterName = owner?.spec.clusterName ?? machine.metadata.labels?.[clusterNameLabel];
  const cluster = clusterName === undefined ? undefined : cache.lister(Clusters).get({ namespace, name: clusterName });
  const infrastructure = cluster?.spec.infrastructureRef?.name;
  const openStackCluster =
    infrastructure === undefined ? undefined : cache.lister(OpenStackClusters).get({ namespace, name: infrastructure });
  return { owner, cluster, openStackCluster };
}

function waiting(scope: MachineScope, reason: string, message: string): undefined {
  judge(scope, instanceReadyCondition, notReady(reason, message));
  judge(scope, readyCondition, notReady(reason, message));
}

const ingressReasons: readonly string[] = [loadBalancerMemberErrorReason, floatingIpErrorReason];

/** Reports the error on the object and returns the retry delay; undefined leaves it to the queue. */
function explainStop(scope: MachineScope, error: unknown): Result | undefined {
  if (!(error instanceof CloudFault)) throw error;
  const verdict = notReady(error.reason, error.message);
  const type = ingressReasons.includes(error.reason)
    ? apiServerIngressCondition
    : error.reason === authenticationFailedReason
      ? authenticationCondition
      : instanceReadyCondition;
  warnOfNews(scope.context, scope.original, type, error);
  if (type === apiServerIngressCondition) judge(scope, apiServerIngressCondition, verdict);
  else if (error.reason === authenticationFailedReason) {
    setAuthentication(scope.machine, error.message, scope.context.clock.now());
  } else {
    judge(scope, instanceReadyCondition, verdict);
    judge(scope, readyCondition, verdict);
  }
  return pauseAfter(error, scope.context.random);
}

function clusterKeyOf(cluster: OpenStackCluster): ObjectKey {
  const { namespace = '', name = '' } = cluster.metadata;
  return { namespace, name: ownerOf(cluster, Clusters)?.name ?? name };
}

/** OpenStackCluster changes that affect machines. */
const openStackClusterChanged: Predicate<OpenStackCluster> = (event) =>
  event.type !== 'update' ||
  event.object.metadata.generation !== event.old.metadata.generation ||
  event.object.status?.initialization?.provisioned !== event.old.status?.initialization?.provisioned ||
  event.object.status?.network?.id !== event.old.status?.network?.id ||
  event.object.status?.apiServerManagedLoadBalancer?.id !== event.old.status?.apiServerManagedLoadBalancer?.id;

/** Machine changes that affect servers; most do not. */
const machineChanged: Predicate<Machine> = (event) => {
  if (event.type !== 'update') return true;
  const { object: now, old } = event;
  const health = (machine: Machine): string =>
    ['APIServerPodHealthy', 'NodeReady'].map((type) => conditionOf(machine, type)?.status ?? '').join();
  return (
    now.metadata.generation !== old.metadata.generation ||
    now.metadata.deletionTimestamp !== old.metadata.deletionTimestamp ||
    now.status?.nodeRef?.name !== old.status?.nodeRef?.name ||
    (isControlPlane(now) && health(now) !== health(old))
  );
};
