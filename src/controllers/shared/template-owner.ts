import { type Cluster, Clusters, type ContractReference, clusterNameLabel } from '../../api/index.ts';
import { objectKey, withOptimisticLock } from '../../client/index.ts';
import { asJson } from '../../machinery/index.ts';
import type { ReconcileContext } from '../../runtime/index.ts';
import type { Follower } from './external-objects.ts';
import { isDeleting, ownerReference, withOwner } from './ownership.ts';
import { fieldManager } from './write-object.ts';

/**
 * Makes the cluster an owner of a referenced template, so that both are deleted together. Returns false if the template
 * does not exist.
 */
export async function ensureTemplate(
  context: ReconcileContext,
  follower: Follower,
  cluster: Cluster,
  reference: ContractReference,
): Promise<boolean> {
  const { client, signal } = context;
  const template = await follower.get(reference, cluster.metadata.namespace ?? '', { client, signal });
  if (!template) return false;
  const { object } = template;
  const owners = withOwner(object.metadata.ownerReferences, ownerReference(cluster, Clusters));
  const labelled = object.metadata.labels?.[clusterNameLabel] === cluster.metadata.name;
  if ((owners === object.metadata.ownerReferences && labelled) || isDeleting(object)) return true;
  const patch = {
    metadata: {
      labels: { [clusterNameLabel]: cluster.metadata.name ?? '' },
      ownerReferences: asJson(owners),
    },
  };
  const { resource } = await follower.kindOf(reference, signal);
  await client.patch(resource, objectKey(object), 'merge', withOptimisticLock(patch, object), { fieldManager, signal });
  return true;
}
