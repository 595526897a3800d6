import type { KubeObject } from '../../../machinery/index.ts';
import type { StatusCondition, TemplateMetadata } from '../../cluster/types.ts';
import type { Affinity } from '../../core/affinity-validation.ts';
import type {
  Container,
  ResourceRequirements,
  Toleration,
  TopologySpreadConstraint,
  Volume,
  VolumeMount,
} from '../../core/pod-types.ts';
import type {
  AdditionalServicePort,
  DataStoreOverride,
  DeploymentStrategyValue,
  ImageOverride,
  KamajiKubelet,
  KonnectivitySpec,
  ProbeSet,
  ServiceKind,
} from '../../kamaji/types.ts';

export interface KamajiComponent {
  extraArgs?: string[];
  extraVolumeMounts?: VolumeMount[];
  resources?: ResourceRequirements;
  containerImageName?: string;
  probes?: ProbeSet;
}

export interface KamajiNetwork {
  serviceType?: ServiceKind;
  serviceAddress?: string;
  advertiseAddress?: string;
  serviceLabels?: Record<string, string>;
  serviceAnnotations?: Record<string, string>;
  additionalServicePorts?: AdditionalServicePort[];
  certSANs?: string[];
  dnsServiceIPs?: string[];
  loadBalancerConfig?: { loadBalancerSourceRanges?: string[]; loadBalancerClass?: string };
  ingress?: {
    className?: string;
    hostname: string;
    extraLabels?: Record<string, string>;
    extraAnnotations?: Record<string, string>;
  };
  gateway?: {
    name: string;
    namespace: string;
    hostname: string;
    sectionName?: string;
    port?: number;
    extraLabels?: Record<string, string>;
    extraAnnotations?: Record<string, string>;
  };
}

export interface KamajiExternalCluster {
  kubeconfigSecretName: string;
  kubeconfigSecretKey: string;
  kubeconfigSecretNamespace?: string;
  deploymentNamespace: string;
}

export interface KamajiDeployment {
  nodeSelector?: Record<string, string>;
  runtimeClassName?: string;
  additionalMetadata?: TemplateMetadata;
  podAdditionalMetadata?: TemplateMetadata;
  serviceAccountName?: string;
  strategy?: DeploymentStrategyValue;
  affinity?: Affinity;
  tolerations?: Toleration[];
  topologySpreadConstraints?: TopologySpreadConstraint[];
  extraInitContainers?: Container[];
  extraContainers?: Container[];
  extraVolumes?: Volume[];
  probes?: ProbeSet;
  externalClusterReference?: KamajiExternalCluster;
}

/** fields that a class may set: all except replicas, version and endpoint */
export interface KamajiControlPlaneFields {
  dataStoreName?: string;
  dataStoreSchema?: string;
  dataStoreUsername?: string;
  dataStoreOverrides?: DataStoreOverride[];
  addons?: {
    coreDNS?: ImageOverride & { dnsServiceIPs?: string[] };
    kubeProxy?: ImageOverride;
    konnectivity?: KonnectivitySpec;
  };
  admissionControllers?: string[];
  registry?: string;
  apiServer?: KamajiComponent;
  controllerManager?: KamajiComponent;
  scheduler?: KamajiComponent;
  kine?: { extraArgs?: string[]; resources?: ResourceRequirements };
  kubelet?: KamajiKubelet;
  network?: KamajiNetwork;
  deployment?: KamajiDeployment;
}

export interface KamajiControlPlaneSpec extends KamajiControlPlaneFields {
  version: string;
  replicas?: number;
  controlPlaneEndpoint?: { host?: string; port?: number };
}

export interface KamajiControlPlaneStatus {
  initialization?: { controlPlaneInitialized?: boolean };
  ready: boolean;
  version: string;
  externalManagedControlPlane: boolean;
  replicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  upToDateReplicas?: number;
  selector?: string;
  failureReason?: string;
  failureMessage?: string;
  conditions?: StatusCondition[];
}

export interface KamajiControlPlane extends KubeObject {
  spec: KamajiControlPlaneSpec;
  status?: KamajiControlPlaneStatus;
}

export interface KamajiControlPlaneTemplateSpec {
  template: { metadata?: TemplateMetadata; spec: KamajiControlPlaneFields };
}

export interface KamajiControlPlaneTemplate extends KubeObject {
  spec: KamajiControlPlaneTemplateSpec;
}
