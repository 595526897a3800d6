import {
  Clusters,
  clusterNameLabel,
  type Machine,
  MachineDeployments,
  MachineHealthChecks,
  MachineSets,
  Machines,
  type Node,
  poolNameLabel,
  setNameLabel,
} from '../../../api/index.ts';
import { type ObjectKey, objectKey } from '../../../client/index.ts';
import { type KubeObject, parseRfc3339 } from '../../../machinery/index.ts';
import {
  type ControllerDefinition,
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
  certificatesExpiryAnnotation,
  clusterChanged,
  comparableProviderId,
  controllerOf,
  controlPlaneLabel,
  controlPlaneNameLabel,
  draftOf,
  isDeleting,
  isFilteredOut,
  machineFinalizer,
  objectIndexValue,
  ownerOf,
  ownerReference,
  pausedBy,
  revisionAnnotation,
  setPausedCondition,
  setVerdict,
  watchFilter,
  withFinalizer,
  withOwner,
  writeObject,
} from '../../shared/index.ts';
import {
  type ClusterControllerDependencies,
  defaultConcurrency,
  defaultGracePeriodMs,
} from '../common/dependencies.ts';
import {
  byCluster,
  byController,
  byNodeName,
  byProviderId,
  byReference,
  clusterIndexValue,
  registerIndexes,
} from '../common/indexes.ts';
import { combined, type Phase, runPhases } from '../common/phases.ts';
import { reconcileDelete } from './deletion.ts';
import { reconcileBootstrap, reconcileInfrastructure, waitForParts } from './external.ts';
import { reconcileInPlaceUpdate } from './in-place-update.ts';
import { observeLegacyMachine } from './legacy-status.ts';
import { replaceLostServer } from './lost-server.ts';
import { reconcileNode } from './node.ts';
import type { MachineScope, Referenced } from './scope.ts';
import { type MachineObservation, observeMachine } from './status.ts';

const notObserved: Referenced = { state: 'failed', problem: 'The object has not been observed yet' };

const always: readonly Phase<MachineScope>[] = [
  adoptAndLabel,
  reconcileBootstrap,
  reconcileInfrastructure,
  replaceLostServer,
  reconcileNode,
  takeCertificatesExpiry,
  reconcileInPlaceUpdate,
];

/** Builds the controller of Machines: bootstrap data and infrastructure, Node, deletion. */
export function machineController(dependencies: ClusterControllerDependencies): ControllerDefinition {
  const nodeDeletionAttempts = new Map<string, number>();
  const machinesBy = (index: string, value: string): ObjectKey[] =>
    dependencies.cache.lister(Machines).byIndex(index, value).map(objectKey);
  const ofCluster = ({ namespace, name }: ObjectKey): ObjectKey[] =>
    machinesBy(byCluster, clusterIndexValue(namespace, name));
  const follower = dependencies.externals.follow((object) => machinesBy(byReference, objectIndexValue(object)));

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const cached = context.cache.lister(Machines).get(key);
    if (!cached || isFilteredOut(cached, dependencies.watchFilter)) return done();
    const machine = await withFinalizer(context, Machines, cached, machineFinalizer);
    const cluster = context.cache.lister(Clusters).get(clusterKey(machine));
    const draft = draftOf(machine);
    const pauses = pausedBy(machine, cluster);
    setPausedCondition(draft, pauses, context.clock.now());
    if (pauses.length > 0 || (!cluster && !isDeleting(machine))) {
      if (pauses.length === 0) orphaned(draft, context.clock.now());
      await writeObject(context, Machines, machine, draft, { observed: false });
      return done();
    }
    const machineSet = ownerSet(context, machine);
    const scope: MachineScope = {
      context,
      dependencies,
      follower,
      cluster,
      original: machine,
      machine: draft,
      machineSet,
      machineDeployment: machineSet && ownerDeployment(context, machineSet),
      nodeDeletionAttempts,
      // references count as not observed until a phase has read them
      bootstrap: notObserved,
      infrastructure: notObserved,
      node: { state: 'unknown' },
    };
    const wait = await waitForParts(scope);
    if (wait) return wait;
    const phases = isDeleting(machine) ? [...always, reconcileDelete] : always;
    const { result, errors } = await runPhases(phases, scope, { carryOn: true });
    const later = observe(scope, errors);
    await writeObject(context, Machines, machine, draft, { observed: errors.length === 0 });
    if (errors.length > 0) throw combined(errors);
    return soonest(result, later);
  };

  return defineController({
    name: 'machine',
    for: Machines,
    continuesAfterOwnWrite: 'everything',
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    groupOf: (key) => key.namespace ?? '',
    setup(cache) {
      registerIndexes(cache);
      cache.informer(MachineHealthChecks);
    },
    watches: [
      watchObjects(Machines, { predicates: watchFilter(dependencies.watchFilter) }),
      watchMapped(Clusters, (cluster) => ofCluster(objectKey(cluster)), {
        predicates: [
          clusterChanged(
            'paused',
            'deletion',
            'skipRemediation',
            'infrastructureProvisioned',
            'controlPlaneInitialized',
          ),
        ],
      }),
      watchMapped(MachineSets, (set) => machinesBy(byController, set.metadata.uid ?? ''), {
        predicates: [rolloutChanged],
      }),
      watchMapped(
        MachineDeployments,
        (deployment) =>
          dependencies.cache
            .lister(MachineSets)
            .byIndex(byController, deployment.metadata.uid ?? '')
            .flatMap((set) => machinesBy(byController, set.metadata.uid ?? '')),
        { predicates: [rolloutChanged] },
      ),
    ],
    sources: [
      follower.source,
      dependencies.workloads.connectionSource(ofCluster),
      dependencies.workloads.nodeSource((cluster, node) => machinesOfNode(cluster, node)),
    ],
    reconcile,
  });

  function machinesOfNode(cluster: ObjectKey, node: Node): ObjectKey[] {
    const lister = dependencies.cache.lister(Machines);
    const { name = '' } = node.metadata;
    const namesake = lister.get({ namespace: cluster.namespace ?? '', name });
    // candidates by node name, machine name and provider ID; usually the same machine
    const found = new Set([
      ...lister.byIndex(byNodeName, name),
      ...(namesake ? [namesake] : []),
      ...(node.spec?.providerID ? lister.byIndex(byProviderId, comparableProviderId(node.spec.providerID)) : []),
    ]);
    return [...found]
      .filter(({ metadata, spec }) => metadata.namespace === cluster.namespace && spec.clusterName === cluster.name)
      .map(objectKey);
  }
}

