import type { KubeObject } from '../../machinery/index.ts';
import type { KubeadmConfigSpec } from '../bootstrap/types.ts';
import type {
  ConditionGate,
  ContractReference,
  DeprecatedCondition,
  MachineTaint,
  NodeDeletion,
  ReplicaVersion,
  StatusCondition,
  TemplateMetadata,
} from '../cluster/types.ts';

export interface KubeadmControlPlaneMachineTemplate {
  metadata?: TemplateMetadata;
  spec: {
    infrastructureRef: ContractReference;
    readinessGates?: ConditionGate[];
    deletion?: NodeDeletion;
    taints?: MachineTaint[];
  };
}

export interface KubeadmControlPlaneRollout {
  before?: { certificatesExpiryDays?: number };
  after?: string;
  strategy?: { type: 'RollingUpdate'; rollingUpdate?: { maxSurge?: number | string } };
}

export interface KubeadmControlPlaneRemediation {
  maxRetry?: number;
  retryPeriodSeconds?: number;
  minHealthyPeriodSeconds?: number;
}

export interface KubeadmControlPlaneSpec {
  replicas?: number;
  version: string;
  machineTemplate: KubeadmControlPlaneMachineTemplate;
  kubeadmConfigSpec?: KubeadmConfigSpec;
  rollout?: KubeadmControlPlaneRollout;
  remediation?: KubeadmControlPlaneRemediation;
  machineNaming?: { template?: string };
}

export interface LastRemediation {
  machine: string;
  time: string;
  retryCount: number;
}

export interface KubeadmControlPlaneStatus {
  conditions?: StatusCondition[];
  initialization?: { controlPlaneInitialized?: boolean };
  selector?: string;
  replicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  upToDateReplicas?: number;
  /** the lowest Kubernetes version among the machines */
  version?: string;
  versions?: ReplicaVersion[];
  observedGeneration?: number;
  lastRemediation?: LastRemediation;
  deprecated?: {
    v1beta1?: {
      conditions?: DeprecatedCondition[];
      failureReason?: string;
      failureMessage?: string;
      readyReplicas?: number;
      updatedReplicas?: number;
      unavailableReplicas?: number;
    };
  };
}

export interface KubeadmControlPlane extends KubeObject {
  spec: KubeadmControlPlaneSpec;
  status?: KubeadmControlPlaneStatus;
}

/** Fields that a class may set: all except replicas, version and infrastructure. */
export interface KubeadmControlPlaneTemplateResourceSpec {
  machineTemplate?: {
    metadata?: TemplateMetadata;
    spec?: { deletion?: NodeDeletion; taints?: MachineTaint[] };
  };
  kubeadmConfigSpec?: KubeadmConfigSpec;
  rollout?: KubeadmControlPlaneRollout;
  remediation?: KubeadmControlPlaneRemediation;
  machineNaming?: { template?: string };
}

export interface KubeadmControlPlaneTemplateSpec {
  template: { metadata?: TemplateMetadata; spec?: KubeadmControlPlaneTemplateResourceSpec };
}

export interface KubeadmControlPlaneTemplate extends KubeObject {
  spec: KubeadmControlPlaneTemplateSpec;
}
