import type { JsonValue, KubeObject } from '../../machinery/index.ts';
import type { LabelSelector, StatusCondition, TemplateMetadata } from '../cluster/types.ts';
import type { Affinity } from '../core/affinity-validation.ts';
import type {
  Container,
  PodSecurityContext,
  ResourceRequirements,
  SecurityContext,
  Toleration,
  TopologySpreadConstraint,
  Volume,
  VolumeMount,
} from '../core/pod-types.ts';
import type { LoadBalancerIngress } from '../core/service-types.ts';
import type { ParentReference, RouteParentStatus } from '../gateway/types.ts';

export interface PerComponent<T> {
  apiServer?: T;
  controllerManager?: T;
  scheduler?: T;
}

/** control plane components, and kine for SQL datastores */
export interface PerComponentAndKine<T> extends PerComponent<T> {
  kine?: T;
}

export interface ProbeNumbers {
  initialDelaySeconds?: number;
  timeoutSeconds?: number;
  periodSeconds?: number;
  successThreshold?: number;
  failureThreshold?: number;
}

export interface ProbeSet {
  liveness?: ProbeNumbers;
  readiness?: ProbeNumbers;
  startup?: ProbeNumbers;
}

/** probes of all components, with overrides per component */
export interface ControlPlaneProbes extends ProbeSet, PerComponent<ProbeSet> {}

export interface DeploymentStrategyValue {
  type?: string;
  rollingUpdate?: { maxSurge?: number | string; maxUnavailable?: number | string };
}

export interface KamajiRegistrySettings {
  registry?: string;
  apiServerImage?: string;
  controllerManagerImage?: string;
  schedulerImage?: string;
  tagSuffix?: string;
}

export interface TenantDeployment {
  replicas?: number;
  registrySettings?: KamajiRegistrySettings;
  strategy?: DeploymentStrategyValue;
  resources?: PerComponentAndKine<ResourceRequirements>;
  extraArgs?: PerComponentAndKine<string[]>;
  probes?: ControlPlaneProbes;
  nodeSelector?: Record<string, string>;
  tolerations?: Toleration[];
  affinity?: Affinity;
  topologySpreadConstraints?: TopologySpreadConstraint[];
  runtimeClassName?: string;
  serviceAccountName?: string;
  automountServiceAccountToken?: boolean;
  podSecurityContext?: PodSecurityContext;
  containerSecurityContexts?: PerComponent<SecurityContext>;
  additionalMetadata?: TemplateMetadata;
  podAdditionalMetadata?: TemplateMetadata;
  additionalInitContainers?: Container[];
  additionalContainers?: Container[];
  additionalVolumes?: Volume[];
  additionalVolumeMounts?: PerComponent<VolumeMount[]>;
}

export interface AdditionalServicePort {
  name: string;
  port: number;
  targetPort: number | string;
  protocol?: 'TCP' | 'UDP' | 'SCTP';
  appProtocol?: string;
}

export type ServiceKind = 'ClusterIP' | 'NodePort' | 'LoadBalancer';

export interface TenantService {
  serviceType: ServiceKind;
  additionalMetadata?: TemplateMetadata;
  additionalPorts?: AdditionalServicePort[];
  allocateLoadBalancerNodePorts?: boolean;
}

export interface TenantIngress {
  ingressClassName?: string;
  hostname?: string;
  additionalMetadata?: TemplateMetadata;
}

export interface TenantGateway {
  hostname?: string;
  parentRefs?: ParentReference[];
  additionalMetadata?: TemplateMetadata;
}

export interface ImageOverride {
  imageRepository?: string;
  imageTag?: string;
}

export interface KonnectivityServerSpec {
  port: number;
  image?: string;
  version?: string;
  resources?: ResourceRequirements;
  extraArgs?: string[];
  securityContext?: SecurityContext;
}

