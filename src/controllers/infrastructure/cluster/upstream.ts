import { Clusters, type OpenStackCluster } from '../../../api/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import type { CloudAccess } from '../common/clouds.ts';
import { clusterBase, openStackClusterFinalizer, upstreamClusterDescription } from '../common/names.ts';
import { carriesMark, type Describable } from '../common/ownership.ts';
import { ownsUpstreams } from '../common/upstream.ts';
import type { ClusterScope } from './scope.ts';

/**
 * Tells whether upstream's resources with this cluster's names belong to it. Upstream joins namespace and name with a
 * dash, so clusters of different namespaces can share a name; then neither gets them.
 */
export function ownsUpstreamsResources(
  { cache }: Pick<ReconcileContext, 'cache'>,
  openStackCluster: OpenStackCluster,
  { clusterName, access }: { clusterName: string; access: Pick<CloudAccess, 'begunUntil'> },
): boolean {
  const isRecorded = openStackCluster.status?.network?.id !== undefined;
  const begun = { object: openStackCluster, finalizer: openStackClusterFinalizer, isRecorded };
  if (!ownsUpstreams(begun, access)) return false;
  const { namespace: own = '' } = openStackCluster.metadata;
  const base = clusterBase(own, clusterName);
  return !cache
    .lister(Clusters)
    .list({
      filter: ({ metadata: { namespace = '', name = '' } }) =>
        namespace !== own && clusterBase(namespace, name) === base,
    })
    .some(() => true);
}

/** Tells whether a resource was created for this cluster, by our mark or upstream's description. */
export function isMadeFor(
  scope: Pick<ClusterScope, 'owner' | 'base' | 'isBegunByUpstream'>,
  resource: Describable,
): boolean {
  const { owner, base, isBegunByUpstream: counts } = scope;
  return carriesMark(resource, owner) || (counts && resource.description === upstreamClusterDescription(base));
}
