import type { IdentityReference } from '../../../api/index.ts';
import type { KubeObject } from '../../../machinery/index.ts';
import type { CloudAccess } from './clouds.ts';
import { begunByAnnotation, begunUntilAnnotation, ownerMarkAnnotation, upstreamProvider } from './names.ts';
import { CloudFault } from './outcomes.ts';

// Objects taken over from upstream's provider. It sets no marks, so their resources are recognized only by names and
// descriptions. The takeover is recorded together with our own mark, because afterwards the object looks like any
// other.

/**
 * Tells whether upstream's provider may have created resources for this object. Capstan always writes its finalizer and
 * mark together.
 */
export function isBegunByUpstream({ metadata }: KubeObject, finalizer: string): boolean {
  const { annotations, finalizers } = metadata;
  if (annotations?.[begunByAnnotation] === upstreamProvider) return true;
  return finalizers?.includes(finalizer) === true && annotations?.[ownerMarkAnnotation] === undefined;
}

interface Begun {
  readonly object: KubeObject & { readonly spec: { readonly identityRef: IdentityReference } };
  readonly finalizer: string;
  /** the status records the object's cloud resources, so none have to be found by name */
  readonly isRecorded: boolean;
}

/**
 * Tells whether upstream's resources with this object's names belong to it. Security: a user can make an object look
 * taken over, which gains nothing with the user's own credentials. With shared credentials, only objects created before
 * the time an administrator set on the identity count. If that time is missing, duplicates would be created, so an
 * error explains what to set.
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

/** Returns the begun-by annotation; empty for an object that Capstan created. */
export function withBeginner(object: KubeObject, finalizer: string): Record<string, string> {
  return isBegunByUpstream(object, finalizer) ? { [begunByAnnotation]: upstreamProvider } : {};
}
