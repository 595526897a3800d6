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

/** Returns the health check of the topology if it defines one, otherwise that of the class; undefined if disabled. */
export function chosenHealthCheck(
  ofClass: Check | undefined,
  ofTopology: TopologyHealthCheck<MachineDeploymentRemediation> | undefined,
): Check | undefined {
  const defined = definesHealthCheck(ofTopology) ? ofTopology : definesHealthCheck(ofClass) ? ofClass : undefined;
  const enabled = ofTopology?.enabled ?? defined !== undefined;
  return enabled ? (defined ?? {}) : undefined;
}

/** Builds the MachineHealthCheck of the control plane or, with a topology name, of workers. */
export function healthCheckOf(
  cluster: Cluster,
  name: string,
  { checks, remediation }: Check,
  workers?: string,
): MachineHealthCheck {
  // the MachineDeployment enforces maxInFlight
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
