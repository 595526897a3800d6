import type { KubeObject, Resource } from '../../../machinery/index.ts';
import { patchObject, type ReconcileContext } from '../../../runtime/index.ts';
import { fieldManager } from '../../shared/index.ts';
import { ownerMarkAnnotation } from './names.ts';
import { withOwnerMark } from './ownership.ts';
import { withBeginner } from './upstream.ts';

/**
 * Tells whether an object has or is about to have cloud resources. An owner mark of another installation means that it
 * was moved here with its resources.
 */
export function mayHaveMade({ metadata }: KubeObject, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) === true || metadata.annotations?.[ownerMarkAnnotation] !== undefined;
}

/**
 * Stores finalizer and owner mark before any cloud resource is created. Returns the stored object; the same one if both
 * were there or it is being deleted.
 */
export async function recordIntent<T extends KubeObject>(
  context: Pick<ReconcileContext, 'client' | 'clock' | 'signal'>,
  resource: Resource<T>,
  object: T,
  finalizer: string,
): Promise<T> {
  const { finalizers = [], annotations, deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined) return object;
  if (finalizers.includes(finalizer) && annotations?.[ownerMarkAnnotation] !== undefined) return object;
  const after = {
    ...object,
    metadata: {
      ...object.metadata,
      annotations: { ...withOwnerMark(object), ...withBeginner(object, finalizer) },
      finalizers: finalizers.includes(finalizer) ? finalizers : [...finalizers, finalizer],
    },
  };
  return await patchObject(context.client, resource, object, after, {
    fieldManager,
    clock: context.clock,
    signal: context.signal,
    optimisticLock: true,
  });
}
