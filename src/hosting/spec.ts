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

// What is wanted of a hosted control plane, whichever kind a user wrote it in. Defaults are filled in by whoever makes a spec.

export type Labels = Readonly<Record<string, string>>;

/** Labels and annotations a user wants on top of ours. */
export interface ExtraMetadata {
  readonly labels?: Labels;
  readonly annotations?: Labels;
}

/**
 * How the programs are put into Pods: `k0s` is one StatefulSet of k0s controllers, `together` one Deployment whose Pods hold all
 * components, `hardened` the same with Pods that may do nothing the programs do not need, each on a node of its own.
 */
export type PlaneLayout = 'k0s' | 'together' | 'hardened';

export interface PlaneSpec {
  readonly identity: PlaneIdentity;
  readonly naming: PlaneNaming;
  readonly layout: PlaneLayout;
  /** with a leading v; for k0s in the form `v1.32.6+k0s.0` */
  readonly version: string;
  /** of the API server, or of k0s; 0: asleep, nothing runs and all data stays */
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
  /** which writes the API of the workload cluster refuses; undefined: not a matter of this plane */
  readonly writeLimits?: WriteLimits;
  /** changes a user wants in the objects of the plane, in order */
  readonly patches: readonly ObjectPatch[];
}

/** What the etcd of a plane is made from; also enough for an etcd that belongs to no plane. */
export type EtcdClusterSpec = Pick<
  PlaneSpec,
  'identity' | 'naming' | 'replicas' | 'images' | 'components' | 'pods' | 'dataStore' | 'certificates' | 'patches'
>;

export interface PlaneIdentity {
  readonly namespace: string;
  /** of the Cluster; for planes without one, of the object itself */
  readonly clusterName: string;
  /** the object the plane belongs to: owner of all that is made here */
  readonly owner: OwnerReference;
  /** of that owner; go onto every object */
  readonly metadata?: ExtraMetadata;
}

