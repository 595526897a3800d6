import { type Cluster, type ClusterResourceSet, ClusterResourceSets, Clusters } from '../../api/index.ts';
import { type KubeObject, labelSelectorFromObject } from '../../machinery/index.ts';
import type { CacheReader } from '../../runtime/index.ts';
import { isDeleting, isFilteredOut, pausedAnnotation } from '../shared/index.ts';

/** Tells whether a set selects a cluster. As upstream, an empty selector selects nothing. */
export function selects({ spec }: ClusterResourceSet, { metadata }: Cluster): boolean {
  const selector = labelSelectorFromObject(spec.clusterSelector);
  return !selector.empty && selector.matches(metadata.labels ?? {});
}

const byName = (a: KubeObject, b: KubeObject): number => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);

/** Lists the sets that select a cluster, in a stable order. */
export function setsOf(cache: CacheReader, cluster: Cluster, watchFilter: string | undefined): ClusterResourceSet[] {
  const { namespace = '' } = cluster.metadata;
  return cache
    .lister(ClusterResourceSets)
    .list({
      namespace,
      filter: (set) =>
        !isDeleting(set) &&
        !isFilteredOut(set, watchFilter) &&
        set.metadata.annotations?.[pausedAnnotation] === undefined &&
        selects(set, cluster),
    })
    .sort(byName);
}

export function clustersOf(cache: CacheReader, set: ClusterResourceSet): Cluster[] {
  const { namespace = '' } = set.metadata;
  return cache
    .lister(Clusters)
    .list({ namespace, filter: (cluster) => !isDeleting(cluster) && selects(set, cluster) })
    .sort(byName);
}
