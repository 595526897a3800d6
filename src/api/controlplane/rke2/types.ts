import type { KubeObject } from '../../../machinery/index.ts';
import type { RKE2Component, RKE2ConfigSpec, RKE2ObjectReference } from '../../bootstrap/rke2/types.ts';
import type { ContractReference, NodeDeletion, TemplateMetadata } from '../../cluster/types.ts';
import type { KubeadmControlPlaneStatus } from '../types.ts';

export interface RKE2EtcdS3 {
  endpoint: string;
  bucket?: string;
  region?: string;
  folder?: string;
  enforceSslVerify?: boolean;
  endpointCAsecret?: RKE2ObjectReference;
  s3CredentialSecret?: RKE2ObjectReference;
}

export interface RKE2EtcdBackup {
  directory?: string;
  disableAutomaticSnapshots?: boolean;
  retention?: string;
  s3?: RKE2EtcdS3;
  scheduleCron?: string;
  snapshotName?: string;
}

export interface RKE2Etcd {
  backupConfig?: RKE2EtcdBackup;
  customConfig?: RKE2Component;
  exposeMetrics?: boolean;
}

export type RKE2KubernetesComponent = 'scheduler' | 'kubeProxy' | 'cloudController';

export interface RKE2ServerConfig {
  advertiseAddress?: string;
  auditPolicySecret?: RKE2ObjectReference;
  bindAddress?: string;
  cloudControllerManager?: RKE2Component;
  cloudProviderConfigMap?: RKE2ObjectReference;
  cloudProviderName?: string;
  clusterDNS?: string;
  clusterDomain?: string;
  cni?: 'none' | 'calico' | 'canal' | 'cilium';
  cniMultusEnable?: boolean;
  disableComponents?: { kubernetesComponents?: RKE2KubernetesComponent[]; pluginComponents?: string[] };
  embeddedRegistry?: boolean;
  etcd?: RKE2Etcd;
  externalDatastoreSecret?: RKE2ObjectReference;
  ingressController?: ('none' | 'traefik' | 'ingress-nginx')[];
  kubeAPIServer?: RKE2Component;
  kubeControllerManager?: RKE2Component;
  kubeScheduler?: RKE2Component;
  pauseImage?: string;
  secretsEncryption?: { provider?: 'aescbc' | 'secretbox'; encryptionKeySecret?: RKE2ObjectReference };
  serviceNodePortRange?: string;
  supervisorMetrics?: boolean;
  tlsSan?: string[];
}

export type RKE2RegistrationMethod =
  | 'internal-first'
  | 'internal-only-ips'
  | 'external-only-ips'
  | 'address'
  | 'control-plane-endpoint'
  | '';

interface SharedSpec extends RKE2ConfigSpec {
  manifestsConfigMapReference?: RKE2ObjectReference;
  registrationAddress?: string;
  registrationMethod?: RKE2RegistrationMethod;
  remediationStrategy?: { maxRetry?: number; minHealthyPeriod?: string; retryPeriod?: string };
  rolloutStrategy?: { type?: string; rollingUpdate?: { maxSurge?: number | string } };
  serverConfig?: RKE2ServerConfig;
}

export interface RKE2ControlPlaneSpec extends SharedSpec {
  replicas?: number;
  version: string;
  machineTemplate: {
    metadata?: TemplateMetadata;
    spec: { infrastructureRef: ContractReference; deletion?: NodeDeletion };
  };
}

export interface RKE2ControlPlaneStatus extends Omit<KubeadmControlPlaneStatus, 'lastRemediation'> {
  availableServerIPs?: string[];
  lastRemediation?: { machine: string; timestamp: string; retryCount: number };
}

export interface RKE2ControlPlane extends KubeObject {
  spec: RKE2ControlPlaneSpec;
  status?: RKE2ControlPlaneStatus;
}

/** Fields that a class may set: all except replicas and version. */
export interface RKE2ControlPlaneTemplateResourceSpec extends SharedSpec {
  machineTemplate?: {
    metadata?: TemplateMetadata;
    spec?: { infrastructureRef?: ContractReference; deletion?: NodeDeletion };
  };
}

export interface RKE2ControlPlaneTemplateSpec {
  template: { metadata?: TemplateMetadata; spec: RKE2ControlPlaneTemplateResourceSpec };
}

export interface RKE2ControlPlaneTemplate extends KubeObject {
  spec: RKE2ControlPlaneTemplateSpec;
}
