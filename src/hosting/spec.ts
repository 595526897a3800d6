import type {
  Container,
  PodSecurityContext,
  PodSpec,
  ResourceRequirements,
  SecurityContext,
  ServicePort,
  Toleration,
  TopologySpreadConstraint,
  Volume,
  VolumeMount,
} from '../api/index.ts';
import type { JsonObject, OwnerReference } from '../machinery/index.ts';
import type { KeyAlgorithm } from '../pki/index.ts';
import type { CredentialName, PlaneNaming } from './naming/types.ts';

// Spec of a hosted control plane, independent of the user's kind. The code that builds it sets the defaults.

export type Labels = Readonly<Record<string, string>>;

/** User-defined labels and annotations in addition to Capstan's. */
export interface ExtraMetadata {
  readonly labels?: Labels;
  readonly annotations?: Labels;
}

/**
 * How components are distributed over Pods. `k0s`: a StatefulSet of k0s controllers. `together`: a Deployment whose
 * Pods contain all components. `hardened`: the same with restricted Pods, each on its own node.
 */
export type PlaneLayout = 'k0s' | 'together' | 'hardened';

export interface PlaneSpec {
  readonly identity: PlaneIdentity;
  readonly naming: PlaneNaming;
  readonly layout: PlaneLayout;
  /** with leading v; for k0s in the form `v1.32.6+k0s.0` */
  readonly version: string;
  /** API server or k0s replicas; 0 hibernates: nothing runs, all data stays */
  readonly replicas: number;
  readonly images: PlaneImages;
  readonly components: PlaneComponents;
  readonly pods: PodSettings;
  readonly dataStore: DataStoreSpec;
  readonly exposure: ExposureSpec;
  readonly network: NetworkSpec;
  readonly konnectivity: KonnectivityAgentSpec | undefined;
  readonly addons: AddonsSpec;
  readonly apiServer: ApiServerSpec;
  readonly certificates: CertificatePolicy;
  readonly kubeconfigMetadata?: ExtraMetadata;
  readonly k0s?: K0sSpec;
  readonly backup?: BackupSpec;
  /** writes that the workload API refuses; undefined if not managed */
  readonly writeLimits?: WriteLimits;
  /** user-defined patches of plane objects, in order */
  readonly patches: readonly ObjectPatch[];
}

/** The parts of a spec that etcd needs, also for an etcd without a plane. */
export type EtcdClusterSpec = Pick<
  PlaneSpec,
  'identity' | 'naming' | 'replicas' | 'images' | 'components' | 'pods' | 'dataStore' | 'certificates' | 'patches'
>;

export interface PlaneIdentity {
  readonly namespace: string;
  /** name of the Cluster; for planes without one, of the object itself */
  readonly clusterName: string;
  /** owner of all created objects */
  readonly owner: OwnerReference;
  /** metadata of the owner, added to every object */
  readonly metadata?: ExtraMetadata;
}

/** Full image references with tag. */
export interface PlaneImages {
  /** only for layout k0s */
  readonly k0s?: string;
  readonly apiServer?: string;
  readonly controllerManager?: string;
  readonly scheduler?: string;
  readonly etcd?: string;
  readonly kine?: string;
  readonly konnectivityServer?: string;
  readonly konnectivityAgent?: string;
  readonly coreDns?: string;
  readonly kubeProxy?: string;
}

export type ComponentName =
  | 'apiServer'
  | 'controllerManager'
  | 'scheduler'
  | 'kine'
  | 'konnectivityServer'
  | 'etcd'
  | 'k0s';

export type PlaneComponents = Readonly<Partial<Record<ComponentName, ComponentSpec>>>;

