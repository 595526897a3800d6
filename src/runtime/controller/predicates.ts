import { deepEqual, type KubeObject } from '../../machinery/index.ts';

/** An event of a watched object. */
export type ObjectEvent<T extends KubeObject = KubeObject> =
  | { type: 'add'; object: T; initial: boolean }
  /** `missed`: versions between `old` and `object` may have been missed */
  | { type: 'update'; object: T; old: T; missed?: boolean }
  | { type: 'delete'; object: T; finalStateUnknown: boolean };

/** Decides whether an event needs a reconcile. */
export type Predicate<T extends KubeObject = KubeObject> = (event: ObjectEvent<T>) => boolean;

/** Accepts updates only if the spec changed (metadata.generation) or the deletion began. */
export const generationChanged: Predicate = (event) =>
  event.type !== 'update' ||
  event.object.metadata.generation !== event.old.metadata.generation ||
  event.object.metadata.deletionTimestamp !== event.old.metadata.deletionTimestamp;

export const labelsChanged: Predicate = (event) =>
  event.type !== 'update' || !deepEqual(event.object.metadata.labels ?? {}, event.old.metadata.labels ?? {});

/** Ignores updates that change only the status or server-managed metadata. */
export const changedBesidesStatus: Predicate = (event) => {
  if (event.type !== 'update') return true;
  const { metadata: now } = event.object;
  const { metadata: old } = event.old;
  return (
    now.generation !== old.generation ||
    now.deletionTimestamp !== old.deletionTimestamp ||
    !deepEqual(now.annotations ?? {}, old.annotations ?? {}) ||
    !deepEqual(now.labels ?? {}, old.labels ?? {}) ||
    !deepEqual(now.finalizers ?? [], old.finalizers ?? []) ||
    !deepEqual(now.ownerReferences ?? [], old.ownerReferences ?? [])
  );
};

/** Accepts objects for which `test` holds before or after the change. */
export function objectMatches<T extends KubeObject>(test: (object: T) => boolean): Predicate<T> {
  return (event) => test(event.object) || (event.type === 'update' && test(event.old));
}

export function anyOf<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (event) => predicates.some((predicate) => predicate(event));
}

export function allOf<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (event) => predicates.every((predicate) => predicate(event));
}

export function not<T extends KubeObject>(predicate: Predicate<T>): Predicate<T> {
  return (event) => !predicate(event);
}