export interface KonnectivityAgentSpec {
  image?: string;
  version?: string;
  mode?: 'DaemonSet' | 'Deployment';
  replicas?: number;
  hostNetwork?: boolean;
  tolerations?: Toleration[];
  extraArgs?: string[];
}

export interface KonnectivitySpec {
  server?: KonnectivityServerSpec;
  agent?: KonnectivityAgentSpec;
}

/** Add-ons to install; an absent add-on is not installed. */
export interface TenantAddons {
  coreDNS?: ImageOverride;
  kubeProxy?: ImageOverride;
  konnectivity?: KonnectivitySpec;
}

export type KubeletAddressType = 'Hostname' | 'InternalIP' | 'ExternalIP' | 'InternalDNS' | 'ExternalDNS';

export interface JsonPatchOperation {
  op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  path: string;
  from?: string;
  value?: JsonValue;
}

export interface KamajiKubelet {
  preferredAddressTypes?: KubeletAddressType[];
  configurationJSONPatches?: JsonPatchOperation[];
  /** deprecated upstream in favor of patches */
  cgroupfs?: 'systemd' | 'cgroupfs';
}

export interface TenantNetworkProfile {
  address?: string;
  advertiseAddress?: string;
  allowAddressAsExternalIP?: boolean;
  port?: number;
  certSANs?: string[];
  serviceCidr?: string;
  serviceCidrs?: string[];
  podCidr?: string;
  podCidrs?: string[];
  clusterDomain?: string;
  dnsServiceIPs?: string[];
  loadBalancerSourceRanges?: string[];
  loadBalancerClass?: string;
}

export interface DataStoreOverride {
  resource?: string;
  dataStore?: string;
}

export interface TenantControlPlaneSpec {
  dataStore?: string;
  dataStoreSchema?: string;
  dataStoreUsername?: string;
  dataStoreOverrides?: DataStoreOverride[];
  writePermissions?: { blockCreation?: boolean; blockUpdate?: boolean; blockDeletion?: boolean };
  kubernetes: { version: string; kubelet: KamajiKubelet; admissionControllers?: string[] };
  networkProfile?: TenantNetworkProfile;
  controlPlane: {
    service: TenantService;
    ingress?: TenantIngress;
    gateway?: TenantGateway;
    deployment?: TenantDeployment;
  };
  addons?: TenantAddons;
}

export type TenantControlPlanePhase =
  | 'Unknown'
  | 'Provisioning'
  | 'CertificateAuthorityRotating'
  | 'Upgrading'
  | 'Migrating'
  | 'Ready'
  | 'NotReady'
  | 'Sleeping'
  | 'WriteLimited';

/** a written Secret with the checksum of its data */
export interface WrittenSecret {
  secretName?: string;
  checksum?: string;
  lastUpdate?: string;
}

export interface WrittenObject {
  name?: string;
  namespace?: string;
  lastUpdate?: string;
}

export interface TenantServiceStatus {
  name: string;
  namespace: string;
  port: number;
  conditions?: StatusCondition[];
  loadBalancer?: { ingress?: LoadBalancerIngress[] };
}

export interface GatewayAccessPoint {
  type: string;
  value: string;
  port: number;
  urls?: string[];
}

export interface TenantGatewayStatus {
  parents: RouteParentStatus[];
  accessPoints?: GatewayAccessPoint[];
  routeRef?: { name?: string };
}

export interface TenantDeploymentStatus {
  name: string;
  namespace: string;
  selector: string;
  lastUpdate?: string;
  observedGeneration?: number;
  replicas?: number;
  updatedReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  unavailableReplicas?: number;
  terminatingReplicas?: number;
  collisionCount?: number;
  conditions?: {
    type: string;
    status: string;
    reason?: string;
    message?: string;
    lastUpdateTime?: string;
    lastTransitionTime?: string;
  }[];
}