function clusterKey({ metadata, spec }: Machine): ObjectKey {
  return { ...(metadata.namespace !== undefined && { namespace: metadata.namespace }), name: spec.clusterName };
}

function ownerSet({ cache }: ReconcileContext, machine: Machine) {
  const owner = ownerOf(machine, MachineSets);
  return owner && cache.lister(MachineSets).get({ namespace: machine.metadata.namespace ?? '', name: owner.name });
}

function ownerDeployment({ cache }: ReconcileContext, set: KubeObject) {
  const owner = ownerOf(set, MachineDeployments);
  return owner && cache.lister(MachineDeployments).get({ namespace: set.metadata.namespace ?? '', name: owner.name });
}

function observe(scope: MachineScope, errors: readonly unknown[]): Result {
  const { machine, cluster, dependencies, context } = scope;
  const seen: MachineObservation = {
    cluster,
    machineSet: scope.machineSet,
    machineDeployment: scope.machineDeployment,
    bootstrap: scope.bootstrap,
    infrastructure: scope.infrastructure,
    node: scope.node,
    workload: cluster
      ? dependencies.workloads.state(objectKey(cluster))
      : { connected: false, lastSuccess: 0, failures: 0 },
    gracePeriodMs: dependencies.remoteConditionsGracePeriodMs ?? defaultGracePeriodMs,
    updating: scope.updating,
    deletion:
      errors.length > 0 && scope.deletion?.reason === 'Deleting'
        ? { reason: 'InternalError', message: (combined(errors) as Error).message }
        : scope.deletion,
    nowMs: context.clock.now(),
  };
  const result = observeMachine(machine, seen);
  observeLegacyMachine(machine, seen);
  return result;
}

/** Sets the condition of a machine whose cluster does not exist. */
function orphaned(draft: Machine, nowMs: number): void {
  setVerdict(
    draft,
    'Ready',
    { status: 'Unknown', reason: 'InternalError', message: `Cluster ${draft.spec.clusterName} does not exist` },
    nowMs,
  );
  draft.status = { ...draft.status, phase: draft.status?.phase ?? 'Pending' };
}

/** Sets the Cluster as owner of standalone machines, and the cluster name label on all. */
function adoptAndLabel({ machine, cluster }: MachineScope): undefined {
  const { metadata } = machine;
  if (cluster && standsAlone(machine)) {
    metadata.ownerReferences = [...withOwner(metadata.ownerReferences, ownerReference(cluster, Clusters))];
  }
  metadata.labels = { ...metadata.labels, [clusterNameLabel]: machine.spec.clusterName };
}

function standsAlone(machine: Machine): boolean {
  const labels = machine.metadata.labels ?? {};
  return (
    controllerOf(machine) === undefined &&
    labels[setNameLabel] === undefined &&
    labels[poolNameLabel] === undefined &&
    labels[controlPlaneNameLabel] === undefined
  );
}

function takeCertificatesExpiry({ machine, bootstrap }: MachineScope): undefined {
  if (machine.metadata.labels?.[controlPlaneLabel] === undefined) return;
  const text =
    machine.metadata.annotations?.[certificatesExpiryAnnotation] ??
    (bootstrap.state === 'found'
      ? bootstrap.provider.object.metadata.annotations?.[certificatesExpiryAnnotation]
      : undefined);
  if (text !== undefined && parseRfc3339(text) !== undefined) {
    machine.status = { ...machine.status, certificatesExpiryDate: text };
  } else if (machine.status) {
    const { certificatesExpiryDate: _, ...status } = machine.status;
    machine.status = status;
  }
}

const rolloutChanged: Predicate<KubeObject> = (event) =>
  event.type !== 'update' ||
  event.object.metadata.generation !== event.old.metadata.generation ||
  event.object.metadata.annotations?.[revisionAnnotation] !== event.old.metadata.annotations?.[revisionAnnotation];
