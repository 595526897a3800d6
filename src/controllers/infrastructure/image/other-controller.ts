import { builtInAnnotation, type Deployment, Deployments } from '../../../api/index.ts';
import type { CacheReader } from '../../../runtime/index.ts';

/** How the image of the OpenStack Resource Controller is called, wherever it is pulled from. */
const controllerImage = /(^|\/)openstack-resource-controller([:@]|$)/;

/** Where the OpenStack Resource Controller itself runs, Images are left to it. Answers where that is. */
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