/** Full references, tag included. */
export interface PlaneImages {
  /** k0s layout only */
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
  /** as on a command line: `--flag=value`; who wins over ours is the matter of each layout */
  readonly args?: readonly string[];
  readonly resources?: ResourceRequirements;
  readonly imagePullPolicy?: string;
  readonly priorityClassName?: string;
  readonly securityContext?: SecurityContext;
  readonly volumes?: readonly Volume[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly probes?: ProbeSpecs;
  /**
   * `hardened` only; controller manager and scheduler: 0 leaves the program out. Every replica of the plane has one of each
   * otherwise, whatever is asked for here.
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

/** What all Pods of the plane have in common. */
export interface PodSettings {
  readonly metadata?: ExtraMetadata;
  /** on the Deployment or StatefulSet itself */
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
  /** of Deployments, as they write it */
  readonly strategy?: JsonObject;
}

export type DataStoreSpec = OwnEtcdSpec | SharedEtcdSpec | KineSpec | K0sStorageSpec;

/** An etcd of the plane's own. */
export interface OwnEtcdSpec {
  readonly kind: 'own-etcd';
  /** 1, 3 or 5 */
  readonly members: number;
  readonly storage: { readonly size: string; readonly storageClass?: string };
  /** claims go with the plane */
  readonly deleteVolumes: boolean;
  /** nobody takes the claims away in order when the end comes: they go with their StatefulSet, whoever deletes it */
  readonly claimsFollowSet?: boolean;
  readonly defragment?: DefragmentSpec;
  /** who we are to an etcd that checks its users; such a one knows `root` from the start */
  readonly operatorName?: string;
}

export interface DefragmentSpec {
  /** cron */
  readonly schedule?: string;
  /** a share of the file that is free, 0 to 1, from which a member is worth the pause */
  readonly fragmentation?: number;
  /** says alone when a member is worth the pause, as `parseDefragmentRule` reads it */
  readonly rule?: string;
}

/** A prefix of an etcd that others use too. */
export interface SharedEtcdSpec {
  readonly kind: 'shared-etcd';
  /** `host:port` */
  readonly endpoints: readonly string[];
  /** without slashes */
  readonly prefix: string;
  readonly user: string;
  /** who signs the certificate of the user */
  readonly authority: ExternalAuthority;
  /** resource -> endpoints; e.g. events in another etcd */
  readonly overrides?: readonly { readonly resource: string; readonly endpoints: readonly string[] }[];
}

/** A database behind kine. The Secret with its address, user and password is `naming.secrets['datastore-config']`. */
export interface KineSpec {
  readonly kind: 'kine';
  readonly driver: 'MySQL' | 'PostgreSQL' | 'NATS';
  readonly endpoints: readonly string[];
  readonly schema: string;
  readonly user: string;
  /** certificates for the way to the database: a Secret with ca.crt and, optionally, server.crt and server.key */
  readonly tls: boolean;
}

/** What k0s does by itself. */
export interface K0sStorageSpec {
  readonly kind: 'k0s';
  readonly source:
    | { readonly type: 'kine'; readonly url: string }
    /** key `K0SMOTRON_KINE_DATASOURCE_URL` of a Secret */
    | { readonly type: 'kine-secret'; readonly secretName: string }
    | { readonly type: 'nats'; readonly storageClass?: string; readonly size: string };
}

/** A certificate authority somebody else keeps. */
export interface ExternalAuthority {
  readonly secretNamespace: string;
  readonly secretName: string;
  readonly certificateKey: string;
  readonly privateKeyKey: string;
}

export interface ExposureSpec {
  readonly type: 'ClusterIP' | 'NodePort' | 'LoadBalancer';
  /** of the Service, and of the Pods unless `apiTargetPort` says otherwise */
  readonly apiPort: number;
  readonly apiTargetPort?: number;
  /** a second port to the API, for clients that come by address */
  readonly legacyApiPort?: number;
  readonly konnectivityPort?: number;
  /** what users say the host is; wins over what is observed */
  readonly address?: string;
  /** what the API server tells the world, where that is another address */
  readonly advertiseAddress?: string;
  /** `address` goes into Service.externalIPs */
  readonly addressAsExternalIp?: boolean;
  readonly metadata?: ExtraMetadata;
  readonly loadBalancerClass?: string;
  readonly loadBalancerSourceRanges?: readonly string[];
  readonly externalTrafficPolicy?: string;
  readonly allocateLoadBalancerNodePorts?: boolean;
  readonly additionalPorts?: readonly ServicePort[];
  /** further names of the API server */
  readonly sans: readonly string[];
  readonly ingress?: IngressSpec;
  readonly gateway?: GatewaySpec;
  /** a second Service of this name that shows the same address */
  readonly aliasServiceName?: string;
}

export interface IngressSpec {
  /** false: somebody else makes the Ingress */
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
  /** of the listener, where the route is to name it */
  readonly port?: number;
  /** without one: `<cluster>.<namespace>.` and the domain of the listener */
  readonly hostname?: string;
  /** where clients connect; default 443 */
  readonly externalPort?: number;
  readonly metadata?: ExtraMetadata;
}

export interface NetworkSpec {
  readonly serviceCidrs: readonly string[];
  readonly podCidrs: readonly string[];
  readonly domain: string;
  /** default: the tenth address of each service range */
  readonly dnsAddresses?: readonly string[];
}

export interface KonnectivityAgentSpec {
  /** replicas of the agent, where it is a Deployment; undefined: a DaemonSet */
  readonly agentReplicas?: number;
  readonly agentHostNetwork?: boolean;
  readonly agentTolerations?: readonly Toleration[];
  readonly agentArgs?: readonly string[];
}

export interface AddonsSpec {
  readonly coreDns?: { readonly replicas: number };
  readonly kubeProxy?: { readonly args?: readonly string[] };
  /** nodes join with kubeadm: all it reads and needs permission for is kept in the cluster */
  readonly kubeadm: boolean;
  /** RFC 6902, on the configuration of kubelets */
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
  /** an AuthenticationConfiguration, or what a user brought as one */
  readonly authentication?: JsonObject;
  /** Secrets of the workload cluster are stored encrypted */
  readonly encryptionAtRest?: boolean;
}

export interface AuditSpec {
  /** a Policy of audit.k8s.io */
  readonly policy: JsonObject;
  readonly mode: 'batch' | 'blocking' | 'blocking-strict';
  /** key `kubeconfig` of a Secret; without one the log goes to the output of the API server */
  readonly webhook?: {
    readonly secretName: string;
    /** of a relay beside the API server, where the log goes to several places; key `nginx.conf` of the Secret is its own */
    readonly relayImage?: string;
  };
}

export interface CertificatePolicy {
  readonly authorityDurationMs: number;
  readonly leafDurationMs: number;
  /** how long before its end a leaf is made anew */
  readonly leafRenewBeforeMs: number;
  readonly authorityRenewBeforeMs: number;
  readonly algorithm?: KeyAlgorithm;
  /** Secrets a user brought, by what they are for: never made or changed here */
  readonly external?: Readonly<Partial<Record<CredentialName, string>>>;
}

export interface K0sSpec {
  /** the ClusterConfig of a user; empty: none */
  readonly config: JsonObject;
  /** of `k0s controller` */
  readonly flags: readonly string[];
  readonly persistence:
    | { readonly type: 'emptyDir' }
    | { readonly type: 'hostPath'; readonly path: string }
    | { readonly type: 'pvc'; readonly claim: JsonObject; readonly autoDelete: boolean };
  /** core Volumes whose files k0s applies to the workload cluster */
  readonly manifests: readonly Volume[];
  /** volumes with the path they go to */
  readonly mounts: readonly { readonly path: string; readonly readOnly: boolean; readonly source: JsonObject }[];
  readonly monitoring?: { readonly prometheusImage: string; readonly proxyImage: string };
}

export interface BackupSpec {
  /** cron, or @daily and the like */
  readonly schedule: string;
  /** why none can be made */
  readonly problem?: string;
  readonly target: /** the plane's own place below the directory the operator gave */
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

/** k0smotron's `patches[]`. */
export interface ObjectPatch {
  readonly kind: string;
  /** label `app.kubernetes.io/component` */
  readonly component: string;
  readonly type: 'json' | 'strategic' | 'merge';
  /** JSON or YAML */
  readonly content: string;
}

/** OpenStack credentials that controllers inside the workload cluster need. */
export interface CloudCredentials {
  /** Secrets inside the workload cluster */
  readonly secrets: readonly { readonly namespace: string; readonly name: string }[];
  readonly cloudsYaml: string;
  readonly cloudConf: string;
  /** PEM */
  readonly ca?: string;
}
