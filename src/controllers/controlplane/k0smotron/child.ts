import {
  type Cluster,
  clusterNameLabel,
  type K0smotronCluster,
  type K0smotronControlPlane,
  k0smotronClusters,
  k0smotronControlPlanes,
} from '../../../api/index.ts';
import { formatApiVersion } from '../../../machinery/index.ts';
import { lastAppliedAnnotation, ownerReference } from '../../shared/index.ts';

/** The k0smotron.io Cluster a control plane of Cluster API makes, under the name of its Cluster: what the user wrote. */
export function childPlane(controlPlane: K0smotronControlPlane, cluster: Cluster): K0smotronCluster {
  const { spec, metadata } = controlPlane;
  const { [lastAppliedAnnotation]: _, ...annotations } = metadata.annotations ?? {};
  const clusterName = cluster.metadata.name ?? '';
  return {
    apiVersion: formatApiVersion(k0smotronClusters.group, k0smotronClusters.version),
    kind: k0smotronClusters.kind,
    metadata: {
      name: clusterName,
      namespace: cluster.metadata.namespace ?? '',
      labels: { ...metadata.labels, [clusterNameLabel]: clusterName },
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ownerReferences: [ownerReference(controlPlane, k0smotronControlPlanes, { controller: true })],
    },
    spec,
  };
}
