import type { KubeObject } from '../../../machinery/index.ts';
import type { DeprecatedCondition, StatusCondition, TemplateMetadata } from '../../cluster/types.ts';
import type { BootstrapFormat, FileEncoding } from '../types.ts';

/** An object of the same namespace. Upstream's type has more fields, which have no effect here. */
export interface RKE2ObjectReference {
  apiVersion?: string;
  kind?: string;
  name?: string;
  namespace?: string;
  fieldPath?: string;
  resourceVersion?: string;
  uid?: string;
}

export interface RKE2FileSource {
  name: string;
  key: string;
  namespace?: string;
}

export interface RKE2File {
  path: string;
  owner?: string;
  permissions?: string;
  encoding?: FileEncoding;
  content?: string;
  contentFrom?: { secret?: RKE2FileSource; configMap?: RKE2FileSource };
}

export interface RKE2Component {
  extraArgs?: string[];
  extraEnv?: Record<string, string>;
  extraMounts?: Record<string, string>;
  overrideImage?: string;
}

export interface RKE2AdditionalUserData {
  config?: string;
  strict?: boolean;
  data?: Record<string, string>;
}

export interface RKE2AgentConfig {
  additionalUserData?: RKE2AdditionalUserData;
  airGapped?: boolean;
  airGappedChecksum?: string;
  cisProfile?: 'cis' | 'cis-1.23' | 'cis-1.5' | 'cis-1.6';
  containerRuntimeEndpoint?: string;
  dataDir?: string;
  enableContainerdSElinux?: boolean;
  format?: BootstrapFormat;
  imageCredentialProviderConfigMap?: RKE2ObjectReference;
  kubeProxy?: RKE2Component;
  kubelet?: RKE2Component;
  kubeletPath?: string;
  loadBalancerPort?: number;
  nodeAnnotations?: Record<string, string>;
  nodeLabels?: string[];
  nodeName?: string;
  nodeTaints?: string[];
  ntp?: { enabled?: boolean; servers?: string[] };
  podSecurityAdmissionConfigFile?: string;
  protectKernelDefaults?: boolean;
  resolvConf?: RKE2ObjectReference;
  runtimeImage?: string;
  snapshotter?: string;
  systemDefaultRegistry?: string;
}

export interface RKE2RegistryConfig {
  authSecret?: RKE2ObjectReference;
  tls?: { insecureSkipVerify?: boolean; tlsConfigSecret?: RKE2ObjectReference };
}

export interface RKE2RegistryMirror {
  endpoint?: string[];
  rewrite?: Record<string, string>;
}

export interface RKE2Registries {
  configs?: Record<string, RKE2RegistryConfig>;
  mirrors?: Record<string, RKE2RegistryMirror>;
}

export interface RKE2ConfigSpec {
  agentConfig?: RKE2AgentConfig;
  files?: RKE2File[];
  gzipUserData?: boolean;
  postRKE2Commands?: string[];
  preRKE2Commands?: string[];
  privateRegistriesConfig?: RKE2Registries;
}

export interface RKE2ConfigStatus {
  conditions?: StatusCondition[];
  initialization?: { dataSecretCreated?: boolean };
  dataSecretName?: string;
  observedGeneration?: number;
  deprecated?: {
    v1beta1?: { conditions?: DeprecatedCondition[]; failureReason?: string; failureMessage?: string };
  };
}

export interface RKE2Config extends KubeObject {
  spec: RKE2ConfigSpec;
  status?: RKE2ConfigStatus;
}

export interface RKE2ConfigTemplateSpec {
  template: { metadata?: TemplateMetadata; spec: RKE2ConfigSpec };
}

export interface RKE2ConfigTemplate extends KubeObject {
  spec: RKE2ConfigTemplateSpec;
}
