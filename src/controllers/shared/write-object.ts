import { objectKey } from '../../client/index.ts';
import { clone, type KubeObject, type Resource } from '../../machinery/index.ts';
import { patchObject, type ReconcileContext } from '../../runtime/index.ts';
import { inLegacyOrder, inStoredOrder } from './condition-order.ts';
import { nobodyWaitsFor, patienceWith } from './patience.ts';

/** Field manager of patches, the same as upstream's. */
export const fieldManager = 'manager';

const conditionPaths: readonly (readonly string[])[] = [
  ['status', 'conditions'],
  ['status', 'deprecated', 'v1beta1', 'conditions'],
];

/**
 * Writes the result of a reconcile: one patch for metadata and spec, one for status, none without changes. `observed`
 * sets observedGeneration, only valid after a reconcile without error.
 */
export function writeObject<T extends KubeObject>(
  context: Pick<ReconcileContext, 'client' | 'clock' | 'signal' | 'statusMayWait'>,
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
    statusMayWait: (change) =>
      nobodyWaitsFor(change, after) &&
      context.statusMayWait?.(resource, objectKey(before), patienceWith(after, change)) === true,
    ...(options.observed && { observedGeneration: true }),
  });
}

/**
 * Copies an object for changes that are handed to `writeObject`. Leaves out managedFields, which are large and owned by
 * the server.
 */
export function draftOf<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata;
  return clone({ ...object, metadata });
}

/** Adds a finalizer. Returns true if it was written (the watch triggers a reconcile), false if it was there. */
export async function ensureFinalizer<T extends KubeObject>(
  context: Pick<ReconcileContext, 'client' | 'clock' | 'signal'>,
  resource: Resource<T>,
  object: T,
  finalizer: string,
): Promise<boolean> {
  return (await withFinalizer(context, resource, object, finalizer)) !== object;
}

/** Returns the stored object with the finalizer; the same object if it was there or the object is being deleted. */
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

export function withoutFinalizer(finalizers: readonly string[] | undefined, finalizer: string): string[] {
  return (finalizers ?? []).filter((name) => name !== finalizer);
}
