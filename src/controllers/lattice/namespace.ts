import { type LatticeCluster, LatticeClusters, latticeNamespace, type Namespace, Namespaces } from '../../api/index.ts';
import { ignoreNotFound } from '../../machinery/index.ts';
import type { ReconcileContext } from '../../runtime/index.ts';
import { isDeleting } from '../shared/index.ts';
import { latticeClusterLabel, latticeFieldManager, madeForAnnotation } from './names.ts';

/**
 * The namespace of a LatticeCluster is made for it. One that was there before is used only with the label that says so: credentials
 * of the cloud are put there, and whoever owns a namespace of that name by chance must not get them. Answers why it cannot be used.
 */
export async function ensureNamespace(
  { client, signal }: ReconcileContext,
  { metadata: { name: cluster = '', uid = '' } }: LatticeCluster,
): Promise<string | undefined> {
  const name = latticeNamespace(cluster);
  const live = await client.get(Namespaces, { name }, { signal }).catch(ignoreNotFound);
  if (live === undefined) {
    const labels = { [latticeClusterLabel]: cluster };
    const desired: Namespace = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, labels, annotations: { [madeForAnnotation]: uid } },
    };
    await client.create(Namespaces, desired, { fieldManager: latticeFieldManager, signal });
    return undefined;
  }
  if (isDeleting(live)) return `namespace ${name} is being deleted; the cluster is made when it is gone`;
  if (live.metadata.labels?.[latticeClusterLabel] === cluster) return undefined;
  return `namespace ${name} is there and not marked as that of ${LatticeClusters.kind} ${cluster}; delete it, or run kubectl label namespace ${name} ${latticeClusterLabel}=${cluster}`;
}

/** Whether the namespace was made for this very object. */
export function isMadeFor(namespace: Namespace, { metadata: { uid = '' } }: LatticeCluster): boolean {
  return namespace.metadata.annotations?.[madeForAnnotation] === uid;
}
