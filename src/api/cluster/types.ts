import type { Condition, JsonValue, KubeObject } from '../../machinery/index.ts';

/** Reference to a provider object in the same namespace. The API version is looked up at run time. */
export interface ContractReference {
  apiGroup: string;
  kind: string;
  name: string;
}

/** Reference to a template, including the API version it was written for. */
export interface TemplateReference {
  apiVersion: string;
  kind: string;
  name: string;
}

/** A condition as the v1beta2 contract requires it. */
export interface StatusCondition extends Condition {
  reason: string;
  message: string;
  lastTransitionTime: string;
}

/** A condition of the v1beta1 contract, kept for clients that still read it. */
export interface DeprecatedCondition {
  type: string;
  status: string;
  severity?: string;
  lastTransitionTime: string;
  reason?: string;
  message?: string;
}

export interface ConditionGate {
  conditionType: string;
  polarity?: 'Positive' | 'Negative';
}

export interface TemplateMetadata {
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

export interface MachineTaint {
  key: string;
  value?: string;
  effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
  propagation: 'Always' | 'OnInitialization';
}

export interface NodeDeletion {
  nodeDrainTimeoutSeconds?: number;
  nodeVolumeDetachTimeoutSeconds?: number;
  nodeDeletionTimeoutSeconds?: number;
}

export type DeletionOrder = 'Random' | 'Newest' | 'Oldest';
export type RolloutType = 'RollingUpdate' | 'OnDelete';

export interface RolloutStrategy {
  type: RolloutType;
  rollingUpdate?: { maxSurge?: number | string; maxUnavailable?: number | string };
}

export interface UnhealthyNodeCondition {
  type: string;
  status: string;
  timeoutSeconds: number;
}

export interface UnhealthyMachineCondition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  timeoutSeconds: number;
}

export interface TopologyHealthCheck<Remediation = TopologyRemediation> {
  enabled?: boolean;
  checks?: {
    nodeStartupTimeoutSeconds?: number;
    unhealthyNodeConditions?: UnhealthyNodeCondition[];
    unhealthyMachineConditions?: UnhealthyMachineCondition[];
  };
  remediation?: Remediation;
}

export interface TopologyRemediation {
  triggerIf?: { unhealthyLessThanOrEqualTo?: number | string; unhealthyInRange?: string };
  templateRef?: TemplateReference;
}

export interface MachineDeploymentRemediation extends TopologyRemediation {
  maxInFlight?: number | string;
}

export interface TopologyVariable {
  name: string;
  value: JsonValue;
}

export interface TopologyOverrides {
  overrides?: TopologyVariable[];
}

export interface ControlPlaneTopology {
  metadata?: TemplateMetadata;
  replicas?: number;
  rollout?: { after?: string };
  deletion?: NodeDeletion;
  healthCheck?: TopologyHealthCheck;
  readinessGates?: ConditionGate[];
  taints?: MachineTaint[];
  variables?: TopologyOverrides;
}

export interface MachineDeploymentTopology {
  class: string;
  name: string;
  metadata?: TemplateMetadata;
  replicas?: number;
  failureDomain?: string;
  minReadySeconds?: number;
  rollout?: { after?: string; strategy?: RolloutStrategy };
  deletion?: NodeDeletion & { order?: DeletionOrder };
  healthCheck?: TopologyHealthCheck<MachineDeploymentRemediation>;
  readinessGates?: ConditionGate[];
  taints?: MachineTaint[];
  variables?: TopologyOverrides;
}

export interface MachinePoolTopology {
  class: string;
  name: string;
  metadata?: TemplateMetadata;
  replicas?: number;
  failureDomains?: string[];
  minReadySeconds?: number;
  deletion?: NodeDeletion;
  taints?: MachineTaint[];
  variables?: TopologyOverrides;
}

export interface Topology {
  classRef: { name: string; namespace?: string };
  version: string;
  controlPlane?: ControlPlaneTopology;
  workers?: { machineDeployments?: MachineDeploymentTopology[]; machinePools?: MachinePoolTopology[] };
  variables?: TopologyVariable[];
}

export interface ApiEndpoint {
  host?: string;
  port?: number;
}

export interface ClusterSpec {
  paused?: boolean;
  clusterNetwork?: {
    apiServerPort?: number;
    services?: { cidrBlocks: string[] };
    pods?: { cidrBlocks: string[] };
    serviceDomain?: string;
  };
  controlPlaneEndpoint?: ApiEndpoint;
  controlPlaneRef?: ContractReference;
  infrastructureRef?: ContractReference;
  availabilityGates?: ConditionGate[];
  topology?: Topology;
}

export interface FailureDomain {
  name: string;
  controlPlane?: boolean;
  attributes?: Record<string, string>;
}

export interface ReplicaVersion {
  version: string;
  replicas?: number;
}

export interface ClusterReplicas {
  desiredReplicas?: number;
  replicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  upToDateReplicas?: number;
  versions?: ReplicaVersion[];
  upgradePlan?: { version: string }[];
}

export type ClusterPhase = 'Pending' | 'Provisioning' | 'Provisioned' | 'Deleting' | 'Failed' | 'Unknown';

export interface ClusterStatus {
  conditions?: StatusCondition[];
  initialization?: { infrastructureProvisioned?: boolean; controlPlaneInitialized?: boolean };
  controlPlane?: ClusterReplicas;
  workers?: ClusterReplicas;
  failureDomains?: FailureDomain[];
  phase?: ClusterPhase;
  observedGeneration?: number;
  deprecated?: {
    v1beta1?: { conditions?: DeprecatedCondition[]; failureReason?: string; failureMessage?: string };
  };
}

