import {
  type Cluster,
  Clusters,
  clusterNameLabel,
  deferUpgradeAnnotation,
  holdUpgradeSequenceAnnotation,
  type MachineDeployment,
  type MachineDeploymentClass,
  type MachineDeploymentTopology,
  type NodeDeletion,
  topologyDeploymentNameLabel,
  topologyOwnedLabel,
} from '../../../api/index.ts';
import { parseApiVersion, type UnstructuredObject } from '../../../machinery/index.ts';
import { ownerReference } from '../../shared/index.ts';

export interface DeploymentInput {
  cluster: Cluster;
  class: MachineDeploymentClass;
  topology: MachineDeploymentTopology;
  name: string;
  version: string;
  bootstrapTemplate: UnstructuredObject;
  infrastructureTemplate: UnstructuredObject;
}

const withoutUndefined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;

const unlessEmpty = <T extends object>(value: T): T | undefined => (Object.keys(value).length > 0 ? value : undefined);

/** Builds a MachineDeployment; the topology entry overrides its class. */
export function deploymentOf(input: DeploymentInput): MachineDeployment {
  const { cluster, class: ofClass, topology, name, version } = input;
  const clusterName = cluster.metadata.name ?? '';
  const selector = {
    [clusterNameLabel]: clusterName,
    [topologyOwnedLabel]: '',
    [topologyDeploymentNameLabel]: topology.name,
  };
  const labels = { ...ofClass.metadata?.labels, ...topology.metadata?.labels, ...selector };
  const {
    [deferUpgradeAnnotation]: _,
    [holdUpgradeSequenceAnnotation]: __,
    ...annotations
  } = { ...ofClass.metadata?.annotations, ...topology.metadata?.annotations };
  const withAnnotations = unlessEmpty(annotations) && { annotations };
  const { order, ...timeouts } = { ...ofClass.deletion, ...topology.deletion };
  const deletion: NodeDeletion | undefined = unlessEmpty(timeouts);
  const rollout = unlessEmpty(withoutUndefined({ ...ofClass.rollout, ...topology.rollout }));
  const maxInFlight = topology.healthCheck?.remediation?.maxInFlight ?? ofClass.healthCheck?.remediation?.maxInFlight;
  const reference = ({ apiVersion, kind, metadata }: UnstructuredObject) => ({
    apiGroup: parseApiVersion(apiVersion).group,
    kind,
    name: metadata.name ?? '',
  });
  return {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineDeployment',
    metadata: {
      name,
      namespace: cluster.metadata.namespace ?? '',
      labels,
      ...withAnnotations,
      ownerReferences: [ownerReference(cluster, Clusters)],
    },
    spec: withoutUndefined({
      clusterName,
      replicas: topology.replicas,
      rollout,
      selector: { matchLabels: selector },
      deletion: order === undefined ? undefined : { order },
      remediation: maxInFlight === undefined ? undefined : { maxInFlight },
      template: {
        metadata: { labels, ...withAnnotations },
        spec: withoutUndefined({
          clusterName,
          version,
          bootstrap: { configRef: reference(input.bootstrapTemplate) },
          infrastructureRef: reference(input.infrastructureTemplate),
          failureDomain: topology.failureDomain ?? ofClass.failureDomain,
          minReadySeconds: topology.minReadySeconds ?? ofClass.minReadySeconds,
          readinessGates: topology.readinessGates ?? ofClass.readinessGates,
          taints: topology.taints ?? ofClass.taints,
          deletion,
        }),
      },
    }) as MachineDeployment['spec'],
  };
}
