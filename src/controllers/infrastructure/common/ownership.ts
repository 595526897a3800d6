import type { KubeObject } from '../../../machinery/index.ts';
import { ownerMarkAnnotation } from './names.ts';

/** Anything in a cloud that can carry a mark in its description. */
export interface Describable {
  readonly description: string | undefined;
}

/** The word an object's cloud resources are marked with: recorded before the first of them is made. */
export function ownerId(object: KubeObject): string {
  return object.metadata.annotations?.[ownerMarkAnnotation] ?? object.metadata.uid ?? '';
}

/** How a resource says whose it is; `role` tells apart resources of one kind and owner. */
export function ownerMark(id: string, role?: string): string {
  return role === undefined ? `[owner ${id}]` : `[owner ${id} ${role}]`;
}

/** Whether a resource carries a mark of this owner: made by us, for this object. An empty owner owns nothing. */
export function carriesMark(resource: Describable, id: string, role?: string): boolean {
  return id !== '' && resource.description?.endsWith(ownerMark(id, role)) === true;
}

const markPattern = /\[owner ([0-9a-f-]+)(?: ([^\]]+))?\]$/;

/** The mark at the end of a description: who owns the resource, and as what. */
export function markOf({ description }: Describable): { owner: string; role: string | undefined } | undefined {
  const [, owner, role] = markPattern.exec(description ?? '') ?? [];
  return owner === undefined ? undefined : { owner, role };
}

/** Whether a resource carries a mark of anybody: then it is theirs. */
export function isMarked({ description }: Describable): boolean {
  return description?.includes('[owner ') === true;
}

/** What may be changed and deleted: what carries the mark, or is recorded in our status. */
export function isOurs(
  resource: Describable & { readonly id: string },
  id: string,
  options: { readonly recordedId?: string | undefined; readonly role?: string } = {},
): boolean {
  return (
    carriesMark(resource, id, options.role) || (options.recordedId !== undefined && resource.id === options.recordedId)
  );
}

/** An object's annotations with the mark recorded; the same when it is there already. */
export function withOwnerMark(object: KubeObject): Record<string, string> {
  const annotations = object.metadata.annotations ?? {};
  if (annotations[ownerMarkAnnotation] !== undefined) return annotations;
  return { ...annotations, [ownerMarkAnnotation]: object.metadata.uid ?? '' };
}
