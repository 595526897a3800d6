import { type ClusterClass, ClusterClasses, type CrossReference, offeredToAnnotation } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { mayRefer, missingGrant, referrer } from '../shared/index.ts';
import { classKeyOf, type TopologyCluster } from './common.ts';

const everyNamespace = '*';

/** Tells whether an annotation of the class offers it to a namespace. */
function isOffered({ metadata }: ClusterClass, namespace: string | undefined): boolean {
  const names = metadata.annotations?.[offeredToAnnotation]?.split(',').map((name) => name.trim()) ?? [];
  return names.includes(everyNamespace) || names.includes(namespace ?? '');
}

/** Builds the reference of a Cluster to its class, for grants. */
function classReference(cluster: TopologyCluster): CrossReference {
  return {
    from: referrer(cluster),
    to: { group: ClusterClasses.group, kind: ClusterClasses.kind, ...classKeyOf(cluster) },
  };
}

/**
 * Explains why a Cluster may not use its class. A user who may not use a class must not learn whether it exists, so the
 * text names both causes.
 */
export function classRefusal(cluster: TopologyCluster): string {
  return `${missingGrant(classReference(cluster))}, or it does not exist yet`;
}

/** Tells whether a Cluster may use its class: in the same namespace, offered to it, or with a grant. */
export async function mayUseClass(
  client: Client,
  cluster: TopologyCluster,
  found: ClusterClass | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  if (found && isOffered(found, cluster.metadata.namespace)) return true;
  return mayRefer(client, classReference(cluster), signal);
}
