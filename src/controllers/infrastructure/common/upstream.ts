import type { IdentityReference } from '../../../api/index.ts';
import type { KubeObject } from '../../../machinery/index.ts';
import type { CloudAccess } from './clouds.ts';
import { begunByAnnotation, begunUntilAnnotation, ownerMarkAnnotation, upstreamProvider } from './names.ts';
import { CloudFault } from './outcomes.ts';

// Objects that upstream's provider had begun with, before this program took them over. What it made for them is known by its names
// and texts alone: it marks nothing. That these count is recorded together with our own mark, from which moment on the object would
// look like any other.

/** Upstream's provider has made, or may have made, something for this object. Ours writes its finalizer and its mark together. */
export function isBegunByUpstream({ metadata }: KubeObject, finalizer: string): boolean {
  const { annotations, finalizers } = metadata;
  if (annotations?.[begunByAnnotation] === upstreamProvider) return true;
  return finalizers?.includes(finalizer) === true && annotations?.[ownerMarkAnnotation] === undefined;
}

interface Begun {
  readonly object: KubeObject & { readonly spec: { readonly identityRef: IdentityReference } };
  readonly finalizer: string;
  /** the object says itself what is its own in the cloud: nothing has to be found by names */
  readonly isRecorded: boolean;
}

/**
 * Whether what upstream's provider made under the names of this object is this object's. Whoever may write objects can make one look begun by it: that
 * gains them nothing where the credentials are theirs, too. Of objects that use shared ones, only those count that were there before an administrator
 * said, on the identity, that upstream has stopped. Others would be made a second time: throws what has to be said first.
 */
export function ownsUpstreams(
  { object, finalizer, isRecorded }: Begun,
  { begunUntil }: Pick<CloudAccess, 'begunUntil'>,
): boolean {
  if (!isBegunByUpstream(object, finalizer)) return false;
  if (begunUntil === undefined) return true;
  const { creationTimestamp = '', deletionTimestamp } = object.metadata;
  if (Date.parse(creationTimestamp) <= begunUntil) return true;
  if (isRecorded || deletionTimestamp !== undefined) return false;
  throw new CloudFault(
    'BegunByUpstream',
    `${object.kind} ${object.metadata.name} looks begun by upstream's provider, and OpenStackClusterIdentity ${object.spec.identityRef.name} does not confirm it: ` +
      `annotate the identity with ${begunUntilAnnotation}, the time until which upstream's provider worked (this object is of ${creationTimestamp})`,
  );
}

/** The annotation that records it; none for an object that began here. */
export function withBeginner(object: KubeObject, finalizer: string): Record<string, string> {
  return isBegunByUpstream(object, finalizer) ? { [begunByAnnotation]: upstreamProvider } : {};
}
