import { type ClusterClass, ClusterClasses, type CrossReference, offeredToAnnotation } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { mayRefer, referrer } from '../shared/index.ts';
import { classKeyOf, type TopologyCluster } from './common.ts';

const everyNamespace = '*';

/** Whether a class says itself that a namespace may use it. */
function isOffered({ metadata }: ClusterClass, namespace: string | undefined): boolean {
  const names = metadata.annotations?.[offeredToAnnotation]?.split(',').map((name) => name.trim()) ?? [];
  return names.includes(everyNamespace) || names.includes(namespace ?? '');
}

/** The class of a Cluster, as something that is named across namespaces. */
export function classReference(cluster: TopologyCluster): CrossReference {
  return {
    from: referrer(cluster),
    to: { group: ClusterClasses.group, kind: ClusterClasses.kind, ...classKeyOf(cluster) },
  };
}

/** Whether a Cluster may use its class: one of its own namespace, one that is offered to it, or one with a grant. */
export async function mayUseClass(
  client: Client,
  cluster: TopologyCluster,
  found: ClusterClass | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  if (found && isOffered(found, cluster.metadata.namespace)) return true;
  return mayRefer(client, classReference(cluster), signal);
}
