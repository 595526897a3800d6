import type { Duplex } from 'node:stream';
import type { Cluster } from '../../../api/index.ts';
import type { Client, ObjectKey } from '../../../client/index.ts';
import type { CredentialName, Endpoint, PlaneSpec, Rotatable } from '../../../hosting/index.ts';
import type { KubeObject, PeerPolicy } from '../../../machinery/index.ts';
import type { CacheReader, ReconcileContext, Result, RuntimeMetrics } from '../../../runtime/index.ts';
import type { Follower, Verdict, WorkloadClusters } from '../../shared/index.ts';
import type { EtcdKey } from '../etcd-client/types.ts';
import type { OpenPlaneEtcd } from './etcd/connect.ts';

// Interface between controllers of hosted kinds and the engine: a request in, a report out.

/** Opens a byte stream to a Pod port in the management cluster. Rejects with the kubelet's message. */
export type ConnectPod = (pod: ObjectKey, port: number, signal: AbortSignal) => Promise<Duplex>;

/** Storage for etcd backups. */
export interface BackupStore {
  /** stores chunks as they arrive and resolves once all are durable; an interrupted backup must not become visible */
  write(name: string, parts: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void>;
  /** names with the prefix, sorted */
  list(prefix: string, signal: AbortSignal): Promise<string[]>;
  read(name: string, signal: AbortSignal): AsyncIterable<Buffer>;
}

/** Reads snapshots in a format other than etcd's; undefined if the format does not match. */
export type SnapshotReader = (file: Buffer) => Promise<readonly EtcdKey[] | undefined>;

export interface PlaneDependencies {
  /** shared caches of the manager */
  cache: CacheReader;
  workloads: WorkloadClusters;
  /** opens Pod ports in the management cluster: by port-forward, or directly if the Pods run in this process */
  connectPod: ConnectPod;
  /** connects to etcd members; default: TLS over `connectPod` */
  etcd?: OpenPlaneEtcd;
  metrics?: RuntimeMetrics;
  /** readers for backups of a simulated etcd */
  snapshotReaders?: readonly SnapshotReader[];
  /** directory for backups without a store of their own; without it they are refused */
  backupDirectory?: string;
  /** hosts that may be contacted on behalf of tenants; default any */
  peers?: PeerPolicy;
}

/** The user's object and the spec of its plane. */
export interface PlaneRequest {
  context: ReconcileContext;
  /** the user's object: receives events; its annotations may request rotations */
  owner: KubeObject;
  desired: PlaneSpec;
  /** absent for planes without a Cluster */
  cluster?: Cluster;
  /** finds the infrastructure of the Cluster; required if there is one */
  follower?: Follower;
  /**
   * client of the workload cluster; default: `workloads` with the key of the Cluster. Throws WorkloadNotConnectedError.
   */
  workload?: () => Client;
  /** the API has answered before */
  isInitialized: boolean;
  /** requested rotations, with an id that is new for every request */
  rotate?: readonly RotationRequest[];
  /** backup to start from or to restore */
  restore?: RestoreRequest;
  /** Secrets of the workload cluster that receive its cloud credentials; none if users create them */
  cloudSecrets?: readonly Required<ObjectKey>[];
}

export interface RotationRequest {
  what: Rotatable;
  /** distinguishes requests: an annotation value or a time */
  token: string;
}

export interface RestoreRequest {
  /** name of the backup in the store; `latest` for the newest */
  backup: string;
  /** the plane that was backed up, if it is a different one */
  from?: Required<ObjectKey>;
  token: string;
  /** why the request is refused */
  problem?: string;
}

/** Reported stages of a plane; each kind maps them to its condition types. */
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

/** Stages that run in the background and block nobody. */
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
  /** size of the largest member */
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

/** Observed state of a plane, and what it waits for. */
export interface PlaneReport {
  /** stages reached, in order; stages that do not apply are absent */
  stages: ReadonlyMap<PlaneStage, Verdict>;
  /** everything is as desired */
  isSettled: boolean;
  endpoint?: Endpoint;
  /** address of the load balancer, or another address the Service has */
  serviceAddress?: string;
  counts: PlaneCounts;
  /** lowest version in a ready Pod, in the format of the spec */
  runningVersion?: string;
  /** selector of the counted Pods, for the scale subresource */
  selector: string;
  /** the workload API answers now */
  isFunctional: boolean;
  certificates: readonly CertificateReport[];
  etcd?: EtcdReport;
  backup?: BackupReport;
  /** descriptions of running rotations */
  rotations: readonly string[];
  result: Result;
  /** an error for the queue to retry; the report contains the progress made before it */
  error?: unknown;
}

/** Progress of a deletion. */
export interface RemovalReport {
  isGone: boolean;
  reason: string;
  message: string;
  result: Result;
}
