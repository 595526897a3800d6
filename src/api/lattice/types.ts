import type { JsonObject, KubeObject } from '../../machinery/index.ts';
import type { StatusCondition } from '../cluster/types.ts';

export type LatticeBootstrap = 'kubeadm' | 'rke2';

export interface LatticeSecretReference {
  name: string;
  namespace?: string;
}

export interface LatticeRootVolume {
  sizeGb: number;
  type?: string;
}

export interface LatticeInstanceType {
  name: string;
}

/** Settings of an OpenStack cluster. The type has the fields of two revisions; `latticeSettings` reads both. */
export interface LatticeOpenStackConfig {
  externalNetworkId?: string;
  externalNetwork?: string;
  cpFlavor?: string;
  workerFlavor?: string;
  imageName: string;
  sshKeyName: string;
  cloudName?: string;
  secretRef?: LatticeSecretReference;
  dnsNameservers?: string[];
  nodeCidr?: string;
  apiServerLoadBalancerFlavor?: string;
  cpAvailabilityZone?: string;
  workerAvailabilityZone?: string;
  cpRootVolumeSizeGb?: number;
  cpRootVolumeType?: string;
  workerRootVolumeSizeGb?: number;
  workerRootVolumeType?: string;
  managedSecurityGroups?: boolean;
  allowAllInClusterTraffic?: boolean;
  sshAuthorizedKeys?: string[];
}

export interface LatticeProviderConfig {
  docker?: JsonObject;
  proxmox?: JsonObject;
  aws?: JsonObject;
  openstack?: LatticeOpenStackConfig;
}

export interface LatticeProvider {
  kubernetes: { version: string; bootstrap?: LatticeBootstrap; certSANs?: string[] };
  config: LatticeProviderConfig;
  credentialsSecretRef?: LatticeSecretReference;
}

/** The control plane in the later revision; the earlier revision has only the number. */
export interface LatticeControlPlaneNodes {
  replicas: number;
  instanceType?: LatticeInstanceType;
  rootVolume?: LatticeRootVolume;
}

export interface LatticeTaint {
  key: string;
  value?: string;
  effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

export interface LatticeWorkerPool {
  replicas: number;
  displayName?: string;
  nodeClass?: string;
  labels?: Record<string, string>;
  taints?: LatticeTaint[];
  /** together with `max`: an autoscaler owns the number of nodes */
  min?: number;
  max?: number;
  instanceType?: LatticeInstanceType;
  rootVolume?: LatticeRootVolume;
}

export interface LatticeEndpoints {
  host?: string;
  grpcPort?: number;
  bootstrapPort?: number;
  proxyPort?: number;
  service?: { type?: 'ClusterIP' | 'NodePort' | 'LoadBalancer' };
}

export interface LatticeClusterSpec {
  providerRef?: string;
  provider: LatticeProvider;
  nodes: {
    controlPlane: number | LatticeControlPlaneNodes;
    workerPools?: Record<string, LatticeWorkerPool>;
  };
  networking?: { default?: { cidr?: string } };
  /** alias of parentConfig */
  endpoints?: LatticeEndpoints;
  parentConfig?: LatticeEndpoints;
  environment?: string;
  region?: string;
  workload?: { services?: JsonObject[] };
}

export type LatticePhase = 'Pending' | 'Provisioning' | 'Pivoting' | 'Ready' | 'Deleting' | 'Unpivoting' | 'Failed';

export interface LatticePoolStatus {
  desiredReplicas?: number;
  currentReplicas?: number;
  readyReplicas?: number;
  autoscalingEnabled?: boolean;
  message?: string;
}

export interface LatticeClusterStatus {
  observedGeneration?: number;
  phase?: LatticePhase;
  message?: string;
  conditions?: StatusCondition[];
  readyControlPlane?: number;
  readyWorkers?: number;
  workerPools?: Record<string, LatticePoolStatus>;
  endpoint?: string;
  pivotComplete?: boolean;
  bootstrapComplete?: boolean;
  unpivotPending?: boolean;
}

export interface LatticeCluster extends KubeObject {
  spec: LatticeClusterSpec;
  status?: LatticeClusterStatus;
}
