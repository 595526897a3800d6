import type { KubeObject } from '../../../machinery/index.ts';
import { begunByAnnotation, ownerMarkAnnotation, upstreamProvider } from './names.ts';

// Objects that upstream's provider had begun with, before this program took them over. What it made for them is known by its names
// and texts alone: it marks nothing. That these count is recorded together with our own mark, from which moment on the object would
// look like any other.

/** Upstream's provider has made, or may have made, something for this object. Ours writes its finalizer and its mark together. */
export function isBegunByUpstream({ metadata }: KubeObject, finalizer: string): boolean {
  const { annotations, finalizers } = metadata;
  if (annotations?.[begunByAnnotation] === upstreamProvider) return true;
  return finalizers?.includes(finalizer) === true && annotations?.[ownerMarkAnnotation] === undefined;
}

/** The annotation that records it; none for an object that began here. */
export function withBeginner(object: KubeObject, finalizer: string): Record<string, string> {
  return isBegunByUpstream(object, finalizer) ? { [begunByAnnotation]: upstreamProvider } : {};
}
