import {
  type Cluster,
  Clusters,
  type K0smotronCluster,
  type K0smotronControlPlane,
  K0smotronControlPlanes,
  Services,
} from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { checkDns1035Label } from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { isOwnedBy, lastAppliedAnnotation, ownerOf, pausedAnnotation } from '../../shared/index.ts';
import type { K0smotronSpecInput } from './spec.ts';

/** Who stands above a plane: both for one that a K0smotronControlPlane has made, neither for a user's own. */
export interface PlaneFamily {
  readonly parent: K0smotronControlPlane | undefined;
  readonly cluster: Cluster | undefined;
}

export function familyOf({ cache }: Pick<ReconcileContext, 'cache'>, plane: K0smotronCluster): PlaneFamily {
  const owner = ownerOf(plane, K0smotronControlPlanes);
  if (!owner) return { parent: undefined, cluster: undefined };
  const { namespace = '' } = plane.metadata;
  const parent = cache.lister(K0smotronControlPlanes).get({ namespace, name: owner.name });
  // the plane has the name of the Cluster
  return { parent, cluster: cache.lister(Clusters).get(objectKey(plane)) };
}

/** Labels and annotations that all objects of a plane take over from it. */
export function inheritedMetadata({ metadata }: K0smotronCluster): K0smotronSpecInput['metadata'] {
  const { [lastAppliedAnnotation]: _, [pausedAnnotation]: __, ...annotations } = metadata.annotations ?? {};
  return { labels: metadata.labels ?? {}, annotations };
}

/**
 * The Service is looked for under the name of the control plane too, where guides say it is. A Service that somebody else
 * has under that name stays theirs, and a name that no Service may have is no reason to go without a plane.
 */
export function aliasServiceName(
  { cache }: Pick<ReconcileContext, 'cache'>,
  plane: K0smotronCluster,
  parent: K0smotronControlPlane | undefined,
): string | undefined {
  const name = parent?.metadata.name;
  if (name === undefined || plane.spec.service?.type !== 'LoadBalancer') return undefined;
  if (checkDns1035Label(name).length > 0) return undefined;
  const existing = cache.lister(Services).get({ namespace: plane.metadata.namespace ?? '', name });
  return existing && !isOwnedBy(existing, plane) ? undefined : name;
}
