import {
  type Cluster,
  Clusters,
  type Machine,
  type MachineDeployment,
  MachineDeployments,
  MachineSets,
  Machines,
} from '../../../api/index.ts';
import { type ObjectKey, objectKey } from '../../../client/index.ts';
import {
  type ControllerDefinition,
  defineController,
  done,
  type Predicate,
  type ReconcileContext,
  type Result,
  watchMapped,
  watchObjects,
  watchOwned,
} from '../../../runtime/index.ts';
import {
  createApplyOnce,
  draftOf,
  isDeleting,
  isFilteredOut,
  machineDeploymentFinalizer,
  objectIndexValue,
  ownerOf,
  pausedBy,
  setPausedCondition,
  watchFilter,
  writeObject,
} from '../../shared/index.ts';
import { type ClusterControllerDependencies, defaultConcurrency } from '../common/dependencies.ts';
import { byCluster, byController, byReference, clusterIndexValue, registerIndexes } from '../common/indexes.ts';
import { machineConditionsChanged } from '../common/machine-changes.ts';
import { combined, type Phase, runPhases } from '../common/phases.ts';
import type { Refusals } from './in-place.ts';
import { adoptAndLabel, adoptSets, checkTemplates, cleanUp, deleteAll, rollOut } from './phases.ts';
import { type MachineDeploymentScope, machineDeploymentManager } from './scope.ts';
import { observeMachineDeployment } from './status.ts';

const normal: readonly Phase<MachineDeploymentScope>[] = [adoptAndLabel, checkTemplates, adoptSets, rollOut, cleanUp];
const deleting: readonly Phase<MachineDeploymentScope>[] = [adoptAndLabel, deleteAll];

/** Builds the controller of MachineDeployments, which rolls out new machines and replaces old ones within limits. */
export function machineDeploymentController(dependencies: ClusterControllerDependencies): ControllerDefinition {
  const { cache } = dependencies;
  const applies = createApplyOnce(machineDeploymentManager);
  const refusals: Refusals = new Map();
  const follower = dependencies.externals.follow((object) =>
    cache.lister(MachineDeployments).byIndex(byReference, objectIndexValue(object)).map(objectKey),
  );

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const deployment = context.cache.lister(MachineDeployments).get(key);
    if (!deployment || isFilteredOut(deployment, dependencies.watchFilter)) return done();
    const { namespace = '', finalizers = [] } = deployment.metadata;
    const cluster = context.cache.lister(Clusters).get({ namespace, name: deployment.spec.clusterName });
    const draft = draftOf(deployment);
    if (!isDeleting(deployment)) draft.metadata.finalizers = [...new Set([...finalizers, machineDeploymentFinalizer])];
    const pauses = pausedBy(deployment, cluster);
    setPausedCondition(draft, pauses, context.clock.now());
    if (pauses.length > 0 || (!cluster && !isDeleting(deployment))) {
      await writeObject(context, MachineDeployments, deployment, draft, { observed: false });
      return done();
    }
    const sets = context.cache.lister(MachineSets).byIndex(byController, deployment.metadata.uid ?? '');
    const scope: MachineDeploymentScope = {
      context,
      follower,
      applies,
      dependencies,
      refusals,
      cluster,
      original: deployment,
      deployment: draft,
      sets: [...sets],
      machines: sets.flatMap((set) => context.cache.lister(Machines).byIndex(byController, set.metadata.uid ?? '')),
      missingTemplates: [],
    };
    const phases = isDeleting(deployment) ? deleting : normal;
    const { result, errors } = await runPhases(phases, scope, { carryOn: false });
    observeMachineDeployment(draft, {
      sets: scope.sets,
      machines: scope.machines,
      missingTemplates: scope.missingTemplates,
      nowMs: context.clock.now(),
    });
    await writeObject(context, MachineDeployments, scope.original, draft, { observed: errors.length === 0 });
    if (errors.length > 0) throw combined(errors);
    return result;
  };

  /** Maps a machine to the deployment of its set. */
  const deploymentsOf = (machine: Machine): ObjectKey[] => {
    const { namespace = '' } = machine.metadata;
    const set = ownerOf(machine, MachineSets);
    const owner = set && cache.lister(MachineSets).get({ namespace, name: set.name });
    const deployment = owner && ownerOf(owner, MachineDeployments);
    return deployment ? [{ namespace, name: deployment.name }] : [];
  };

  return defineController({
    name: 'machinedeployment',
    for: MachineDeployments,
    continuesAfterOwnWrite: 'status',
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    // mostly aggregates status, and worker machines wait for a control plane anyway
    background: true,
    setup: registerIndexes,
    watches: [
      watchObjects(MachineDeployments, { predicates: watchFilter(dependencies.watchFilter) }),
      watchOwned(MachineSets, MachineDeployments, { patient: true }),
      watchMapped(Machines, deploymentsOf, { predicates: [machineConditionsChanged], patient: true }),
      watchMapped(
        Clusters,
        (cluster: Cluster) =>
          cache
            .lister(MachineDeployments)
            .byIndex(byCluster, clusterIndexValue(cluster.metadata.namespace, cluster.metadata.name ?? ''))
            .map((deployment: MachineDeployment) => objectKey(deployment)),
        { predicates: [pauseChanged] },
      ),
    ],
    sources: [follower.source],
    reconcile,
  });
}

const pauseChanged: Predicate<Cluster> = (event) =>
  event.type !== 'update' || event.object.spec.paused !== event.old.spec.paused;
