/**
 * Labels of the CustomResourceDefinitions of a provider: clusterctl looks for objects to move among the definitions
 * that carry its label, and Cluster API finds by contract which version of a kind to read.
 */
export function contractLabels(
  provider: string,
  v1beta1: string = 'v1beta1',
  v1beta2: string = 'v1beta2',
): Readonly<Record<string, string>> {
  return {
    'clusterctl.cluster.x-k8s.io': '',
    'cluster.x-k8s.io/provider': provider,
    'cluster.x-k8s.io/v1beta1': v1beta1,
    'cluster.x-k8s.io/v1beta2': v1beta2,
  };
}
