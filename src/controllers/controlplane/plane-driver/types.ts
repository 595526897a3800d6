import type { Duplex } from 'node:stream';
import type { Cluster } from '../../../api/index.ts';
import type { Client, ObjectKey } from '../../../client/index.ts';
import type { CredentialName, Endpoint, PlaneSpec, Rotatable } from '../../../hosting/index.ts';
import type { KubeObject, PeerPolicy } from '../../../machinery/index.ts';
import type { CacheReader, ReconcileContext, Result, RuntimeMetrics } from '../../../runtime/index.ts';
import type { Follower, Verdict, WorkloadClusters } from '../../shared/index.ts';
import type { EtcdKey } from '../etcd-client/types.ts';
import type { OpenPlaneEtcd } from './etcd/connect.ts';

// Where the controllers of hosted kinds meet what drives a plane. They say what is wanted and show what is reported.

/** A byte stream to a port of a Pod of the management API. Rejects with the reason, in the words of a kubelet. */
export type ConnectPod = (pod: ObjectKey, port: number, signal: AbortSignal) => Promise<Duplex>;

/** Whoever stores backups of a plane's etcd. */
export interface BackupStore {
  /** stores parts as they come; resolves when all is safe. A backup that was cut off must not be found later. */
  write(name: string, parts: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void>;
  /** names that begin with the prefix, sorted */
  list(prefix: string, signal: AbortSignal): Promise<string[]>;
  read(name: string, signal: AbortSignal): AsyncIterable<Buffer>;
}

/** Reads a snapshot of another form than etcd's own; undefined: it is none of that form. */
export type SnapshotReader = (file: Buffer) => Promise<readonly EtcdKey[] | undefined>;

export interface PlaneDependencies {
  /** the shared caches of the manager */
  cache: CacheReader;
  workloads: WorkloadClusters;
  /** how ports of Pods on the management API are reached: its port-forward, or in one process what runs the Pods */
  connectPod: ConnectPod;
  /** how members of etcd are talked to; default: with TLS over `connectPod` */
  etcd?: OpenPlaneEtcd;
  metrics?: RuntimeMetrics;
  /** for backups that an etcd made which is not a real one */
  snapshotReaders?: readonly SnapshotReader[];
  /** where backups go that name no store of their own; without it there are none */
  backupDirectory?: string;
  /** which peers may be asked on the word of a tenant; default: any */
  peers?: PeerPolicy;
}

/** One object and what is wanted of its plane. */
export interface PlaneRequest {
  context: ReconcileContext;
  /** the object of the user: events are told of it, and requests for a rotation are read from its annotations */
  owner: KubeObject;
  desired: PlaneSpec;
  /** absent for planes that belong to no Cluster */
  cluster?: Cluster;
  /** finds the infrastructure of the Cluster; needed where there is one */
  follower?: Follower;
  /** the way into the workload cluster; default: `workloads` under the key of the Cluster. Throws WorkloadNotConnectedError. */
  workload?: () => Client;
  /** the API has answered once before */
  isInitialized: boolean;
  /** asked for by people: which rotation, under a name that is new for every request */
  rotate?: readonly RotationRequest[];
  /** a backup the plane is to begin with, or to go back to */
  restore?: RestoreRequest;
  /** Secrets of the workload cluster that are to hold the credentials of its cloud; none: people see to them themselves */
  cloudSecrets?: readonly Required<ObjectKey>[];
}

export interface RotationRequest {
  what: Rotatable;
  /** tells this request from the one before: the value of an annotation, a time */
  token: string;
}

export interface RestoreRequest {
  /** name of the backup in the store; `latest` takes the newest */
  backup: string;
  /** of the plane the backup was made of, where that was another one */
  from?: Required<ObjectKey>;
  token: string;
  /** why it cannot be followed */
  problem?: string;
}

/** The steps of a plane that are reported; each becomes a condition under the name its kind's users know. */
export type PlaneStage =
  | 'version'
  | 'exposure'
  | 'endpoint'
  | 'certificates'
  | 'etcd'
  | 'restore'
  | 'kubeconfig'
  | 'routes'
  | 'arguments'
  | 'workloads'
  | 'backup'
  | 'functional'
  | 'inCluster'
  | 'cloudCredentials'
  | 'rotation';

/** Going on in the background, these keep nobody from working. */
export const backgroundStages: ReadonlySet<PlaneStage> = new Set([
  'inCluster',
  'cloudCredentials',
  'arguments',
  'rotation',
  'backup',
]);

export interface PlaneCounts {
  desired: number;
  replicas: number;
  ready: number;
  available: number;
  upToDate: number;
}

export interface CertificateReport {
  credential: CredentialName;
  secret: string;
  /** milliseconds since the epoch */
  expiresAt: number;
}

export interface EtcdReport {
  members: number;
  ready: number;
  hasQuorum: boolean;
  version?: string;
  /** of the largest member */
  dbSizeBytes?: number;
  dbSizeInUseBytes?: number;
  volumeSize?: string;
  lastDefragmentationMs?: number;
}

export interface BackupReport {
  lastMs?: number;
  nextMs?: number;
  lastName?: string;
}

/** What was seen of a plane, and what it waits for. */
export interface PlaneReport {
  /** stages that were reached, in order; those that do not concern the plane are left out */
  stages: ReadonlyMap<PlaneStage, Verdict>;
  /** everything that is wanted is so */
  isSettled: boolean;
  endpoint?: Endpoint;
  /** address of the load balancer, or whatever the Service shows */
  serviceAddress?: string;
  counts: PlaneCounts;
  /** the lowest version that runs in a ready Pod, in the spelling of the spec */
  runningVersion?: string;
  /** of the Pods counted, for the scale subresource */
  selector: string;
  /** the workload API answers now */
  isFunctional: boolean;
  certificates: readonly CertificateReport[];
  etcd?: EtcdReport;
  backup?: BackupReport;
  /** steps of rotations that are under way, in words */
  rotations: readonly string[];
  result: Result;
  /** what went wrong and has to be tried again by the queue; the report tells how far it came */
  error?: unknown;
}

/** How far the end of a plane is. */
export interface RemovalReport {
  isGone: boolean;
  reason: string;
  message: string;
  result: Result;
}
