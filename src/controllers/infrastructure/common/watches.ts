import type { IdentityReference } from '../../../api/index.ts';
import type { InformerFactory, ObjectKey } from '../../../client/index.ts';
import { objectKey } from '../../../client/index.ts';
import type { KubeObject, Resource } from '../../../machinery/index.ts';
import type { ExternalSource } from '../../../runtime/index.ts';
import { identityIndexValue } from './credentials.ts';
import type { InfrastructureDependencies } from './dependencies.ts';

/** Index by the credentials an object uses. */
export const byIdentity = 'identity';

/** Registers the index; called in a controller's `setup`. */
export function indexByIdentity<T extends KubeObject>(
  cache: InformerFactory,
  resource: Resource<T>,
  identityOf: (object: T) => IdentityReference | undefined,
): void {
  cache.informer(resource).addIndexer(byIdentity, (object) => {
    const identity = identityOf(object);
    return identity ? [identityIndexValue(identity, object.metadata.namespace ?? '')] : [];
  });
}

/** Enqueues the objects of a resource whose credentials changed; requires `indexByIdentity`. */
export function rotationSource<T extends KubeObject>(
  { clouds, cache }: InfrastructureDependencies,
  resource: Resource<T>,
): ExternalSource {
  return clouds.rotationSource((identity): ObjectKey[] =>
    cache.lister(resource).byIndex(byIdentity, identity).map(objectKey),
  );
}
