import { type LatticeCluster, LatticeClusters, latticeNamespace, type Namespace, Namespaces } from '../../api/index.ts';
import { ignoreNotFound } from '../../machinery/index.ts';
import type { ReconcileContext } from '../../runtime/index.ts';
import { isDeleting, ownerReference } from '../shared/index.ts';
import { latticeClusterLabel, latticeFieldManager } from './names.ts';

/**
 * Ensures the namespace of a LatticeCluster. Security: cloud credentials are stored there, so an existing namespace is
 * used only with the label that permits it. Returns why it cannot be used.
 */
export async function ensureNamespace(
  { client, signal }: ReconcileContext,
  owner: LatticeCluster,
): Promise<string | undefined> {
  const { name: cluster = '' } = owner.metadata;
  const name = latticeNamespace(cluster);
  const live = await client.get(Namespaces, { name }, { signal }).catch(ignoreNotFound);
  if (live === undefined) {
    const labels = { [latticeClusterLabel]: cluster };
    const desired: Namespace = {
      apiVersion: 'v1',
      kind: 'Namespace',
      // deleted by the garbage collector, so the controllers need no permission to delete namespaces
      metadata: { name, labels, ownerReferences: [ownerReference(owner, LatticeClusters)] },
    };
    await client.create(Namespaces, desired, { fieldManager: latticeFieldManager, signal });
    return undefined;
  }
  if (isDeleting(live)) return `namespace ${name} is being deleted; the cluster is made when it is gone`;
  if (live.metadata.labels?.[latticeClusterLabel] === cluster) return undefined;
  return `namespace ${name} exists and is not marked as belonging to ${LatticeClusters.kind} ${cluster}; delete it, or run kubectl label namespace ${name} ${latticeClusterLabel}=${cluster}`;
}
