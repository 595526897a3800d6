import {
  type Cluster,
  Clusters,
  type K0smotronCluster,
  K0smotronClusters,
  type K0smotronControlPlane,
  K0smotronControlPlanes,
  Services,
} from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { checkDns1035Label } from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { isOwnedBy, lastAppliedAnnotation, ownerOf, ownerReference, pausedAnnotation } from '../../shared/index.ts';
import type { K0smotronSpecInput } from './spec.ts';

/** Parent objects of a plane: both set if a K0smotronControlPlane created it, both undefined for a standalone one. */
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

/** Labels and annotations that the objects of a plane inherit from it. */
function inheritedMetadata({ metadata }: K0smotronCluster): K0smotronSpecInput['metadata'] {
  const { [lastAppliedAnnotation]: _, [pausedAnnotation]: __, ...annotations } = metadata.annotations ?? {};
  return { labels: metadata.labels ?? {}, annotations };
}

/**
 * Returns a second Service name, that of the control plane, because guides refer to the Service by it. No alias is
 * created if a foreign Service has the name or the name is not valid for a Service.
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

/** What a plane itself says of what is computed for it; its Cluster may add to that. */
export function inputOfPlane(plane: K0smotronCluster): K0smotronSpecInput {
  const { namespace = '', name = '' } = plane.metadata;
  return {
    namespace,
    clusterName: name,
    spec: plane.spec,
    owner: ownerReference(plane, K0smotronClusters, { controller: true }),
    metadata: inheritedMetadata(plane),
  };
}
