import { type ClusterClass, ClusterClasses, Clusters } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import { parseApiVersion, type UnstructuredObject } from '../../../machinery/index.ts';
import { classKeyOf, hasTopology, indexValue, templatesOf } from '../common.ts';

interface NamespacedName {
  namespace: string;
  name: string;
}

/** Lists Clusters affected by an edit of Clusters, classes and templates; edited Clusters come first. */
export async function concernedClusters(
  client: Client,
  edited: readonly UnstructuredObject[],
  signal: AbortSignal,
): Promise<NamespacedName[]> {
  const keyOf = ({ metadata: { namespace = '', name = '' } }: UnstructuredObject): NamespacedName => ({
    namespace,
    name,
  });
  const ofKind = (kind: string): UnstructuredObject[] =>
    edited.filter((object) => object.kind === kind && parseApiVersion(object.apiVersion).group === Clusters.group);
  const found = ofKind(Clusters.kind).filter(declaresTopology).map(keyOf);
  const classes = new Set(ofKind(ClusterClasses.kind).map((object) => indexValue(keyOf(object))));
  const stored = await client.list(ClusterClasses, { signal });
  for (const clusterClass of stored.items) {
    const { namespace = '', name = '' } = clusterClass.metadata;
    if (edited.some((object) => isTemplateOf(clusterClass, object))) classes.add(indexValue({ namespace, name }));
  }
  if (classes.size === 0) return found;
  const clusters = await client.list(Clusters, { signal });
  for (const cluster of clusters.items) {
    const { namespace = '', name = '' } = cluster.metadata;
    if (!hasTopology(cluster) || !classes.has(indexValue(classKeyOf(cluster)))) continue;
    if (!found.some((one) => one.namespace === namespace && one.name === name)) found.push({ namespace, name });
  }
  return found;
}

const declaresTopology = ({ spec }: UnstructuredObject): boolean =>
  typeof spec === 'object' && spec !== null && 'topology' in spec;

function isTemplateOf(clusterClass: ClusterClass, { apiVersion, kind, metadata }: UnstructuredObject): boolean {
  if (metadata.namespace !== clusterClass.metadata.namespace) return false;
  const { group } = parseApiVersion(apiVersion);
  return templatesOf(clusterClass).some(
    (reference) =>
      reference.kind === kind &&
      reference.name === metadata.name &&
      parseApiVersion(reference.apiVersion).group === group,
  );
}
