import {
  type Cluster,
  clusterNameLabel,
  type K0smotronCluster,
  K0smotronClusters,
  type K0smotronControlPlane,
  K0smotronControlPlanes,
} from '../../../api/index.ts';
import { formatApiVersion } from '../../../machinery/index.ts';
import { lastAppliedAnnotation, ownerReference } from '../../shared/index.ts';
import { planeFinalizer } from './names.ts';

/** Builds the k0smotron.io Cluster of a control plane, with the name of the Cluster API Cluster and the user's spec. */
export function childPlane(controlPlane: K0smotronControlPlane, cluster: Cluster): K0smotronCluster {
  const { spec, metadata } = controlPlane;
  const { [lastAppliedAnnotation]: _, ...annotations } = metadata.annotations ?? {};
  const clusterName = cluster.metadata.name ?? '';
  return {
    apiVersion: formatApiVersion(K0smotronClusters.group, K0smotronClusters.version),
    kind: K0smotronClusters.kind,
    metadata: {
      name: clusterName,
      namespace: cluster.metadata.namespace ?? '',
      labels: { ...metadata.labels, [clusterNameLabel]: clusterName },
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ownerReferences: [ownerReference(controlPlane, K0smotronControlPlanes, { controller: true })],
      finalizers: [planeFinalizer],
    },
    spec,
  };
}
