import { StatefulSets } from '../../../api/index.ts';
import { CapstanError, ignoreNotFound, type OwnerReference } from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { PlaneObjectError } from './apply-objects.ts';

/** A StatefulSet has the name of one of ours, and belongs to somebody else. */
class ForeignSetError extends CapstanError {
  constructor(name: string) {
    super(
      'CAP_PLANE_OBJECT',
      `StatefulSet ${name} is not owned by this control plane, and its Pods are not touched: delete it, or give the Cluster another name`,
    );
    this.name = 'ForeignSetError';
  }
}

/**
 * Deletes a StatefulSet with immutable fields to change, and leaves its Pods and claims to the next one of that name.
 * Returns false for any other error.
 */
export async function replaceSet(
  { client, cache, signal }: Pick<ReconcileContext, 'client' | 'cache' | 'signal'>,
  owner: OwnerReference,
  error: unknown,
): Promise<boolean> {
  if (!(error instanceof PlaneObjectError) || error.object.kind !== 'StatefulSet' || !error.isImmutable) return false;
  const { namespace = '', name = '' } = error.object.metadata;
  const set = cache.lister(StatefulSets).get({ namespace, name });
  // created a moment ago; the next reconcile knows it
  if (!set) return false;
  if (set.metadata.ownerReferences?.some(({ uid }) => uid === owner.uid) !== true) throw new ForeignSetError(name);
  const { uid } = set.metadata;
  await client
    .delete(
      StatefulSets,
      { namespace, name },
      { propagationPolicy: 'Orphan', signal, ...(uid !== undefined && { preconditions: { uid } }) },
    )
    .catch(ignoreNotFound);
  return true;
}
