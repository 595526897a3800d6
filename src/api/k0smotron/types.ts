import type { JsonObject, KubeObject } from '../../machinery/index.ts';
import type { ApiEndpoint, StatusCondition, TemplateMetadata } from '../cluster/types.ts';
import type { PersistentVolumeClaimSpec } from '../core/persistent-volume-claim.ts';
import type { ResourceRequirements, TopologySpreadConstraint, Volume } from '../core/pod-types.ts';

/** The k0s configuration; its fields are defined by k0s. */
export type K0sConfig = JsonObject;

export interface KubeconfigReference {
  name: string;
  namespace: string;
  key?: string;
}

export interface K0smotronIngress {
  /** default true; with false the user creates the Ingress */
  deploy?: boolean;
  port?: number;
  apiHost: string;
  konnectivityHost: string;
  className?: string;
  annotations?: Record<string, string>;
}

export interface K0smotronService {
  type: 'ClusterIP' | 'NodePort' | 'LoadBalancer';
  apiPort?: number;
  konnectivityPort?: number;
  /** missing in upstream's v1beta2, but the Service needs it on OpenStack */
  annotations?: Record<string, string>;
  labels?: Record<string, string>;
  externalTrafficPolicy?: 'Cluster' | 'Local';
  loadBalancerClass?: string;
}

/** a claim as in a manifest; only its metadata and spec are used */
export interface EmbeddedClaim {
  apiVersion?: string;
  kind?: string;
  metadata?: EmbeddedMetadata;
  spec?: PersistentVolumeClaimSpec;
  status?: JsonObject;
}

export interface EmbeddedMetadata extends TemplateMetadata {
  name?: string;
  namespace?: string;
  finalizers?: string[];
}

export interface K0smotronPersistence {
  /** emptyDir, hostPath or pvc */
  type: string;
  persistentVolumeClaim?: EmbeddedClaim;
  autoDeletePVCs?: boolean;
  hostPath?: string;
}

export interface VolumeSize {
  storageClass?: string;
  size?: number | string;
}

export interface K0smotronEtcd {
  image: string;
  args?: string[];
  persistence?: VolumeSize;
  autoDeletePVCs?: boolean;
  defragJob?: { enabled: boolean; schedule: string; rule: string; image: string };
  resources?: ResourceRequirements;
}

export interface K0smotronStorage {
  type?: 'etcd' | 'kine' | 'nats';
  etcd?: K0smotronEtcd;
  kine?: { dataSourceURL?: string; dataSourceSecretName?: string };
  nats?: { persistence?: VolumeSize };
}

export type K0smotronCertificateType =
  | 'ca'
  | 'sa'
  | 'proxy'
  | 'etcd'
  | 'apiserver-etcd-client'
  | 'etcd-peer'
  | 'etcd-server';

export interface K0smotronCertificateRef {
  type: K0smotronCertificateType;
  name?: string;
}

/** a volume source and its mount path in the pods of the controllers */
export type K0smotronMount = Omit<Volume, 'name'> & { path: string; readOnly?: boolean };

export interface K0smotronPatch {
  target: { kind: string; component: string };
  patch: { type: 'json' | 'strategic' | 'merge'; content: string };
}

export interface K0smotronMonitoring {
  enabled: boolean;
  prometheusImage: string;
  proxyImage: string;
}

/**
 * The spec of a k0s control plane in pods, shared by Cluster of k0smotron.io, K0smotronControlPlane and its template.
 */
export interface K0smotronClusterSpec {
  replicas?: number;
  image?: string;
  version?: string;
  serviceAccount?: string;
  externalAddress?: string;
  remoteHostCluster?: { kubeconfigRef?: KubeconfigReference };
  ingress?: K0smotronIngress;
  service?: K0smotronService;
  persistence?: K0smotronPersistence;
  storage?: K0smotronStorage;
  k0sConfig?: K0sConfig;
  certificateRefs?: K0smotronCertificateRef[];
  manifests?: Volume[];
  mounts?: K0smotronMount[];
  controlPlaneFlags?: string[];
  monitoring?: K0smotronMonitoring;
  topologySpreadConstraints?: TopologySpreadConstraint[];
  resources?: ResourceRequirements;
  kubeconfigSecretMetadata?: TemplateMetadata;
  patches?: K0smotronPatch[];
}

export interface K0smotronClusterStatus {
  controlPlaneEndpoint?: ApiEndpoint;
  replicas?: number;
  readyReplicas?: number;
  updatedReplicas?: number;
  selector?: string;
  conditions?: StatusCondition[];
  deprecated?: { v1beta1?: { reconciliationStatus?: string; ready?: boolean } };
}

/** `kmc`: a control plane without Cluster API, also created for a K0smotronControlPlane. */
export interface K0smotronCluster extends KubeObject {
  spec: K0smotronClusterSpec;
  status?: K0smotronClusterStatus;
}

export interface JoinTokenRequestSpec {
  clusterName: string;
  /** Go duration; `0s` means no expiry */
  expiry?: string;
  role?: 'worker' | 'controller';
}

export interface JoinTokenRequestStatus {
  tokenID?: string;
  conditions?: StatusCondition[];
  deprecated?: { v1beta1?: { reconciliationStatus?: string; clusterUID?: string } };
}

export interface JoinTokenRequest extends KubeObject {
  spec: JoinTokenRequestSpec;
  status?: JoinTokenRequestStatus;
}
