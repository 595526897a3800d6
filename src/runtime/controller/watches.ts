import { type InformerScope, type ObjectKey, objectKey } from '../../client/index.ts';
import { type KubeObject, parseApiVersion, type Resource } from '../../machinery/index.ts';
import type { ObjectEvent, Predicate } from './predicates.ts';

/** Turns events of one resource into keys to reconcile. Made by the functions below, which keep the object's type. */
export interface Watch {
  resource: Resource<KubeObject>;
  scope: InformerScope;
  predicates: readonly Predicate[];
  /** changes are answered when there is nothing else to do, see `WatchSettings` */
  patient: boolean;
  keysOf(event: ObjectEvent): readonly ObjectKey[];
}

export interface WatchSettings<T extends KubeObject> {
  scope?: InformerScope;
  /** all must hold */
  predicates?: readonly Predicate<T>[];
  /**
   * Changes of such an object are only summed up: they are answered when no other work waits, many of them by one look.
   * Objects that come or begin to go are answered immediately.
   */
  patient?: boolean;
}

function makeWatch<T extends KubeObject>(
  resource: Resource<T>,
  keysOf: (event: ObjectEvent<T>) => readonly ObjectKey[],
  options: WatchSettings<T>,
): Watch {
  // the type of the object is known to every function in here and to nobody who handles a Watch
  return {
    resource: resource,
    scope: options.scope ?? {},
    predicates: (options.predicates ?? []) as readonly Predicate[],
    patient: options.patient ?? false,
    keysOf: keysOf as Watch['keysOf'],
  };
}

/** The object itself is reconciled. */
export function watchObjects<T extends KubeObject>(resource: Resource<T>, options: WatchSettings<T> = {}): Watch {
  return makeWatch(resource, (event) => [objectKey(event.object)], options);
}

/**
 * The owner is reconciled. By default only the controlling owner counts; `anyOwner` takes all owners of the kind.
 * Both sides of an update count, so that an object that changes hands wakes both owners.
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

/** The keys of an object's owners of one kind, whatever version the reference names. */
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

/** Whatever `map` says is reconciled; it sees the object before and after an update. */
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