export interface TenantKonnectivityStatus {
  enabled: boolean;
  agent?: WrittenObject & { mode?: string };
  certificate?: WrittenSecret;
  clusterrolebinding?: WrittenObject;
  configMap?: { name?: string; checksum?: string };
  gateway?: TenantGatewayStatus;
  kubeconfig?: WrittenSecret;
  sa?: WrittenObject;
  service?: TenantServiceStatus;
}

export interface TenantControlPlaneStatus {
  observedGeneration?: number;
  /** not in upstream's type; they explain what the control plane waits for */
  conditions?: StatusCondition[];
  controlPlaneEndpoint?: string;
  kubernetesResources?: {
    version?: { version?: string; status?: TenantControlPlanePhase };
    deployment?: TenantDeploymentStatus;
    service?: TenantServiceStatus;
    ingress?: { name: string; namespace: string; loadBalancer?: { ingress?: LoadBalancerIngress[] } };
    gateway?: TenantGatewayStatus;
  };
  storage?: {
    driver?: string;
    dataStoreName?: string;
    config?: { secretName?: string; checksum?: string };
    setup?: { schema?: string; user?: string; checksum?: string; lastUpdate?: string };
    certificate?: WrittenSecret;
  };
  certificates?: {
    ca?: WrittenSecret;
    apiServer?: WrittenSecret;
    apiServerKubeletClient?: WrittenSecret;
    frontProxyCA?: WrittenSecret;
    frontProxyClient?: WrittenSecret;
    sa?: WrittenSecret;
    etcd?: { apiServer?: WrittenSecret; ca?: WrittenSecret };
  };
  kubeconfig?: { admin?: WrittenSecret; controllerManager?: WrittenSecret; scheduler?: WrittenSecret };
  kubeadmconfig?: { configmapName?: string; checksum?: string; lastUpdate?: string };
  kubeadmPhase?: { bootstrapToken: { checksum?: string; lastUpdate?: string } };
  addons?: {
    coreDNS?: { enabled: boolean; lastUpdate?: string };
    kubeProxy?: { enabled: boolean; lastUpdate?: string };
    konnectivity?: TenantKonnectivityStatus;
  };
}

/** `tcp`: a control plane of Kamaji, with or without Cluster API. */
export interface TenantControlPlane extends KubeObject {
  spec: TenantControlPlaneSpec;
  status?: TenantControlPlaneStatus;
}

export type DataStoreDriver = 'etcd' | 'MySQL' | 'PostgreSQL' | 'NATS';

/** a base64 value, or a reference to a key of a Secret */
export interface ContentOrSecret {
  content?: string;
  secretReference?: { name?: string; namespace?: string; keyPath: string };
}

export interface DataStoreSpec {
  driver: DataStoreDriver;
  endpoints: string[];
  basicAuth?: { username: ContentOrSecret; password: ContentOrSecret };
  tlsConfig?: {
    certificateAuthority: { certificate: ContentOrSecret; privateKey?: ContentOrSecret };
    clientCertificate?: { certificate: ContentOrSecret; privateKey: ContentOrSecret };
  };
}

export interface DataStoreStatus {
  ready: boolean;
  usedBy?: string[];
  conditions?: StatusCondition[];
  observedGeneration?: number;
}

export interface DataStore extends KubeObject {
  spec: DataStoreSpec;
  status?: DataStoreStatus;
}

/** a fixed string, or a dotted path into the TenantControlPlane */
export interface CompoundValue {
  stringValue?: string;
  fromDefinition?: string;
}

export interface KubeconfigGeneratorSpec {
  namespaceSelector?: LabelSelector;
  tenantControlPlaneSelector?: LabelSelector;
  user: CompoundValue;
  groups?: CompoundValue[];
  controlPlaneEndpointFrom?: string;
}

export interface KubeconfigGeneratorStatus {
  resources: number;
  availableResources: number;
  errors?: { resource: string; message: string }[];
  observedGeneration?: number;
}

export interface KubeconfigGenerator extends KubeObject {
  spec: KubeconfigGeneratorSpec;
  status?: KubeconfigGeneratorStatus;
}
