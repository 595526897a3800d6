import type { KubeObject } from '../../../machinery/index.ts';
import { ownerMarkAnnotation } from './names.ts';

/** A cloud resource with a description for a mark. */
export interface Describable {
  readonly description: string | undefined;
}

/** Returns the owner id in the marks of an object's cloud resources; recorded before the first one is created. */
export function ownerId(object: KubeObject): string {
  return object.metadata.annotations?.[ownerMarkAnnotation] ?? object.metadata.uid ?? '';
}

/** Builds the ownership mark; `role` distinguishes resources of one type and owner. */
export function ownerMark(id: string, role?: string): string {
  return role === undefined ? `[owner ${id}]` : `[owner ${id} ${role}]`;
}

/** Tells whether a resource has the mark of this owner. An empty owner owns nothing. */
export function carriesMark(resource: Describable, id: string, role?: string): boolean {
  return id !== '' && resource.description?.endsWith(ownerMark(id, role)) === true;
}

const markPattern = /\[owner ([0-9a-f-]+)(?: ([^\]]+))?\]$/;

/** Parses the mark at the end of a description into owner and role. */
export function markOf({ description }: Describable): { owner: string; role: string | undefined } | undefined {
  const [, owner, role] = markPattern.exec(description ?? '') ?? [];
  return owner === undefined ? undefined : { owner, role };
}

/** Tells whether a resource has a mark of any owner. */
export function isMarked({ description }: Describable): boolean {
  return description?.includes('[owner ') === true;
}

/** Tells whether a resource may be changed and deleted: it has our mark or is recorded in the status. */
export function isOurs(
  resource: Describable & { readonly id: string },
  id: string,
  options: { readonly recordedId?: string | undefined; readonly role?: string } = {},
): boolean {
  return (
    carriesMark(resource, id, options.role) || (options.recordedId !== undefined && resource.id === options.recordedId)
  );
}

/** Adds the mark to the annotations; returns the same object if it is there. */
export function withOwnerMark(object: KubeObject): Record<string, string> {
  const annotations = object.metadata.annotations ?? {};
  if (annotations[ownerMarkAnnotation] !== undefined) return annotations;
  return { ...annotations, [ownerMarkAnnotation]: object.metadata.uid ?? '' };
}
