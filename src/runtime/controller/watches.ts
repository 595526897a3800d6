import { type InformerScope, type ObjectKey, objectKey } from '../../client/index.ts';
import { type KubeObject, parseApiVersion, type Resource } from '../../machinery/index.ts';
import type { ObjectEvent, Predicate } from './predicates.ts';

/** Maps events of one resource to keys to reconcile. The functions below create it and keep the object's type. */
export interface Watch {
  resource: Resource<KubeObject>;
  scope: InformerScope;
  predicates: readonly Predicate[];
  /** reconcile when there is no other work, see `WatchSettings` */
  patient: boolean;
  keysOf(event: ObjectEvent): readonly ObjectKey[];
}

export interface WatchSettings<T extends KubeObject> {
  scope?: InformerScope;
  /** all must hold */
  predicates?: readonly Predicate<T>[];
  /**
   * For objects whose changes are only aggregated: they are reconciled when no other work waits, many of them at once.
   * Creations and the start of a deletion are handled immediately.
   */
  patient?: boolean;
}

function makeWatch<T extends KubeObject>(
  resource: Resource<T>,
  keysOf: (event: ObjectEvent<T>) => readonly ObjectKey[],
  options: WatchSettings<T>,
): Watch {
  // All functions here know the object's type; users of a Watch do not.
  return {
    resource: resource,
    scope: options.scope ?? {},
    predicates: (options.predicates ?? []) as readonly Predicate[],
    patient: options.patient ?? false,
    keysOf: keysOf as Watch['keysOf'],
  };
}

/** Reconciles the object itself. */
export function watchObjects<T extends KubeObject>(resource: Resource<T>, options: WatchSettings<T> = {}): Watch {
  return makeWatch(resource, (event) => [objectKey(event.object)], options);
}

/**
 * Reconciles the owner of an object: by default only the controller, with `anyOwner` all owners of the kind. Both
 * versions of an update count, so an object that changes its owner enqueues both.
 */
export function watchOwned<T extends KubeObject>(
  resource: Resource<T>,
  owner: Resource,
  options: WatchSettings<T> & { anyOwner?: boolean } = {},
): Watch {
  const keysOf = (event: ObjectEvent<T>): ObjectKey[] => {
    const keys = ownerKeys(event.object, owner, options);
    if (event.type !== 'update') return keys;
    for (const key of ownerKeys(event.old, owner, options)) {
      if (!keys.some(({ name }) => name === key.name)) keys.push(key);
    }
    return keys;
  };
  return makeWatch(resource, keysOf, options);
}

/** Keys of an object's owners of one kind, regardless of the version in the reference. */
export function ownerKeys(
  object: KubeObject,
  owner: Resource,
  { anyOwner = false }: { anyOwner?: boolean } = {},
): ObjectKey[] {
  const keys: ObjectKey[] = [];
  for (const reference of object.metadata.ownerReferences ?? []) {
    if (reference.kind !== owner.kind || (!anyOwner && reference.controller !== true)) continue;
    if (parseApiVersion(reference.apiVersion).group !== owner.group) continue;
    const namespace = owner.namespaced ? object.metadata.namespace : undefined;
    keys.push(namespace === undefined ? { name: reference.name } : { namespace, name: reference.name });
  }
  return keys;
}

/** Reconciles the keys returned by `map`, which is called with the object before and after an update. */
export function watchMapped<T extends KubeObject>(
  resource: Resource<T>,
  map: (object: T, event: ObjectEvent<T>) => readonly ObjectKey[],
  options: WatchSettings<T> = {},
): Watch {
  const keysOf = (event: ObjectEvent<T>): readonly ObjectKey[] => {
    const keys = map(event.object, event);
    return event.type === 'update' ? [...keys, ...map(event.old, event)] : keys;
  };
  return makeWatch(resource, keysOf, options);
}
