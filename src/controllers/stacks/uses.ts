import { type Cluster, parseStackId, releaseNameOf, type StackId } from '../../api/index.ts';

/** The release of a stack that a Cluster uses. */
export interface StackUse {
  /** namespace of class and release */
  readonly namespace: string;
  readonly id: StackId;
  /** name of the ClusterStackRelease */
  readonly release: string;
}

/** Returns the release a Cluster uses, derived from the name of its class; undefined for other classes. */
export function stackUseOf(cluster: Pick<Cluster, 'metadata' | 'spec'>): StackUse | undefined {
  const classRef = cluster.spec?.topology?.classRef;
  const id = classRef?.name === undefined ? undefined : parseStackId(classRef.name);
  if (id === undefined) return undefined;
  return {
    namespace: classRef?.namespace || (cluster.metadata.namespace ?? ''),
    id,
    release: releaseNameOf(id),
  };
}

/** Lists Clusters for messages, with their namespace if it differs. */
export function clusterNames(clusters: readonly Cluster[], namespace: string | undefined): string {
  const limit = 10;
  const names = clusters.map(({ metadata }) =>
    metadata.namespace === namespace ? `${metadata.name}` : `${metadata.namespace}/${metadata.name}`,
  );
  const shown = names.sort().slice(0, limit).join(', ');
  return names.length > limit ? `${shown} and ${names.length - limit} more` : shown;
}
