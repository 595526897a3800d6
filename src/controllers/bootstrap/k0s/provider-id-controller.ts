import { Clusters, K0sWorkerConfigs, type Machine, Machines, type Node, Nodes } from '../../../api/index.ts';
import { type ObjectKey, objectKey, withOptimisticLock } from '../../../client/index.ts';
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
import { fieldManager, isDeleting, isFilteredOut, isNotConnected, pausedBy, watchFilter } from '../../shared/index.ts';
import { clusterOfMachine, configOfMachine, relevantClusterChange } from '../common/watches.ts';
import { machineNameLabel } from './commands.ts';
import { nodeOfMachine } from './node-of-machine.ts';
import type { K0sWorkerConfigDependencies } from './scope.ts';

const defaultConcurrency = 10;
const waitingByCluster = 'k0s-machines-without-node';

const clusterValue = ({ namespace, name }: ObjectKey): string => `${namespace ?? ''}/${name}`;

/** Tells whether a k0s machine has a provider ID but no Node yet. */
const isWaiting = (machine: Machine): boolean =>
  machine.spec.providerID !== undefined &&
  machine.status?.nodeRef === undefined &&
  !isDeleting(machine) &&
  configOfMachine(machine, K0sWorkerConfigs).length > 0;

/**
 * Builds the controller that sets `spec.providerID` on k0s Nodes. Normally a cloud controller manager sets it, but a
 * cluster may run without one.
 */
export function providerIdController(dependencies: K0sWorkerConfigDependencies): ControllerDefinition {
  const { cache, workloads } = dependencies;
  const waitingIn = (cluster: ObjectKey): ObjectKey[] =>
    cache.lister(Machines).byIndex(waitingByCluster, clusterValue(cluster)).map(objectKey);

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const machine = context.cache.lister(Machines).get(key);
    if (!machine || !isWaiting(machine) || isFilteredOut(machine, dependencies.watchFilter)) return done();
    const cluster = clusterOfMachine(machine);
    const owner = context.cache.lister(Clusters).get(cluster);
    if (!owner || pausedBy(machine, owner).length > 0) return done();
    const providerID = machine.spec.providerID ?? '';
    try {
      if (workloads.nodesByProviderId(cluster, providerID).length > 0) return done();
      const node = nodeOfMachine(machine, workloads.nodes(cluster).list());
      // a different provider ID on the Node is not overwritten
      if (!node || node.spec?.providerID) return done();
      await tell(context, cluster, node, machine, providerID);
    } catch (error) {
      if (!isNotConnected(error)) throw error;
    }
    return done();
  };

  const tell = async (
    { signal }: ReconcileContext,
    cluster: ObjectKey,
    node: Node,
    machine: Machine,
    providerID: string,
  ): Promise<void> => {
    const labels = { [machineNameLabel]: machine.metadata.name ?? '' };
    const isKnown = node.metadata.labels?.[machineNameLabel] !== undefined;
    const patch = { spec: { providerID }, ...(!isKnown && { metadata: { labels } }) };
    await workloads
      .client(cluster)
      .patch(Nodes, objectKey(node), 'merge', withOptimisticLock(patch, node), { fieldManager, signal });
  };

  return defineController({
    name: 'k0s-provider-id',
    for: Machines,
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    setup(informers) {
      informers.informer(Clusters);
      informers
        .informer(Machines)
        .addIndexer(waitingByCluster, (machine) =>
          isWaiting(machine) ? [clusterValue(clusterOfMachine(machine))] : [],
        );
    },
    watches: [
      watchObjects(Machines, { predicates: [...watchFilter(dependencies.watchFilter), waits] }),
      watchMapped(Clusters, (cluster) => waitingIn(objectKey(cluster)), { predicates: [relevantClusterChange] }),
    ],
    sources: [
      workloads.connectionSource(waitingIn),
      workloads.nodeSource((cluster, node) => (node.spec?.providerID ? [] : waitingIn(cluster))),
    ],
    reconcile,
  });
}

const waits: Predicate<Machine> = ({ object, type }) => type !== 'delete' && isWaiting(object);
