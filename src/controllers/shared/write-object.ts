import { objectKey } from '../../client/index.ts';
import { clone, type KubeObject, type Resource } from '../../machinery/index.ts';
import { patchObject, type ReconcileContext } from '../../runtime/index.ts';
import { inLegacyOrder, inStoredOrder } from './condition-order.ts';

/** Plain patches of ours appear under this name, as upstream's do. */
export const fieldManager = 'manager';

const conditionPaths: readonly (readonly string[])[] = [
  ['status', 'conditions'],
  ['status', 'deprecated', 'v1beta1', 'conditions'],
];

/**
 * Writes what a reconcile made of its object: metadata and spec in one patch, status in another, none where nothing
 * changed. `observed` notes the generation, which only a pass without an error may do.
 */
export function writeObject<T extends KubeObject>(
  context: Pick<ReconcileContext, 'client' | 'clock' | 'signal' | 'textsMayWait'>,
  resource: Resource<T>,
  before: T,
  after: T,
  options: { observed: boolean },
): Promise<T> {
  return patchObject(context.client, resource, before, after, {
    fieldManager,
    clock: context.clock,
    signal: context.signal,
    conditionPaths,
    arrangeConditions: (conditions, path) =>
      path.includes('deprecated') ? inLegacyOrder(conditions) : inStoredOrder(conditions),
    textsMayWait: () => context.textsMayWait?.(resource, objectKey(before)) === true,
    ...(options.observed && { observedGeneration: true }),
  });
}

/**
 * A private copy to be changed and handed to `writeObject`. Who wrote what is the server's business, and much of what an
 * object weighs: it is left out.
 */
export function draftOf<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata;
  return clone({ ...object, metadata });
}

/** Adds a finalizer; true when it was written (the watch brings the object back), false when it was there. */
export async function ensureFinalizer<T extends KubeObject>(
  context: Pick<ReconcileContext, 'client' | 'clock' | 'signal'>,
  resource: Resource<T>,
  object: T,
  finalizer: string,
): Promise<boolean> {
  return (await withFinalizer(context, resource, object, finalizer)) !== object;
}

/** The object with a finalizer, stored; the same object when it was there or the object is about to go. */
export async function withFinalizer<T extends KubeObject>(
  context: Pick<ReconcileContext, 'client' | 'clock' | 'signal'>,
  resource: Resource<T>,
  object: T,
  finalizer: string,
): Promise<T> {
  const { finalizers = [], deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined || finalizers.includes(finalizer)) return object;
  const after = { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, finalizer] } };
  return await patchObject(context.client, resource, object, after, {
    fieldManager,
    clock: context.clock,
    signal: context.signal,
    optimisticLock: true,
  });
}

/** An object without one finalizer; the same list of the others. */
export function withoutFinalizer(finalizers: readonly string[] | undefined, finalizer: string): string[] {
  return (finalizers ?? []).filter((name) => name !== finalizer);
}