export interface ComponentSpec {
  /** as on a command line, `--flag=value`; each layout defines which flags the user may override */
  readonly args?: readonly string[];
  readonly resources?: ResourceRequirements;
  readonly imagePullPolicy?: string;
  readonly priorityClassName?: string;
  readonly securityContext?: SecurityContext;
  readonly volumes?: readonly Volume[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly probes?: ProbeSpecs;
  /**
   * `hardened` only, for controller manager and scheduler: 0 leaves out the component. Any other value is ignored,
   * because every Pod contains one.
   */
  readonly replicas?: number;
}

export interface ProbeSpecs {
  readonly liveness?: ProbeNumbers;
  readonly readiness?: ProbeNumbers;
  readonly startup?: ProbeNumbers;
}

export interface ProbeNumbers {
  readonly initialDelaySeconds?: number;
  readonly timeoutSeconds?: number;
  readonly periodSeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
}

export interface PodSettings {
  readonly metadata?: ExtraMetadata;
  /** metadata of the Deployment or StatefulSet itself */
  readonly workloadMetadata?: ExtraMetadata;
  readonly nodeSelector?: Labels;
  readonly tolerations?: readonly Toleration[];
  readonly affinity?: NonNullable<PodSpec['affinity']>;
  readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[];
  readonly runtimeClassName?: string;
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly imagePullSecrets?: readonly string[];
  readonly securityContext?: PodSecurityContext;
  readonly initContainers?: readonly Container[];
  readonly containers?: readonly Container[];
  readonly volumes?: readonly Volume[];
  /** strategy of Deployments */
  readonly strategy?: JsonObject;
}

export type DataStoreSpec = OwnEtcdSpec | SharedEtcdSpec | KineSpec | K0sStorageSpec;

/** An etcd that belongs to the plane. */
export interface OwnEtcdSpec {
  readonly kind: 'own-etcd';
  /** 1, 3 or 5 */
  readonly members: number;
  readonly storage: { readonly size: string; readonly storageClass?: string };
  /** claims are deleted with the plane */
  readonly deleteVolumes: boolean;
  /** claims are deleted with their StatefulSet, because no controller deletes them in order */
  readonly claimsFollowSet?: boolean;
  readonly defragment?: DefragmentSpec;
  /** user name of Capstan in an etcd with authentication, where `root` exists from the start */
  readonly operatorName?: string;
}

export interface DefragmentSpec {
  /** cron expression */
  readonly schedule?: string;
  /** share of free space (0 to 1) from which a member is defragmented */
  readonly fragmentation?: number;
  /** overrides the other fields; parsed by `parseDefragmentRule` */
  readonly rule?: string;
}

/** A prefix in an etcd shared with others. */
export interface SharedEtcdSpec {
  readonly kind: 'shared-etcd';
  /** `host:port` */
  readonly endpoints: readonly string[];
  /** without slashes */
  readonly prefix: string;
  readonly user: string;
  /** CA that signs the client certificate */
  readonly authority: ExternalAuthority;
  /** endpoints by resource, for example events in another etcd */
  readonly overrides?: readonly { readonly resource: string; readonly endpoints: readonly string[] }[];
}

/** A database behind kine. Secret `naming.secrets['datastore-config']` has its address, user and password. */
export interface KineSpec {
  readonly kind: 'kine';
  readonly driver: 'MySQL' | 'PostgreSQL' | 'NATS';
  readonly endpoints: readonly string[];
  readonly schema: string;
  readonly user: string;
  /** TLS to the database: a Secret with ca.crt and optionally server.crt and server.key */
  readonly tls: boolean;
}

/** A store that k0s manages itself. */
export interface K0sStorageSpec {
  readonly kind: 'k0s';
  readonly source:
    | { readonly type: 'kine'; readonly url: string }
    /** key `K0SMOTRON_KINE_DATASOURCE_URL` of a Secret */
    | { readonly type: 'kine-secret'; readonly secretName: string }
    | { readonly type: 'nats'; readonly storageClass?: string; readonly size: string };
}

/** A CA managed elsewhere. */
export interface ExternalAuthority {
  readonly secretNamespace: string;
  readonly secretName: string;
  readonly certificateKey: string;
  readonly privateKeyKey: string;
}

export interface ExposureSpec {
  readonly type: 'ClusterIP' | 'NodePort' | 'LoadBalancer';
  /** port of the Service, and of the Pods unless `apiTargetPort` is set */
  readonly apiPort: number;
  readonly apiTargetPort?: number;
  /** second API port, for clients that connect by IP address */
  readonly legacyApiPort?: number;
  readonly konnectivityPort?: number;
  /** host specified by the user; overrides the observed one */
  readonly address?: string;
  /** address the API server advertises, if different */
  readonly advertiseAddress?: string;
  /** also sets Service.externalIPs to `address` */
  readonly addressAsExternalIp?: boolean;
  readonly metadata?: ExtraMetadata;
  readonly loadBalancerClass?: string;
  readonly loadBalancerSourceRanges?: readonly string[];
  readonly externalTrafficPolicy?: string;
  readonly allocateLoadBalancerNodePorts?: boolean;
  readonly additionalPorts?: readonly ServicePort[];
  /** additional SANs of the API server */
  readonly sans: readonly string[];
  readonly ingress?: IngressSpec;
  readonly gateway?: GatewaySpec;
  /** name of a second Service that shows the same address */
  readonly aliasServiceName?: string;
}

export interface IngressSpec {
  /** false if the user creates the Ingress */
  readonly deploy: boolean;
  readonly className?: string;
  readonly host: string;
  readonly konnectivityHost?: string;
  readonly port: number;
  readonly metadata?: ExtraMetadata;
}

export interface GatewaySpec {
  readonly namespace: string;
  readonly name: string;
  readonly sectionName?: string;
  /** listener port, if the route must name it */
  readonly port?: number;
  /** default: `<cluster>.<namespace>.` followed by the listener's domain */
  readonly hostname?: string;
  /** port that clients connect to; default 443 */
  readonly externalPort?: number;
  readonly metadata?: ExtraMetadata;
}

export interface NetworkSpec {
  readonly serviceCidrs: readonly string[];
  readonly podCidrs: readonly string[];
  readonly domain: string;
  /** default: the tenth address of each service CIDR */
  readonly dnsAddresses?: readonly string[];
}

export interface KonnectivityAgentSpec {
  /** agent replicas of a Deployment; undefined for a DaemonSet */
  readonly agentReplicas?: number;
  readonly agentHostNetwork?: boolean;
  readonly agentTolerations?: readonly Toleration[];
  readonly agentArgs?: readonly string[];
}

export interface AddonsSpec {
  readonly coreDns?: { readonly replicas: number };
  readonly kubeProxy?: { readonly args?: readonly string[] };
  /** nodes join with kubeadm, so its configuration and RBAC are kept in the cluster */
  readonly kubeadm: boolean;
  /** RFC 6902 patches of the kubelet configuration */
  readonly kubeletPatches?: readonly JsonObject[];
  readonly kubeletCgroupDriver?: string;
}

export interface WriteLimits {
  readonly blocksCreation: boolean;
  readonly blocksUpdate: boolean;
  readonly blocksDeletion: boolean;
}

export interface ApiServerSpec {
  readonly admissionPlugins: readonly string[];
  readonly kubeletPreferredAddressTypes?: readonly string[];
  readonly serviceAccountIssuer?: string;
  readonly audit?: AuditSpec;
  /** AuthenticationConfiguration, generated or user-supplied */
  readonly authentication?: JsonObject;
  /** encrypts Secrets of the workload cluster at rest */
  readonly encryptionAtRest?: boolean;
}

export interface AuditSpec {
  /** a Policy of audit.k8s.io */
  readonly policy: JsonObject;
  readonly mode: 'batch' | 'blocking' | 'blocking-strict';
  /** key `kubeconfig` of a Secret; without a webhook the log goes to the API server's output */
  readonly webhook?: {
    readonly secretName: string;
    /** image of the relay sidecar for several targets, configured by key `nginx.conf` of the Secret */
    readonly relayImage?: string;
  };
}

export interface CertificatePolicy {
  readonly authorityDurationMs: number;
  readonly leafDurationMs: number;
  /** how long before expiry a leaf certificate is renewed */
  readonly leafRenewBeforeMs: number;
  readonly authorityRenewBeforeMs: number;
  readonly algorithm?: KeyAlgorithm;
  /** user-supplied Secrets by credential; never created or changed */
  readonly external?: Readonly<Partial<Record<CredentialName, string>>>;
}

export interface K0sSpec {
  /** the user's ClusterConfig; empty if none */
  readonly config: JsonObject;
  /** flags of `k0s controller` */
  readonly flags: readonly string[];
  readonly persistence:
    | { readonly type: 'emptyDir' }
    | { readonly type: 'hostPath'; readonly path: string }
    | { readonly type: 'pvc'; readonly claim: JsonObject; readonly autoDelete: boolean };
  /** core Volumes whose files k0s applies to the workload cluster */
  readonly manifests: readonly Volume[];
  /** volumes with their mount paths */
  readonly mounts: readonly { readonly path: string; readonly readOnly: boolean; readonly source: JsonObject }[];
  readonly monitoring?: { readonly prometheusImage: string; readonly proxyImage: string };
}

export interface BackupSpec {
  /** cron expression, or @daily and similar */
  readonly schedule: string;
  /** why no backup can be made */
  readonly problem?: string;
  readonly target: /** the plane's subdirectory of the operator's directory */
    | { readonly type: 'directory' }
    | {
        readonly type: 's3';
        readonly secretNamespace: string;
        readonly secretName: string;
        readonly keys: {
          readonly accessKeyId: string;
          readonly secretAccessKey: string;
          readonly host: string;
          readonly region: string;
          readonly bucket: string;
        };
      };
}

/** An entry of k0smotron's `patches[]`. */
export interface ObjectPatch {
  readonly kind: string;
  /** value of label `app.kubernetes.io/component` */
  readonly component: string;
  readonly type: 'json' | 'strategic' | 'merge';
  /** JSON or YAML */
  readonly content: string;
}

/** OpenStack credentials for controllers inside the workload cluster. */
export interface CloudCredentials {
  /** Secrets inside the workload cluster */
  readonly secrets: readonly { readonly namespace: string; readonly name: string }[];
  readonly cloudsYaml: string;
  readonly cloudConf: string;
  /** PEM */
  readonly ca?: string;
}
