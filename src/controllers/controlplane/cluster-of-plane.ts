import { type Cluster, Clusters, clusterNameLabel } from '../../api/index.ts';
import type { ObjectKey } from '../../client/index.ts';
import type { KubeObject, Resource } from '../../machinery/index.ts';
import type { CacheReader, Predicate } from '../../runtime/index.ts';
import { clusterChanged, ownerOf } from '../shared/index.ts';

// Mapping between hosted control planes and their Clusters.

/** Cluster changes that affect its hosted control plane. */
export const relevantClusterChange: Predicate<Cluster> = clusterChanged(
  'paused',
  'deletion',
  'endpoint',
  'network',
  'infrastructureRef',
);

/** Maps a Cluster to its control plane if that is of this kind. */
export function controlPlanesOf({ metadata, spec }: Cluster, resource: Resource): ObjectKey[] {
  const reference = spec.controlPlaneRef;
  if (reference?.kind !== resource.kind || reference.apiGroup !== resource.group) return [];
  return [{ namespace: metadata.namespace ?? '', name: reference.name }];
}

export interface ClusterOfPlane {
  /** undefined until a Cluster owns the control plane */
  readonly clusterName: string | undefined;
  /** also undefined once the Cluster is gone */
  readonly cluster: Cluster | undefined;
}

/**
 * Finds the Cluster that owns a control plane. After a move, the label identifies it before the owner reference is set.
 */
export function clusterOfPlane(cache: CacheReader, controlPlane: KubeObject): ClusterOfPlane {
  const { namespace = '', labels } = controlPlane.metadata;
  const clusterName = ownerOf(controlPlane, Clusters)?.name ?? labels?.[clusterNameLabel];
  return {
    clusterName,
    cluster: clusterName === undefined ? undefined : cache.lister(Clusters).get({ namespace, name: clusterName }),
  };
}
