import { type Cluster, parseStackId, releaseNameOf, type StackId } from '../../api/index.ts';

/** The release of a stack that a Cluster is made from. */
export interface StackUse {
  /** namespace of the class, and so of the release */
  readonly namespace: string;
  readonly id: StackId;
  /** name of the ClusterStackRelease */
  readonly release: string;
}

/** What a Cluster uses, as far as its class has the name of one; classes of others have other names. */
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

/** Clusters for messages: those of another namespace with it. */
export function clusterNames(clusters: readonly Cluster[], namespace: string | undefined): string {
  const limit = 10;
  const names = clusters.map(({ metadata }) =>
    metadata.namespace === namespace ? `${metadata.name}` : `${metadata.namespace}/${metadata.name}`,
  );
  const shown = names.sort().slice(0, limit).join(', ');
  return names.length > limit ? `${shown} and ${names.length - limit} more` : shown;
}
