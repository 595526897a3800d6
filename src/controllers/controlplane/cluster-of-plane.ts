import { type Cluster, Clusters, clusterNameLabel } from '../../api/index.ts';
import type { ObjectKey } from '../../client/index.ts';
import type { KubeObject, Resource } from '../../machinery/index.ts';
import type { CacheReader, Predicate } from '../../runtime/index.ts';
import { clusterChanged, ownerOf } from '../shared/index.ts';

// How hosted control planes and their Clusters find each other.

/** A Cluster changes all the time; its hosted control plane cares for little of it. */
export const relevantClusterChange: Predicate<Cluster> = clusterChanged(
  'paused',
  'deletion',
  'endpoint',
  'network',
  'infrastructureRef',
);

/** The control plane of a Cluster, if it is of this kind. */
export function controlPlanesOf({ metadata, spec }: Cluster, resource: Resource): ObjectKey[] {
  const reference = spec.controlPlaneRef;
  if (reference?.kind !== resource.kind || reference.apiGroup !== resource.group) return [];
  return [{ namespace: metadata.namespace ?? '', name: reference.name }];
}

export interface ClusterOfPlane {
  /** undefined when nobody refers to the control plane yet */
  readonly clusterName: string | undefined;
  /** undefined also when it is gone */
  readonly cluster: Cluster | undefined;
}

/** The Cluster that has made itself the owner of a control plane; one that was moved here has a label before that. */
export function clusterOfPlane(cache: CacheReader, controlPlane: KubeObject): ClusterOfPlane {
  const { namespace = '', labels } = controlPlane.metadata;
  const clusterName = ownerOf(controlPlane, Clusters)?.name ?? labels?.[clusterNameLabel];
  return {
    clusterName,
    cluster: clusterName === undefined ? undefined : cache.lister(Clusters).get({ namespace, name: clusterName }),
  };
}
