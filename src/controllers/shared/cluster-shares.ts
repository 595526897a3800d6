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

/** Kinds that are clusters, or all there is of one, when they are made without a Cluster. */
const standalone: ReadonlySet<Resource> = new Set<Resource>([K0smotronClusters, TenantControlPlanes, OpenStackServers]);

/**
 * A whole cluster is one share, with everything that belongs to it: whoever works on one of its objects works on all of them.
 * What has not been given to a cluster yet is the leader's, and nothing is made for it in a cloud before it has been.
 */
export function clusterShares(cache: CacheReader): ShareMap {
  const shareOf = (resource: Resource, object: KubeObject): string => {
    const { namespace, name = '' } = object.metadata;
    if (namespace === undefined) return leaderShare;
    if (resource === Clusters) return formatKey({ namespace, name });
    const cluster = clusterOf(resource, object);
    if (resource === JoinTokenRequests && cluster !== undefined) {
      // it names a plane, which may belong to a Cluster of another name
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

/** What cannot change comes first: an object must not change hands because somebody edits a label. */
function clusterOf(resource: Resource, object: KubeObject): string | undefined {
  if (resource.group === Clusters.group || resource === JoinTokenRequests) {
    const { spec } = object as { spec?: { clusterName?: unknown } };
    if (typeof spec?.clusterName === 'string' && spec.clusterName !== '') return spec.clusterName;
  }
  return ownerOf(object, Clusters)?.name ?? object.metadata.labels?.[clusterNameLabel];
}
