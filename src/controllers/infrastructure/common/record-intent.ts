import type { KubeObject, Resource } from '../../../machinery/index.ts';
import { patchObject, type ReconcileContext } from '../../../runtime/index.ts';
import { fieldManager } from '../../shared/index.ts';
import { ownerMarkAnnotation } from './names.ts';
import { withOwnerMark } from './ownership.ts';
import { withBeginner } from './upstream.ts';

/** An object that made something in a cloud, or is about to: with another program's mark it was moved here and owns what it brought. */
export function mayHaveMade({ metadata }: KubeObject, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) === true || metadata.annotations?.[ownerMarkAnnotation] !== undefined;
}

/**
 * Stores that an object is about to own cloud resources: its finalizer and the mark they will carry. Nothing is made in a
 * cloud before that. Resolves with the object as stored, the same one when all was there or it is about to go.
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
