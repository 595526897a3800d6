/**
 * Returns labels for the CustomResourceDefinitions of a provider. clusterctl uses the label to find objects to move,
 * and Cluster API uses it to find the version for a contract.
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
