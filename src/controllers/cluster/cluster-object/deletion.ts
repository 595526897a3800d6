import { MachineDeployments, MachineSets, Machines } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { ignoreNotFound, type KubeObject, parseApiVersion, type Resource } from '../../../machinery/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import { clusterFinalizer, isDeleting, isOkToDelete, isOwnedBy, withoutFinalizer } from '../../shared/index.ts';
import type { ClusterScope, Descendants, Referenced } from './scope.ts';

const failedRetryMs = 30_000;

/**
 * Deletes the parts of a cluster in order: workers, control plane, infrastructure. Deletes only what the cluster owns.
 */
export async function reconcileDelete(scope: ClusterScope): Promise<Result | undefined> {
  const { cluster, context, descendants } = scope;
  scope.deletion = { reason: 'Deleting', message: 'Deletion started' };
  if (scope.dependencies.topologies === true && cluster.spec.topology && !isOkToDelete(cluster)) {
    // the topology controller calls the BeforeClusterDelete hooks; its annotation triggers the next reconcile
    const message = 'Waiting until all who listen to BeforeClusterDelete agree; TopologyReconciled says who does not';
    scope.deletion = { reason: 'WaitingForBeforeDeleteHook', message };
    return undefined;
  }
  for (const [resource, object] of children(descendants)) {
    if (isDeleting(object) || !isOwnedBy(object, cluster)) continue;
    // without a control plane provider, control plane machines go last: draining workers needs their API server
    if (resource === Machines && isControlPlane(scope, object) && workersLeft(descendants)) continue;
    await remove(scope, resource, object);
  }
  const left = whatIsLeft(scope);
  if (left.length > 0) {
    scope.deletion = { reason: 'WaitingForWorkersDeletion', message: left.map((line) => `* ${line}`).join('\n') };
    // each deletion triggers a reconcile
    return undefined;
  }
  const waits: readonly (readonly [Referenced, string, string])[] = [
    [scope.controlPlane, cluster.spec.controlPlaneRef?.kind ?? '', 'WaitingForControlPlaneDeletion'],
    [scope.infrastructure, cluster.spec.infrastructureRef?.kind ?? '', 'WaitingForInfrastructureDeletion'],
  ];
  for (const [referenced, kind, reason] of waits) {
    if (referenced.state === 'none' || referenced.state === 'missing') continue;
    if (referenced.state === 'failed') {
      scope.deletion = { reason, message: `Failed to delete ${kind}: ${referenced.problem}` };
      return after(failedRetryMs, 'a reference cannot be followed');
    }
    const { object } = referenced.provider;
    if (!isDeleting(object)) {
      const { group } = parseApiVersion(object.apiVersion);
      const { resource } = await scope.follower.kindOf({ apiGroup: group, kind: object.kind }, context.signal);
      await remove(scope, resource, object);
    }
    scope.deletion = { reason, message: `Waiting for ${kind} to be deleted` };
    return undefined;
  }
  scope.deletion = { reason: 'DeletionCompleted', message: 'Deletion completed' };
  cluster.metadata.finalizers = withoutFinalizer(cluster.metadata.finalizers, clusterFinalizer);
  context.events.event(cluster, 'Normal', 'Deleted', `Cluster ${cluster.metadata.name} has been deleted`);
  return undefined;
}

function* children({
  deployments,
  sets,
  workerMachines,
  controlPlaneMachines,
}: Descendants): Generator<readonly [Resource, KubeObject]> {
  for (const object of deployments) yield [MachineDeployments, object];
  for (const object of sets) yield [MachineSets, object];
  for (const object of workerMachines) yield [Machines, object];
  for (const object of controlPlaneMachines) yield [Machines, object];
}

const workersLeft = ({ deployments, sets, workerMachines }: Descendants): boolean =>
  deployments.length + sets.length + workerMachines.length > 0;

const isControlPlane = ({ descendants }: ClusterScope, object: KubeObject): boolean =>
  descendants.controlPlaneMachines.some(({ metadata }) => metadata.uid === object.metadata.uid);

async function remove({ context }: ClusterScope, resource: Resource<KubeObject>, object: KubeObject): Promise<void> {
  const { uid } = object.metadata;
  await context.client
    .delete(resource, objectKey(object), {
      signal: context.signal,
      ...(uid !== undefined && { preconditions: { uid } }),
    })
    .catch(ignoreNotFound);
}

const maxNames = 5;

/** Lists the remaining objects by kind and name. */
function whatIsLeft({ cluster, descendants }: ClusterScope): string[] {
  const { deployments, sets, workerMachines, controlPlaneMachines } = descendants;
  const groups: [string, readonly KubeObject[]][] = [
    ['MachineDeployments', deployments],
    ['MachineSets', sets],
    ['Worker Machines', workerMachines],
  ];
  // a control plane provider deletes its own machines
  if (!cluster.spec.controlPlaneRef) groups.unshift(['Control plane Machines', controlPlaneMachines]);
  return groups.flatMap(([title, objects]) => {
    if (objects.length === 0) return [];
    const names = objects.map(({ metadata }) => metadata.name ?? '').sort();
    const more = names.length > maxNames ? `, ... (${names.length - maxNames} more)` : '';
    return [`${title}: ${names.slice(0, maxNames).join(', ')}${more}`];
  });
}
