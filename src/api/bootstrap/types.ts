import type { KubeObject } from '../../machinery/index.ts';
import type { DeprecatedCondition, StatusCondition, TemplateMetadata } from '../cluster/types.ts';

/** One `--name=value` argument of a component. Duplicate names are refused. */
export interface KubeadmArgument {
  name: string;
  value: string;
}

export interface ConfigKeyReference {
  key: string;
  name?: string;
  optional?: boolean;
}

/** An environment variable of a control plane container, in the form of the core API. */
export interface KubeadmEnvironmentVariable {
  name: string;
  value?: string;
  valueFrom?: {
    configMapKeyRef?: ConfigKeyReference;
    secretKeyRef?: ConfigKeyReference;
    fieldRef?: { apiVersion?: string; fieldPath: string };
    fileKeyRef?: { key: string; optional?: boolean; path: string; volumeName: string };
    resourceFieldRef?: { containerName?: string; divisor?: number | string; resource: string };
  };
}

export interface KubeadmHostPathMount {
  name: string;
  hostPath: string;
  mountPath: string;
  readOnly?: boolean;
  pathType?: string;
}

export interface KubeadmComponent {
  extraArgs?: KubeadmArgument[];
  extraEnvs?: KubeadmEnvironmentVariable[];
  extraVolumes?: KubeadmHostPathMount[];
}

export interface KubeadmApiServer extends KubeadmComponent {
  certSANs?: string[];
}

export interface KubeadmLocalEtcd {
  imageRepository?: string;
  imageTag?: string;
  dataDir?: string;
  extraArgs?: KubeadmArgument[];
  extraEnvs?: KubeadmEnvironmentVariable[];
  serverCertSANs?: string[];
  peerCertSANs?: string[];
}

export interface KubeadmExternalEtcd {
  endpoints: string[];
  caFile: string;
  certFile: string;
  keyFile: string;
}

export type KubeadmEncryptionAlgorithm = 'ECDSA-P256' | 'ECDSA-P384' | 'RSA-2048' | 'RSA-3072' | 'RSA-4096';

export interface KubeadmClusterConfiguration {
  controlPlaneEndpoint?: string;
  certificatesDir?: string;
  imageRepository?: string;
  apiServer?: KubeadmApiServer;
  controllerManager?: KubeadmComponent;
  scheduler?: KubeadmComponent;
  etcd?: { local?: KubeadmLocalEtcd; external?: KubeadmExternalEtcd };
  dns?: { imageRepository?: string; imageTag?: string };
  featureGates?: Record<string, boolean>;
  certificateValidityPeriodDays?: number;
  caCertificateValidityPeriodDays?: number;
  encryptionAlgorithm?: KubeadmEncryptionAlgorithm;
}

export interface KubeadmBootstrapToken {
  token: string;
  description?: string;
  ttlSeconds?: number;
  expires?: string;
  usages?: string[];
  groups?: string[];
}

export interface NodeTaint {
  key: string;
  value?: string;
  effect: string;
  timeAdded?: string;
}

export interface KubeadmNodeRegistration {
  name?: string;
  criSocket?: string;
  /** absent means kubeadm's default taints, an empty list means no taints */
  taints?: NodeTaint[];
  kubeletExtraArgs?: KubeadmArgument[];
  ignorePreflightErrors?: string[];
  imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  imagePullSerial?: boolean;
}

export interface KubeadmLocalApiEndpoint {
  advertiseAddress?: string;
  bindPort?: number;
}

export interface KubeadmTimeouts {
  controlPlaneComponentHealthCheckSeconds?: number;
  kubeletHealthCheckSeconds?: number;
  kubernetesAPICallSeconds?: number;
  etcdAPICallSeconds?: number;
  tlsBootstrapSeconds?: number;
  discoverySeconds?: number;
}

export interface KubeadmInitConfiguration {
  bootstrapTokens?: KubeadmBootstrapToken[];
  nodeRegistration?: KubeadmNodeRegistration;
  localAPIEndpoint?: KubeadmLocalApiEndpoint;
  skipPhases?: string[];
  patches?: { directory?: string };
  timeouts?: KubeadmTimeouts;
}

