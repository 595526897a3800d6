import type { KubeObject, Resource } from '../../machinery/index.ts';
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
  context: Pick<ReconcileContext, 'client' | 'clock' | 'signal'>,
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
    ...(options.observed && { observedGeneration: true }),
  });
}

/** Adds a finalizer; true when it was written (the watch brings the object back), false when it was there. */
export async function ensureFinalizer<T extends KubeObject>(
  context: Pick<ReconcileContext, 'client' | 'clock' | 'signal'>,
  resource: Resource<T>,
  object: T,
  finalizer: string,
): Promise<boolean> {
  const { finalizers = [], deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined || finalizers.includes(finalizer)) return false;
  const after = { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, finalizer] } };
  await patchObject(context.client, resource, object, after, {
    fieldManager,
    clock: context.clock,
    signal: context.signal,
    optimisticLock: true,
  });
  return true;
}

/** An object without one finalizer; the same list of the others. */
export function withoutFinalizer(finalizers: readonly string[] | undefined, finalizer: string): string[] {
  return (finalizers ?? []).filter((name) => name !== finalizer);
}
