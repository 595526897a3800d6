import type { KubeObject } from '../../machinery/index.ts';
import type { DeprecatedCondition } from '../cluster/types.ts';

/** Full object reference of the core API, as in upstream's kinds. */
export interface FullReference {
  apiVersion?: string;
  kind?: string;
  name?: string;
  namespace?: string;
  fieldPath?: string;
  resourceVersion?: string;
  uid?: string;
}

export type StackChannel = 'stable' | 'custom';

export interface ClusterStackSpec {
  provider: string;
  name: string;
  /** major.minor */
  kubernetesVersion: string;
  channel?: StackChannel;
  /** in the spelling with a dot */
  versions?: string[];
  autoSubscribe?: boolean;
  noProvider?: boolean;
  /** reference to a kind whose name ends in Template */
  providerRef?: FullReference;
}

export interface ReleaseSummary {
  name: string;
  ready: boolean;
  phase: string;
  message?: string;
}

export interface ClusterStackStatus {
  latestRelease?: string;
  usableVersions?: string;
  summary?: ReleaseSummary[];
  conditions?: DeprecatedCondition[];
}

export interface ClusterStack extends KubeObject {
  spec: ClusterStackSpec;
  status?: ClusterStackStatus;
}

/** An applied object and its result. */
export interface AppliedResource {
  group?: string;
  version?: string;
  kind?: string;
  namespace?: string;
  name?: string;
  /** `synced` or `not-synced` */
  status?: string;
  error?: string;
}

export interface ClusterStackReleaseSpec {
  providerRef?: FullReference;
}

export interface ClusterStackReleaseStatus {
  resources?: AppliedResource[];
  /** full version with patch and leading v */
  kubernetesVersion?: string;
  ready?: boolean;
  conditions?: DeprecatedCondition[];
}

export interface ClusterStackRelease extends KubeObject {
  spec: ClusterStackReleaseSpec;
  status?: ClusterStackReleaseStatus;
}

export interface ClusterAddonSpec {
  clusterRef: FullReference;
  /** class of the release whose add-ons are installed */
  clusterStack?: string;
  /** version of the add-on component of that release */
  version?: string;
  /** lifecycle hook in progress */
  hook?: string;
}

export interface StageStatus {
  name?: string;
  action?: string;
  phase?: string;
}

export interface ClusterAddonStatus {
  stages?: StageStatus[];
  resources?: AppliedResource[];
  ready?: boolean;
  conditions?: DeprecatedCondition[];
}

export interface ClusterAddon extends KubeObject {
  spec: ClusterAddonSpec;
  status?: ClusterAddonStatus;
}

/** Reference to the Secret (or other identity) with the cloud credentials. */
export interface StackIdentityReference {
  kind: string;
  name: string;
}

export interface OpenStackClusterStackReleaseSpec {
  identityRef?: StackIdentityReference;
}

export interface ProviderReleaseStatus {
  ready?: boolean;
  conditions?: DeprecatedCondition[];
}

export interface OpenStackClusterStackRelease extends KubeObject {
  spec: OpenStackClusterStackReleaseSpec;
  status?: ProviderReleaseStatus;
}

export interface OpenStackClusterStackReleaseTemplate extends KubeObject {
  spec: { template: { spec: OpenStackClusterStackReleaseSpec } };
  status?: Record<string, never>;
}

/** Options of the image registration, named as in the image API. */
export interface NodeImageOptions {
  name: string;
  id?: string;
  visibility?: string;
  os_hidden?: boolean;
  tags?: string[];
  container_format?: string;
  disk_format?: string;
  min_disk?: number;
  min_ram?: number;
  protected?: boolean;
  properties?: Record<string, string>;
}

export interface OpenStackNodeImageReleaseSpec {
  identityRef: StackIdentityReference;
  image: { url: string; createOpts: NodeImageOptions };
}

export interface OpenStackNodeImageRelease extends KubeObject {
  spec: OpenStackNodeImageReleaseSpec;
  status?: ProviderReleaseStatus;
}
