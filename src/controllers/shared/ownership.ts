import {
  formatApiVersion,
  type KubeObject,
  type OwnerReference,
  parseApiVersion,
  type Resource,
} from '../../machinery/index.ts';

/**
 * Builds an owner reference; not controlling by default. `blockOwnerDeletion` is set, so owners wait for owned objects.
 */
export function ownerReference(
  owner: KubeObject,
  resource: Resource,
  options: { controller?: boolean } = {},
): OwnerReference {
  return {
    apiVersion: formatApiVersion(resource.group, resource.version),
    kind: resource.kind,
    name: owner.metadata.name ?? '',
    uid: owner.metadata.uid ?? '',
    ...(options.controller === true && { controller: true, blockOwnerDeletion: true }),
  };
}

const sameOwner = (a: OwnerReference, b: OwnerReference): boolean =>
  a.kind === b.kind && a.name === b.name && parseApiVersion(a.apiVersion).group === parseApiVersion(b.apiVersion).group;

/** Adds an owner or updates its API version and uid; returns the same list if nothing changed. */
export function withOwner(
  owners: readonly OwnerReference[] | undefined,
  wanted: OwnerReference,
): readonly OwnerReference[] {
  const list = owners ?? [];
  const index = list.findIndex((owner) => sameOwner(owner, wanted));
  const old = list[index];
  if (!old) return [...list, wanted];
  const next: OwnerReference = {
    ...wanted,
    // keep blockOwnerDeletion as others set it
    ...(wanted.blockOwnerDeletion === undefined &&
      old.blockOwnerDeletion !== undefined && { blockOwnerDeletion: old.blockOwnerDeletion }),
    ...(wanted.controller === undefined && old.controller !== undefined && { controller: old.controller }),
  };
  if (
    old.apiVersion === next.apiVersion &&
    old.uid === next.uid &&
    old.controller === next.controller &&
    old.blockOwnerDeletion === next.blockOwnerDeletion
  ) {
    return list;
  }
  const copy = [...list];
  copy[index] = next;
  return copy;
}

export function withoutOwner(
  owners: readonly OwnerReference[] | undefined,
  unwanted: (owner: OwnerReference) => boolean,
): readonly OwnerReference[] {
  const list = owners ?? [];
  return list.some(unwanted) ? list.filter((owner) => !unwanted(owner)) : list;
}

/** Returns the controlling owner if it is of the given kind. */
export function controllerOf(object: KubeObject, resource?: Resource): OwnerReference | undefined {
  const owner = object.metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner && (!resource || isOf(owner, resource)) ? owner : undefined;
}

export function ownerOf(object: KubeObject, resource: Resource): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((owner) => isOf(owner, resource));
}

export function isOf(owner: OwnerReference, resource: Resource): boolean {
  return owner.kind === resource.kind && parseApiVersion(owner.apiVersion).group === resource.group;
}

export const isControlledBy = (object: KubeObject, owner: KubeObject): boolean =>
  controllerOf(object)?.uid === owner.metadata.uid;

export const isOwnedBy = (object: KubeObject, owner: KubeObject): boolean =>
  object.metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) === true;

export const isDeleting = (object: KubeObject): boolean => object.metadata.deletionTimestamp !== undefined;
