import { Clusters, type OpenStackCluster } from '../../../api/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import type { CloudAccess } from '../common/clouds.ts';
import { clusterBase, openStackClusterFinalizer, upstreamClusterDescription } from '../common/names.ts';
import { carriesMark, type Describable } from '../common/ownership.ts';
import { ownsUpstreams } from '../common/upstream.ts';
import type { ClusterScope } from './scope.ts';

/**
 * Whether what upstream's provider made under the names of this cluster is this cluster's. Namespace and name are written in one
 * word there, which two clusters of two namespaces can share: then nobody is given what only the word says to be theirs.
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

/** By our mark, or by the words upstream's provider writes on what it makes for a cluster. */
export function isMadeFor(
  scope: Pick<ClusterScope, 'owner' | 'base' | 'isBegunByUpstream'>,
  resource: Describable,
): boolean {
  const { owner, base, isBegunByUpstream: counts } = scope;
  return carriesMark(resource, owner) || (counts && resource.description === upstreamClusterDescription(base));
}