export interface Cluster extends KubeObject {
  spec: ClusterSpec;
  status?: ClusterStatus;
}

export interface MachineSpec {
  clusterName: string;
  bootstrap: { configRef?: ContractReference; dataSecretName?: string };
  infrastructureRef: ContractReference;
  version?: string;
  providerID?: string;
  failureDomain?: string;
  minReadySeconds?: number;
  readinessGates?: ConditionGate[];
  deletion?: NodeDeletion;
  taints?: MachineTaint[];
}

export interface MachineAddress {
  type: 'Hostname' | 'ExternalIP' | 'InternalIP' | 'ExternalDNS' | 'InternalDNS';
  address: string;
}

export interface NodeSystemInfo {
  architecture: string;
  bootID: string;
  containerRuntimeVersion: string;
  kernelVersion: string;
  kubeProxyVersion: string;
  kubeletVersion: string;
  machineID: string;
  operatingSystem: string;
  osImage: string;
  systemUUID: string;
  swap?: { capacity?: number };
}

export type MachinePhase =
  | 'Pending'
  | 'Provisioning'
  | 'Provisioned'
  | 'Running'
  | 'Updating'
  | 'Deleting'
  | 'Deleted'
  | 'Failed'
  | 'Unknown';

export interface MachineStatus {
  conditions?: StatusCondition[];
  initialization?: { infrastructureProvisioned?: boolean; bootstrapDataSecretCreated?: boolean };
  nodeRef?: { name: string };
  nodeInfo?: NodeSystemInfo;
  lastUpdated?: string;
  failureDomain?: string;
  addresses?: MachineAddress[];
  phase?: MachinePhase;
  certificatesExpiryDate?: string;
  observedGeneration?: number;
  deletion?: {
    nodeDrainStartTime?: string;
    waitForNodeVolumeDetachStartTime?: string;
    waitForPreDrainHookStartTime?: string;
    waitForPreTerminateHookStartTime?: string;
  };
  deprecated?: {
    v1beta1?: { conditions?: DeprecatedCondition[]; failureReason?: string; failureMessage?: string };
  };
}

export interface Machine extends KubeObject {
  spec: MachineSpec;
  status?: MachineStatus;
}

export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

export interface MachineTemplate {
  metadata?: TemplateMetadata;
  spec: MachineSpec;
}

export interface MachineSetSpec {
  clusterName: string;
  replicas?: number;
  selector: LabelSelector;
  template: MachineTemplate;
  machineNaming?: { template?: string };
  deletion?: { order?: DeletionOrder };
}

interface ReplicaCounts {
  conditions?: StatusCondition[];
  selector?: string;
  replicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  upToDateReplicas?: number;
  versions?: ReplicaVersion[];
  observedGeneration?: number;
}

export interface MachineSetStatus extends ReplicaCounts {
  deprecated?: {
    v1beta1?: {
      conditions?: DeprecatedCondition[];
      failureReason?: string;
      failureMessage?: string;
      fullyLabeledReplicas?: number;
      readyReplicas?: number;
      availableReplicas?: number;
    };
  };
}

export interface MachineSet extends KubeObject {
  spec: MachineSetSpec;
  status?: MachineSetStatus;
}

export interface MachineDeploymentSpec {
  clusterName: string;
  replicas?: number;
  rollout?: { after?: string; strategy?: RolloutStrategy };
  selector: LabelSelector;
  template: MachineTemplate;
  machineNaming?: { template?: string };
  remediation?: { maxInFlight?: number | string };
  deletion?: { order?: DeletionOrder };
  paused?: boolean;
}

export type MachineDeploymentPhase = 'ScalingUp' | 'ScalingDown' | 'Running' | 'Failed' | 'Unknown';

export interface MachineDeploymentStatus extends ReplicaCounts {
  phase?: MachineDeploymentPhase;
  deprecated?: {
    v1beta1?: {
      conditions?: DeprecatedCondition[];
      readyReplicas?: number;
      availableReplicas?: number;
      unavailableReplicas?: number;
      updatedReplicas?: number;
    };
  };
}

export interface MachineDeployment extends KubeObject {
  spec: MachineDeploymentSpec;
  status?: MachineDeploymentStatus;
}

export interface MachineHealthCheckSpec {
  clusterName: string;
  selector: LabelSelector;
  checks?: {
    nodeStartupTimeoutSeconds?: number;
    unhealthyNodeConditions?: UnhealthyNodeCondition[];
    unhealthyMachineConditions?: UnhealthyMachineCondition[];
  };
  remediation?: TopologyRemediation;
}

export interface MachineHealthCheckStatus {
  conditions?: StatusCondition[];
  expectedMachines?: number;
  currentHealthy?: number;
  remediationsAllowed?: number;
  targets?: string[];
  observedGeneration?: number;
  deprecated?: { v1beta1?: { conditions?: DeprecatedCondition[] } };
}

export interface MachineHealthCheck extends KubeObject {
  spec: MachineHealthCheckSpec;
  status?: MachineHealthCheckStatus;
}

export interface MachineDrainRuleSpec {
  drain: { behavior: 'Drain' | 'Skip' | 'WaitCompleted'; order?: number };
  machines?: { selector?: LabelSelector; clusterSelector?: LabelSelector }[];
  pods?: { selector?: LabelSelector; namespaceSelector?: LabelSelector }[];
}

export interface MachineDrainRule extends KubeObject {
  spec: MachineDrainRuleSpec;
}