export interface KubeadmDiscoveryFile {
  kubeConfigPath: string;
  kubeConfig?: {
    cluster?: {
      server?: string;
      tlsServerName?: string;
      insecureSkipTLSVerify?: boolean;
      certificateAuthorityData?: string;
      proxyURL?: string;
    };
    user: {
      authProvider?: { name: string; config?: Record<string, string> };
      exec?: {
        command: string;
        args?: string[];
        env?: { name: string; value: string }[];
        apiVersion?: string;
        provideClusterInfo?: boolean;
      };
    };
  };
}

/** Discovery of the cluster. Missing fields are filled in when a machine joins. */
export interface KubeadmDiscovery {
  bootstrapToken?: {
    token?: string;
    apiServerEndpoint?: string;
    caCertHashes?: string[];
    unsafeSkipCAVerification?: boolean;
  };
  file?: KubeadmDiscoveryFile;
  tlsBootstrapToken?: string;
}

export interface KubeadmJoinConfiguration {
  nodeRegistration?: KubeadmNodeRegistration;
  caCertPath?: string;
  discovery?: KubeadmDiscovery;
  controlPlane?: { localAPIEndpoint?: KubeadmLocalApiEndpoint };
  skipPhases?: string[];
  patches?: { directory?: string };
  timeouts?: KubeadmTimeouts;
}

/** A key of a Secret in the same namespace. */
export interface SecretKeySource {
  secret: { name: string; key: string };
}

export type FileEncoding = 'base64' | 'gzip' | 'gzip+base64';

export interface BootstrapFile {
  path: string;
  owner?: string;
  permissions?: string;
  encoding?: FileEncoding;
  append?: boolean;
  content?: string;
  contentFormat?: 'Raw' | 'Template';
  contentFrom?: SecretKeySource;
}

export interface DiskPartitionLayout {
  percentage: number;
  partitionType?: string;
}

export interface DiskPartitions {
  device: string;
  layout?: boolean;
  diskLayout?: DiskPartitionLayout[];
  overwrite?: boolean;
  tableType?: 'mbr' | 'gpt';
}

export interface DiskFilesystem {
  device: string;
  filesystem: string;
  label?: string;
  partition?: string;
  overwrite?: boolean;
  replaceFS?: string;
  extraOpts?: string[];
}

export interface BootstrapUser {
  name: string;
  gecos?: string;
  groups?: string;
  homeDir?: string;
  inactive?: boolean;
  shell?: string;
  passwd?: string;
  passwdFrom?: SecretKeySource;
  primaryGroup?: string;
  lockPassword?: boolean;
  sudo?: string;
  sshAuthorizedKeys?: string[];
}

export type BootstrapFormat = 'cloud-config' | 'ignition';

export interface KubeadmConfigSpec {
  clusterConfiguration?: KubeadmClusterConfiguration;
  initConfiguration?: KubeadmInitConfiguration;
  joinConfiguration?: KubeadmJoinConfiguration;
  files?: BootstrapFile[];
  diskSetup?: { partitions?: DiskPartitions[]; filesystems?: DiskFilesystem[] };
  mounts?: string[][];
  bootCommands?: string[];
  preKubeadmCommands?: string[];
  postKubeadmCommands?: string[];
  users?: BootstrapUser[];
  ntp?: { servers?: string[]; enabled?: boolean };
  format?: BootstrapFormat;
  verbosity?: number;
  ignition?: { containerLinuxConfig?: { additionalConfig?: string; strict?: boolean } };
}

export interface KubeadmConfigStatus {
  conditions?: StatusCondition[];
  initialization?: { dataSecretCreated?: boolean };
  dataSecretName?: string;
  observedGeneration?: number;
  deprecated?: {
    v1beta1?: { conditions?: DeprecatedCondition[]; failureReason?: string; failureMessage?: string };
  };
}

export interface KubeadmConfig extends KubeObject {
  spec: KubeadmConfigSpec;
  status?: KubeadmConfigStatus;
}

export interface KubeadmConfigTemplateSpec {
  template: { metadata?: TemplateMetadata; spec?: KubeadmConfigSpec };
}

export interface KubeadmConfigTemplate extends KubeObject {
  spec: KubeadmConfigTemplateSpec;
}
