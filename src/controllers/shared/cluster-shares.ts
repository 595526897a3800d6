import {
  Clusters,
  clusterNameLabel,
  JoinTokenRequests,
  K0smotronClusters,
  OpenStackServers,
  TenantControlPlanes,
} from '../../api/index.ts';
import { formatKey, type ObjectKey } from '../../client/index.ts';
import type { KubeObject, Resource } from '../../machinery/index.ts';
import { type CacheReader, leaderShare, type ShareMap } from '../../runtime/index.ts';
import { ownerOf } from './ownership.ts';

/** Kinds that represent a cluster, or a main part of one, when used without a Cluster. */
const standalone: ReadonlySet<Resource> = new Set<Resource>([K0smotronClusters, TenantControlPlanes, OpenStackServers]);

/**
 * Assigns objects to shares: a whole cluster is one share, so one replica reconciles all its objects. Objects not yet
 * assigned to a cluster belong to the leader, and nothing is created for them in a cloud.
 */
export function clusterShares(cache: CacheReader): ShareMap {
  const shareOf = (resource: Resource, object: KubeObject): string => {
    const { namespace, name = '' } = object.metadata;
    if (namespace === undefined) return leaderShare;
    if (resource === Clusters) return formatKey({ namespace, name });
    const cluster = clusterOf(resource, object);
    if (resource === JoinTokenRequests && cluster !== undefined) {
      // refers to a plane, whose Cluster may have a different name
      const plane = cache.lister(K0smotronClusters).get({ namespace, name: cluster });
      if (plane) return shareOf(K0smotronClusters, plane);
    }
    if (cluster !== undefined) return formatKey({ namespace, name: cluster });
    return standalone.has(resource) ? formatKey({ namespace, name }) : leaderShare;
  };
  return {
    clusters: Clusters,
    shareOf,
    shareOfMissing: (resource: Resource, key: ObjectKey) => (resource === Clusters ? formatKey(key) : undefined),
  };
}

/** Prefers immutable fields, so that editing a label does not move an object to another replica. */
function clusterOf(resource: Resource, object: KubeObject): string | undefined {
  if (resource.group === Clusters.group || resource === JoinTokenRequests) {
    const { spec } = object as { spec?: { clusterName?: unknown } };
    if (typeof spec?.clusterName === 'string' && spec.clusterName !== '') return spec.clusterName;
  }
  return ownerOf(object, Clusters)?.name ?? object.metadata.labels?.[clusterNameLabel];
}
