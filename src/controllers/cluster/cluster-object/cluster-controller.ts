import {
  type Cluster,
  Clusters,
  type Machine,
  MachineDeployments,
  MachineSets,
  Machines,
  Secrets,
} from '../../../api/index.ts';
import { type ObjectKey, objectKey } from '../../../client/index.ts';
import {
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
  clusterFinalizer,
  controlPlaneLabel,
  draftOf,
  isDeleting,
  isFilteredOut,
  objectIndexValue,
  pausedBy,
  setPausedCondition,
  watchFilter,
  withFinalizer,
  writeObject,
} from '../../shared/index.ts';
import { type ClusterControllerDependencies, defaultConcurrency } from '../common/dependencies.ts';
import { byCluster, byReference, clusterIndexValue, registerIndexes } from '../common/indexes.ts';
import { machineConditionsChanged } from '../common/machine-changes.ts';
import { combined, type Phase, runPhases } from '../common/phases.ts';
import { reconcileDelete } from './deletion.ts';
import { reconcileKubeconfig } from './kubeconfig.ts';
import { deleteLeftNodes } from './left-nodes.ts';
import { observeLegacyCluster } from './legacy-status.ts';
import { isEndpointValid, reconcileControlPlane, reconcileInfrastructure } from './references.ts';
import type { ClusterScope, Descendants, Referenced } from './scope.ts';
import { type ClusterObservation, observeCluster } from './status.ts';

const notObserved: Referenced = { state: 'failed', problem: 'The object has not been observed yet' };

const normal: readonly Phase<ClusterScope>[] = [
  reconcileInfrastructure,
  reconcileControlPlane,
  reconcileKubeconfig,
  deleteLeftNodes,
];
const deleting: readonly Phase<ClusterScope>[] = [reconcileInfrastructure, reconcileControlPlane, reconcileDelete];

/** Builds the controller of Clusters: infrastructure, control plane, kubeconfig and aggregated status. */
export function clusterController(dependencies: ClusterControllerDependencies): ControllerDefinition {
  const { cache } = dependencies;
  const follower = dependencies.externals.follow((object) =>
    cache.lister(Clusters).byIndex(byReference, objectIndexValue(object)).map(objectKey),
  );

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const cached = context.cache.lister(Clusters).get(key);
    if (!cached || isFilteredOut(cached, dependencies.watchFilter)) return done();
    const cluster = await withFinalizer(context, Clusters, cached, clusterFinalizer);
    const draft = draftOf(cluster);
    const pauses = pausedBy(cluster, cluster);
    setPausedCondition(draft, pauses, context.clock.now());
    if (pauses.length > 0) {
      await writeObject(context, Clusters, cluster, draft, { observed: false });
      return done();
    }
    const scope: ClusterScope = {
      context,
      dependencies,
      follower,
      original: cluster,
      cluster: draft,
      descendants: descendantsOf(context, cluster),
      // references count as not observed until a phase has read them
      infrastructure: notObserved,
      controlPlane: notObserved,
    };
    const { result, errors } = await runPhases(isDeleting(cluster) ? deleting : normal, scope, { carryOn: true });
    const seen: ClusterObservation = {
      infrastructure: scope.infrastructure,
      controlPlane: scope.controlPlane,
      descendants: scope.descendants,
      workload: dependencies.workloads.state(key),
      kubeconfigProblem: scope.kubeconfigProblem,
      deletion:
        errors.length > 0 && scope.deletion?.reason === 'Deleting'
          ? { reason: 'InternalError', message: (combined(errors) as Error).message }
          : scope.deletion,
      topologies: dependencies.topologies === true,
      nowMs: context.clock.now(),
    };
    const later = observeCluster(draft, seen);
    observeLegacyCluster(draft, seen);
    if (draft.status?.phase === 'Provisioned' && cluster.status?.phase !== 'Provisioned') {
      const { host, port } = draft.spec.controlPlaneEndpoint ?? {};
      const where = isEndpointValid(draft) ? ` at ${host}:${port}` : '';
      context.events.event(cluster, 'Normal', 'Provisioned', `Cluster ${key.name} is Provisioned${where}`);
    }
    await writeObject(context, Clusters, cluster, draft, { observed: errors.length === 0 });
    if (errors.length > 0) throw combined(errors);
    return soonest(result, later);
  };

  return defineController({
    name: 'cluster',
    for: Clusters,
    continuesAfterOwnWrite: 'everything',
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    setup(informers) {
      registerIndexes(informers);
      informers.informer(Secrets);
    },
    watches: [
      watchObjects(Clusters, { predicates: watchFilter(dependencies.watchFilter) }),
      watchMapped(Machines, clusterKey, { predicates: [machineConditionsChanged], patient: true }),
      watchMapped(MachineSets, clusterKey, { patient: true }),
      watchMapped(MachineDeployments, clusterKey, { patient: true }),
    ],
    sources: [follower.source, dependencies.workloads.connectionSource((cluster) => [cluster])],
    reconcile,
  });
}

function clusterKey({
  metadata,
  spec,
}: {
  metadata: { namespace?: string };
  spec: { clusterName: string };
}): ObjectKey[] {
  return [{ namespace: metadata.namespace ?? '', name: spec.clusterName }];
}

function descendantsOf({ cache }: ReconcileContext, cluster: Cluster): Descendants {
  const value = clusterIndexValue(cluster.metadata.namespace, cluster.metadata.name ?? '');
  const all = cache.lister(Machines).byIndex(byCluster, value);
  const isControlPlane = ({ metadata }: Machine): boolean => metadata.labels?.[controlPlaneLabel] !== undefined;
  return {
    deployments: cache.lister(MachineDeployments).byIndex(byCluster, value),
    sets: cache.lister(MachineSets).byIndex(byCluster, value),
    controlPlaneMachines: all.filter(isControlPlane),
    workerMachines: all.filter((machine) => !isControlPlane(machine)),
  };
}
