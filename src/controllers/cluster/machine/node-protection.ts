import { Machines } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { controlPlaneLabel, isDeleting, isExternallyManaged, providerIdOf } from '../../shared/index.ts';
import { byCluster, clusterIndexValue } from '../common/indexes.ts';
import type { MachineScope } from './scope.ts';

/**
 * Whether the deletion of a machine may touch its Node. With the whole cluster, or the last of the control plane, on its way
 * out there is nobody left to drain for, and nobody to ask.
 */
export async function nodeIsOurs(scope: MachineScope): Promise<boolean> {
  const { cluster, machine, context, follower } = scope;
  if (!cluster || isDeleting(cluster)) return false;
  lateLink(scope);
  if (!machine.status?.nodeRef && machine.spec.providerID === undefined) return false;
  const reference = cluster.spec.controlPlaneRef;
  if (reference) {
    const controlPlane = await follower.get(reference, cluster.metadata.namespace ?? '', {
      client: context.client,
      signal: context.signal,
    });
    if (controlPlane && isDeleting(controlPlane.object)) return false;
    if (controlPlane && isExternallyManaged(controlPlane)) return true;
  }
  const others = context.cache
    .lister(Machines)
    .byIndex(byCluster, clusterIndexValue(machine.metadata.namespace, machine.spec.clusterName));
  return others.some((other) => other.metadata.labels?.[controlPlaneLabel] !== undefined && !isDeleting(other));
}

/** A machine deleted in the moment its Node joined would leave the Node behind. */
function lateLink(scope: MachineScope): void {
  const { machine, cluster, infrastructure, dependencies } = scope;
  if (machine.status?.nodeRef || !cluster) return;
  const providerId =
    machine.spec.providerID ?? (infrastructure.state === 'found' ? providerIdOf(infrastructure.provider) : undefined);
  if (providerId === undefined) return;
  // the infrastructure that knows it is gone by the time the Node is looked for
  machine.spec.providerID ??= providerId;
  if (!dependencies.workloads.state(objectKey(cluster)).connected) return;
  try {
    const [node] = dependencies.workloads.nodesByProviderId(objectKey(cluster), providerId);
    if (node) machine.status = { ...machine.status, nodeRef: { name: node.metadata.name ?? '' } };
  } catch {
    // no connection: nobody knows of a Node, and a deletion must not wait for one
  }
}
