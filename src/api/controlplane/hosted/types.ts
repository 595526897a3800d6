import type { JsonObject, KubeObject } from '../../../machinery/index.ts';
import type { StatusCondition, TemplateMetadata } from '../../cluster/types.ts';
import type { ResourceRequirements } from '../../core/pod-types.ts';

/** parts of an image name; each missing part has the default of the component */
export interface HostedImage {
  registry?: string;
  repository?: string;
  tag?: string;
}

export interface HostedContainer {
  image?: HostedImage;
  imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  /** flags by name, without dashes */
  args?: Record<string, string>;
  resources?: ResourceRequirements;
}

export interface HostedPod extends HostedContainer {
  priorityClassName?: string;
}

export interface HostedScalablePod extends HostedPod {
  replicas?: number;
}

export interface HostedMount {
  path: string;
  configMap?: {
    name?: string;
    items?: { key: string; path: string; mode?: number }[];
    defaultMode?: number;
    optional?: boolean;
  };
  secret?: {
    secretName?: string;
    items?: { key: string; path: string; mode?: number }[];
    defaultMode?: number;
    optional?: boolean;
  };
}

export interface HostedAuditTarget {
  server: string;
  authentication?: { secretName: string; secretNamespace?: string; tokenKey?: string };
}

export interface HostedAudit {
  /** an audit.k8s.io Policy */
  policy: JsonObject;
  mode?: 'batch' | 'blocking' | 'blocking-strict';
  webhook?: { targets: HostedAuditTarget[] };
}

export interface HostedApiServer extends HostedPod {
  mounts?: Record<string, HostedMount>;
  konnectivity?: HostedContainer;
  audit?: HostedAudit;
  /** not in upstream's schema, but used by existing stacks: additional names of the serving certificate */
  certSANs?: string[];
}

export interface HostedBackup {
  /** five single-valued fields of cron, or `@daily` */
  schedule: string;
  secret: {
    name: string;
    namespace?: string;
    accessKeyIDKey?: string;
    secretAccessKeyKey?: string;
    hostKey?: string;
    regionKey?: string;
    bucketKey?: string;
  };
}

export interface HostedEtcd extends HostedPod {
  volumeSize?: number | string;
  autoGrow?: boolean;
  backup?: HostedBackup;
}

export interface HostedOidcProvider {
  certificateAuthority?: string;
  audiences: string[];
  claimValidationRules?: { claim?: string; requiredValue?: string; expression?: string; message?: string }[];
  claimMappings: {
    username: HostedClaim;
    groups?: HostedClaim;
  };
}

export interface HostedClaim {
  claim?: string;
  prefix?: string;
  expression?: string;
}

/** Fields that a class may set, including fields that upstream's stacks use beyond the schema. */
export interface HostedControlPlaneFields {
  /** absent or without a name: the load balancer of the Service exposes the API */
  gateway?: { namespace?: string; name?: string };
  deployment?: {
    apiServer?: HostedApiServer;
    controllerManager?: HostedScalablePod;
    scheduler?: HostedScalablePod;
  };
  konnectivityClient?: HostedScalablePod;
  kubeProxy?: HostedPod & { disabled?: boolean };
  coredns?: HostedScalablePod;
  etcd?: HostedEtcd;
  oidcProviders?: Record<string, HostedOidcProvider>;
  certificates?: { rootCaCertificateDuration?: string; caCertificateDuration?: string };
  /** place where upstream's stacks put fields of `deployment.apiServer` */
  apiServer?: { certSANs?: string[] };
}

export interface HostedControlPlaneSpec extends HostedControlPlaneFields {
  version: string;
  replicas?: number;
}

export interface HostedControlPlaneStatus {
  conditions?: StatusCondition[];
  legacyIP?: string;
  etcdVolumeSize?: number | string;
  etcdVolumeUsage?: number | string;
  etcdLastBackupTime?: string;
  etcdNextBackupTime?: string;
  etcdLastDefragTime?: string;
  etcdLastAttemptedDefragTime?: string;
  selector?: string;
  replicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  upToDateReplicas?: number;
  initialization?: { controlPlaneInitialized?: boolean };
  ready?: boolean;
  version?: string;
  externalManagedControlPlane?: boolean;
  observedGeneration?: number;
}

export interface HostedControlPlane extends KubeObject {
  spec: HostedControlPlaneSpec;
  status?: HostedControlPlaneStatus;
}

export interface HostedControlPlaneTemplateSpec {
  template: { metadata?: TemplateMetadata; spec: HostedControlPlaneFields & { replicas?: number } };
}

export interface HostedControlPlaneTemplate extends KubeObject {
  spec: HostedControlPlaneTemplateSpec;
}
