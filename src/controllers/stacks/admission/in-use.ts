import {
  type Cluster,
  type ClusterStack,
  type ClusterStackRelease,
  inChannel,
  sameFamily,
} from '../../../api/index.ts';
import { clusterNames, stackUseOf } from '../uses.ts';

/** Returns why a ClusterStack cannot be deleted; undefined if it can. */
export function stackInUse({ metadata, spec }: ClusterStack, clusters: readonly Cluster[]): string | undefined {
  const users = clusters.filter((cluster) => {
    const use = stackUseOf(cluster);
    if (use === undefined || use.namespace !== metadata.namespace) return false;
    return sameFamily(use.id, spec) && inChannel(use.id.version, spec.channel ?? 'stable');
  });
  return refusal('ClusterStack', users, metadata.namespace);
}

/** Returns why a ClusterStackRelease cannot be deleted; undefined if it can. */
export function releaseInUse({ metadata }: ClusterStackRelease, clusters: readonly Cluster[]): string | undefined {
  const users = clusters.filter((cluster) => {
    const use = stackUseOf(cluster);
    return use?.release === metadata.name && use?.namespace === metadata.namespace;
  });
  return refusal('ClusterStackRelease', users, metadata.namespace);
}

function refusal(kind: string, users: readonly Cluster[], namespace: string | undefined): string | undefined {
  if (users.length === 0) return undefined;
  return `can't delete ${kind} as there are clusters using it: ${clusterNames(users, namespace)}`;
}
