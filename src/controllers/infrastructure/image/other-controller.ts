import { builtInAnnotation, type Deployment, Deployments } from '../../../api/index.ts';
import type { CacheReader } from '../../../runtime/index.ts';

/** Matches the container image of the OpenStack Resource Controller in any registry. */
const controllerImage = /(^|\/)openstack-resource-controller([:@]|$)/;

/** Detects a running OpenStack Resource Controller, to which Images are left. Returns its location. */
export function otherImageController(cache: CacheReader): string | undefined {
  const [found] = cache.lister(Deployments).list({ filter: isOther });
  return found && `${found.metadata.namespace}/${found.metadata.name}`;
}

export function isOther({ metadata, spec }: Deployment): boolean {
  return (
    metadata.annotations?.[builtInAnnotation] === undefined &&
    (spec?.replicas ?? 1) > 0 &&
    (spec?.template?.spec?.containers ?? []).some(({ image }) => controllerImage.test(image ?? ''))
  );
}
