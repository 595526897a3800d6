import {
  type ClassHealthCheck,
  type Cluster,
  Clusters,
  controlPlaneLabel,
  definesHealthCheck,
  type MachineDeploymentRemediation,
  type MachineHealthCheck,
  type TopologyHealthCheck,
  topologyDeploymentNameLabel,
  topologyOwnedLabel,
} from '../../../api/index.ts';
import { ownerReference } from '../../shared/index.ts';

type Check = ClassHealthCheck<MachineDeploymentRemediation>;

/** Which health check applies: that of the topology where it says anything, else that of the class; none where it is off. */
export function chosenHealthCheck(
  ofClass: Check | undefined,
  ofTopology: TopologyHealthCheck<MachineDeploymentRemediation> | undefined,
): Check | undefined {
  const defined = definesHealthCheck(ofTopology) ? ofTopology : definesHealthCheck(ofClass) ? ofClass : undefined;
  const enabled = ofTopology?.enabled ?? defined !== undefined;
  return enabled ? (defined ?? {}) : undefined;
}

/** The health check of the machines of a control plane or, with a name in the topology, of workers. */
export function healthCheckOf(
  cluster: Cluster,
  name: string,
  { checks, remediation }: Check,
  workers?: string,
): MachineHealthCheck {
  // the limit is the MachineDeployment's to keep
  const { maxInFlight: _, ...rest } = remediation ?? {};
  return {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineHealthCheck',
    metadata: {
      name,
      namespace: cluster.metadata.namespace ?? '',
      labels: { [topologyOwnedLabel]: '' },
      ownerReferences: [ownerReference(cluster, Clusters)],
    },
    spec: {
      clusterName: cluster.metadata.name ?? '',
      selector: {
        matchLabels: {
          [topologyOwnedLabel]: '',
          ...(workers === undefined ? { [controlPlaneLabel]: '' } : { [topologyDeploymentNameLabel]: workers }),
        },
      },
      ...(checks && { checks }),
      ...(Object.keys(rest).length > 0 && { remediation: rest }),
    },
  };
}
