import type { JsonValue, UnstructuredObject } from '../../machinery/index.ts';
import type { Cluster, Machine, MachineSet } from '../cluster/types.ts';

// Requests and responses of runtime extensions, by hook name. Fields follow hooks.runtime.cluster.x-k8s.io/v1alpha1;
// objects in requests are in the hub version.

export const hooksApiVersion = 'hooks.runtime.cluster.x-k8s.io/v1alpha1';

/** one Kubernetes version of an upgrade plan */
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

/** the object that refers to a template, and the path of the reference */
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

/** a patch of an extension: JSON in base64 */
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
  /** not 0: the operation is blocked and the hook is called again after this time */
  retryAfterSeconds?: number;
}

export interface DiscoveredHandler {
  name: string;
  requestHook: { apiVersion: string; hook: string };
  timeoutSeconds?: number;
  failurePolicy?: 'Ignore' | 'Fail';
}

/** Successful responses by hook. A response with `status: Failure` becomes an error. */
export interface HookResponses {
  Discovery: CommonResponse & { handlers?: readonly DiscoveredHandler[] };
  GeneratePatches: CommonResponse & { items?: readonly { uid: string; patchType: HookPatchType; patch: string }[] };
  ValidateTopology: CommonResponse;
  /** the variables in the form of spec.variables of a ClusterClass */
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

/** Lifecycle hooks of a Cluster with a topology. All registered extensions are called. */
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

/** Hooks that call a single handler, named in a ClusterClass or found by `handlers`. */
export type QueryHook = Exclude<HookName, LifecycleHook | 'Discovery' | 'UpdateMachine'>;

/** Hooks that block until all registered extensions have answered. */
export type BlockingHook = LifecycleHook | 'UpdateMachine';
