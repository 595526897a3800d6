import type { KubeObject, Resource } from '../../../machinery/index.ts';
import { patchObject, type ReconcileContext } from '../../../runtime/index.ts';
import { fieldManager } from '../../shared/index.ts';
import { ownerMarkAnnotation } from './names.ts';
import { withOwnerMark } from './ownership.ts';

/**
 * Stores that an object is about to own cloud resources: its finalizer and the mark they will carry. Nothing is made in a
 * cloud before that. True when something was written (the watch brings the object back), false when all was there.
 */
export async function recordIntent<T extends KubeObject>(
  context: Pick<ReconcileContext, 'client' | 'clock' | 'signal'>,
  resource: Resource<T>,
  object: T,
  finalizer: string,
): Promise<boolean> {
  const { finalizers = [], annotations, deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined) return false;
  if (finalizers.includes(finalizer) && annotations?.[ownerMarkAnnotation] !== undefined) return false;
  const after = {
    ...object,
    metadata: {
      ...object.metadata,
      annotations: withOwnerMark(object),
      finalizers: finalizers.includes(finalizer) ? finalizers : [...finalizers, finalizer],
    },
  };
  await patchObject(context.client, resource, object, after, {
    fieldManager,
    clock: context.clock,
    signal: context.signal,
    optimisticLock: true,
  });
  return true;
}
