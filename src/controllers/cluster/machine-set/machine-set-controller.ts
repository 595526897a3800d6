import {
  type Cluster,
  Clusters,
  type Machine,
  MachineDeployments,
  type MachineSet,
  MachineSets,
  Machines,
} from '../../../api/index.ts';
import { type ObjectKey, objectKey } from '../../../client/index.ts';
import type { UnstructuredObject } from '../../../machinery/index.ts';
import {
  type ControllerDefinition,
  defineController,
  done,
  type Predicate,
  type ReconcileContext,
  type Result,
  watchMapped,
  watchObjects,
} from '../../../runtime/index.ts';
import {
  clusterChanged,
  controllerOf,
  createApplyOnce,
  draftOf,
  isDeleting,
  isFilteredOut,
  machineSetFinalizer,
  objectIndexValue,
  ownerOf,
  pausedBy,
  revisionAnnotation,
  setPausedCondition,
  watchFilter,
  withFinalizer,
  writeObject,
} from '../../shared/index.ts';
import { type ClusterControllerDependencies, defaultConcurrency } from '../common/dependencies.ts';
import { byCluster, byController, byReference, clusterIndexValue, registerIndexes } from '../common/indexes.ts';
import { combined, type Phase, runPhases } from '../common/phases.ts';
import { deleteLeftovers } from './create-machines.ts';
import { syncMachinesOfSet } from './machine-owner.ts';
import { adoptAndLabel, findMachines, selects } from './membership.ts';
import { beginUpdates } from './move-machines.ts';
import { deleteAll, remediate, syncReplicas } from './replicas.ts';
import { type MachineSetScope, machineSetManager, machineSetMetadataManager } from './scope.ts';
import { observeMachineSet } from './status.ts';
import { checkTemplates } from './templates.ts';

const normal: readonly Phase<MachineSetScope>[] = [
  adoptAndLabel,
  findMachines,
  checkTemplates,
  remediate,
  syncMachinesOfSet,
  beginUpdates,
  syncReplicas,
  deleteLeftovers,
];
const deleting: readonly Phase<MachineSetScope>[] = [adoptAndLabel, findMachines, syncMachinesOfSet, deleteAll];

/** Builds the controller of MachineSets, which keep a number of identical machines. */
export function machineSetController(dependencies: ClusterControllerDependencies): ControllerDefinition {
  const { cache } = dependencies;
  const applies = {
    machine: createApplyOnce(machineSetManager),
    metadata: createApplyOnce(machineSetMetadataManager),
  };
  const ofCluster = (cluster: Cluster): ObjectKey[] =>
    cache
      .lister(MachineSets)
      .byIndex(byCluster, clusterIndexValue(cluster.metadata.namespace, cluster.metadata.name ?? ''))
      .map(objectKey);
  /** Maps templates, control planes that preflight checks wait for, and clones to their sets. */
  const concerned = (object: UnstructuredObject): ObjectKey[] => {
    const value = objectIndexValue(object);
    const keys = cache.lister(MachineSets).byIndex(byReference, value).map(objectKey);
    for (const cluster of cache.lister(Clusters).byIndex(byReference, value)) keys.push(...ofCluster(cluster));
    const owner = ownerOf(object, MachineSets);
    if (owner) keys.push({ namespace: object.metadata.namespace ?? '', name: owner.name });
    return keys;
  };
  const follower = dependencies.externals.follow(concerned);

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const cached = context.cache.lister(MachineSets).get(key);
    if (!cached || isFilteredOut(cached, dependencies.watchFilter)) return done();
    const set = await withFinalizer(context, MachineSets, cached, machineSetFinalizer);
    const { namespace = '' } = set.metadata;
    const cluster = context.cache.lister(Clusters).get({ namespace, name: set.spec.clusterName });
    const draft = draftOf(set);
    const now = context.clock.now();
    const pauses = pausedBy(set, cluster);
    setPausedCondition(draft, pauses, now);
    if (pauses.length > 0 || (!cluster && !isDeleting(set))) {
      await writeObject(context, MachineSets, set, draft, { observed: false });
      return done();
    }
    const owner = ownerOf(set, MachineDeployments);
    const scope: MachineSetScope = {
      context,
      follower,
      applies,
      cluster,
      original: set,
      set: draft,
      deployment: owner && context.cache.lister(MachineDeployments).get({ namespace, name: owner.name }),
      machines: context.cache.lister(Machines).byIndex(byController, set.metadata.uid ?? ''),
      missingTemplates: [],
      blocked: [],
    };
    const { result, errors } = await runPhases(isDeleting(set) ? deleting : normal, scope, { carryOn: false });
    observeMachineSet(draft, {
      machines: scope.machines,
      missingTemplates: scope.missingTemplates,
      blocked: scope.blocked,
      creationProblem: scope.creationProblem,
      nowMs: context.clock.now(),
    });
    await writeObject(context, MachineSets, set, draft, { observed: errors.length === 0 });
    if (errors.length > 0) throw combined(errors);
    return result;
  };

  return defineController({
    name: 'machineset',
    for: MachineSets,
    continuesAfterOwnWrite: 'status',
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    // mostly aggregates status, and worker machines wait for a control plane anyway
    background: true,
    setup: registerIndexes,
    watches: [
      watchObjects(MachineSets, { predicates: watchFilter(dependencies.watchFilter) }),
      watchMapped(Machines, (machine) => setsOf(machine), { patient: true }),
      watchMapped(Clusters, ofCluster, { predicates: [clusterChanged('anythingDesired', 'deletion')] }),
      watchMapped(
        MachineDeployments,
        (deployment) =>
          cache
            .lister(MachineSets)
            .byIndex(byController, deployment.metadata.uid ?? '')
            .map(objectKey),
        { predicates: [revisionChanged] },
      ),
    ],
    sources: [follower.source],
    reconcile,
  });

  function setsOf(machine: Machine): ObjectKey[] {
    const { namespace = '' } = machine.metadata;
    const owner = controllerOf(machine);
    if (owner) return ownerOf(machine, MachineSets)?.uid === owner.uid ? [{ namespace, name: owner.name }] : [];
    return cache
      .lister(MachineSets)
      .byIndex(byCluster, clusterIndexValue(namespace, machine.spec.clusterName))
      .filter((set: MachineSet) => selects(set, machine))
      .map(objectKey);
  }
}

const revisionChanged: Predicate = (event) =>
  event.type !== 'update' ||
  event.object.metadata.generation !== event.old.metadata.generation ||
  event.object.metadata.annotations?.[revisionAnnotation] !== event.old.metadata.annotations?.[revisionAnnotation];
