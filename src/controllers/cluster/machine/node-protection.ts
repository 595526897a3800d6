import { Machines } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { controlPlaneLabel, isDeleting, isExternallyManaged, providerIdOf } from '../../shared/index.ts';
import { byCluster, clusterIndexValue } from '../common/indexes.ts';
import type { MachineScope } from './scope.ts';

/**
 * Tells whether the deletion of a machine may drain and delete its Node. If the whole cluster is being deleted, or the
 * last control plane machine, no API server would be left to ask.
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

/** Links the Node of a machine that is deleted right after its Node joined; otherwise the Node would be left behind. */
function lateLink(scope: MachineScope): void {
  const { machine, cluster, infrastructure, dependencies } = scope;
  if (machine.status?.nodeRef || !cluster) return;
  const providerId =
    machine.spec.providerID ?? (infrastructure.state === 'found' ? providerIdOf(infrastructure.provider) : undefined);
  if (providerId === undefined) return;
  // store the provider ID now: the infrastructure object is gone when the Node is looked up
  machine.spec.providerID ??= providerId;
  if (!dependencies.workloads.state(objectKey(cluster)).connected) return;
  try {
    const [node] = dependencies.workloads.nodesByProviderId(objectKey(cluster), providerId);
    if (node) machine.status = { ...machine.status, nodeRef: { name: node.metadata.name ?? '' } };
  } catch {
    // not connected: no Node is known, and the deletion must not wait for one
  }
}
