import type { JsonValue, UnstructuredObject } from '../../machinery/index.ts';
import type { Cluster, Machine, MachineSet } from '../cluster/types.ts';

// What is sent to runtime extensions and what they answer, by the name of the hook. Field names and forms are those of
// hooks.runtime.cluster.x-k8s.io/v1alpha1; objects in requests are in the hub version.

export const hooksApiVersion = 'hooks.runtime.cluster.x-k8s.io/v1alpha1';

/** one Kubernetes version on the way of an upgrade */
export interface UpgradeStep {
  version: string;
}

interface ClusterRequest {
  cluster: Cluster;
}

interface UpgradePlanRequest extends ClusterRequest {
  controlPlaneUpgrades?: readonly UpgradeStep[];
  workersUpgrades?: readonly UpgradeStep[];
}

interface BeforeUpgradeRequest extends UpgradePlanRequest {
  fromKubernetesVersion: string;
  toKubernetesVersion: string;
}

interface AfterUpgradeRequest extends UpgradePlanRequest {
  kubernetesVersion: string;
}

export interface HookVariable {
  name: string;
  value: JsonValue;
}

/** the object that refers to a template, and where */
export interface HolderReference {
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  fieldPath: string;
}

interface TopologyItem {
  holderReference: HolderReference;
  object: UnstructuredObject;
  variables?: readonly HookVariable[];
}

export interface GeneratePatchesItem extends TopologyItem {
  uid: string;
}

export type HookPatchType = 'JSONPatch' | 'JSONMergePatch';

/** a patch as extensions send it: JSON in base64 */
export interface HookPatch {
  patchType?: HookPatchType;
  patch?: string;
}

export interface MachineObjects {
  machine: Machine;
  infrastructureMachine?: UnstructuredObject;
  bootstrapConfig?: UnstructuredObject;
}

export interface MachineSetObjects {
  machineSet: MachineSet;
  infrastructureMachineTemplate?: UnstructuredObject;
  bootstrapConfigTemplate?: UnstructuredObject;
}

/** Requests by hook, without apiVersion, kind and settings, which the caller adds. */
export interface HookRequests {
  Discovery: Record<never, never>;
  GeneratePatches: { variables?: readonly HookVariable[]; items: readonly GeneratePatchesItem[] };
  ValidateTopology: { variables?: readonly HookVariable[]; items: readonly TopologyItem[] };
  DiscoverVariables: Record<never, never>;
  GenerateUpgradePlan: {
    cluster: Cluster;
    fromControlPlaneKubernetesVersion: string;
    fromWorkersKubernetesVersion?: string;
    toKubernetesVersion: string;
  };
  BeforeClusterCreate: ClusterRequest;
  AfterControlPlaneInitialized: ClusterRequest;
  BeforeClusterUpgrade: BeforeUpgradeRequest;
  BeforeControlPlaneUpgrade: BeforeUpgradeRequest;
  AfterControlPlaneUpgrade: AfterUpgradeRequest;
  BeforeWorkersUpgrade: BeforeUpgradeRequest;
  AfterWorkersUpgrade: AfterUpgradeRequest;
  AfterClusterUpgrade: ClusterRequest & { kubernetesVersion: string };
  BeforeClusterDelete: ClusterRequest;
  CanUpdateMachine: { current: MachineObjects; desired: MachineObjects };
  CanUpdateMachineSet: { current: MachineSetObjects; desired: MachineSetObjects };
  UpdateMachine: { desired: MachineObjects };
}

export type HookName = keyof HookRequests;

interface CommonResponse {
  message?: string;
}

interface RetryResponse extends CommonResponse {
  /** other than 0: ask again after this time, and wait until then */
  retryAfterSeconds?: number;
}

export interface DiscoveredHandler {
  name: string;
  requestHook: { apiVersion: string; hook: string };
  timeoutSeconds?: number;
  failurePolicy?: 'Ignore' | 'Fail';
}

/** Successful answers by hook; what an extension answers with `status: Failure` is an error. */
export interface HookResponses {
  Discovery: CommonResponse & { handlers?: readonly DiscoveredHandler[] };
  GeneratePatches: CommonResponse & { items?: readonly { uid: string; patchType: HookPatchType; patch: string }[] };
  ValidateTopology: CommonResponse;
  /** the variables as they would be written in spec.variables of a ClusterClass */
  DiscoverVariables: CommonResponse & { variables?: readonly JsonValue[] };
  GenerateUpgradePlan: CommonResponse & {
    controlPlaneUpgrades?: readonly UpgradeStep[];
    workersUpgrades?: readonly UpgradeStep[];
  };
  BeforeClusterCreate: RetryResponse;
  AfterControlPlaneInitialized: CommonResponse;
  BeforeClusterUpgrade: RetryResponse;
  BeforeControlPlaneUpgrade: RetryResponse;
  AfterControlPlaneUpgrade: RetryResponse;
  BeforeWorkersUpgrade: RetryResponse;
  AfterWorkersUpgrade: RetryResponse;
  AfterClusterUpgrade: RetryResponse;
  BeforeClusterDelete: RetryResponse;
  CanUpdateMachine: CommonResponse & {
    machinePatch?: HookPatch;
    infrastructureMachinePatch?: HookPatch;
    bootstrapConfigPatch?: HookPatch;
  };
  CanUpdateMachineSet: CommonResponse & {
    machineSetPatch?: HookPatch;
    infrastructureMachineTemplatePatch?: HookPatch;
    bootstrapConfigTemplatePatch?: HookPatch;
  };
  UpdateMachine: RetryResponse;
}

/** Hooks of the life of a Cluster with a topology: all who listen are asked. */
export type LifecycleHook =
  | 'BeforeClusterCreate'
  | 'AfterControlPlaneInitialized'
  | 'BeforeClusterUpgrade'
  | 'BeforeControlPlaneUpgrade'
  | 'AfterControlPlaneUpgrade'
  | 'BeforeWorkersUpgrade'
  | 'AfterWorkersUpgrade'
  | 'AfterClusterUpgrade'
  | 'BeforeClusterDelete';

/** Hooks where one handler, named in a ClusterClass or found by `handlers`, is asked for an answer. */
export type QueryHook = Exclude<HookName, LifecycleHook | 'Discovery' | 'UpdateMachine'>;

/** Hooks that all who listen must have answered before anything goes on. */
export type BlockingHook = LifecycleHook | 'UpdateMachine';
