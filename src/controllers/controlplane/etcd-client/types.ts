import type { ObjectKey } from '../../../client/index.ts';
import { CapstanError } from '../../../machinery/index.ts';

/** One etcd member. Ids are hexadecimal without leading zeros, as etcdctl prints them. */
export interface EtcdMember {
  id: string;
  /** empty until the first start of the member */
  name: string;
  peerUrls: readonly string[];
  clientUrls: readonly string[];
  /** replicates data without a vote */
  isLearner: boolean;
}

export interface EtcdStatus {
  memberId: string;
  /** `0` without a leader */
  leaderId: string;
  version: string;
  isLearner: boolean;
  raftTerm: number;
  raftIndex: number;
  raftAppliedIndex: number;
  /** file size, including space that defragmentation would free */
  dbSizeBytes: number;
  /** size of the stored data */
  dbSizeInUseBytes: number;
  /** human-readable */
  errors: readonly string[];
}

export type EtcdAlarmType = 'NOSPACE' | 'CORRUPT';

export interface EtcdAlarm {
  memberId: string;
  type: EtcdAlarmType;
}

/** A connection to one member. Queries about the cluster are linearizable. */
export interface EtcdClient {
  members(signal: AbortSignal): Promise<EtcdMember[]>;
  status(signal: AbortSignal): Promise<EtcdStatus>;
  alarms(signal: AbortSignal): Promise<EtcdAlarm[]>;
  /** resolves with the remaining members */
  removeMember(id: string, signal: AbortSignal): Promise<EtcdMember[]>;
  promoteMember(id: string, signal: AbortSignal): Promise<EtcdMember[]>;
  /** only the leader accepts this */
  moveLeader(targetId: string, signal: AbortSignal): Promise<void>;
  /** whether the connection is closed */
  isClosed(): boolean;
  close(): void;
}

/** Administrative operations, for etcd clusters that Capstan runs. */
export interface EtcdAdministrator extends EtcdClient {
  /** adds a learner and resolves with its id */
  addLearner(peerUrls: readonly string[], signal: AbortSignal): Promise<string>;
  /** frees the space of deleted revisions; the member answers no other requests meanwhile */
  defragment(signal: AbortSignal): Promise<void>;
  /** passes the snapshot to `write` in chunks, in the format of `etcdctl snapshot restore` */
  snapshot(write: (part: Buffer) => void | Promise<void>, signal: AbortSignal): Promise<void>;
  /** clears an alarm whose cause is resolved */
  disarm(alarm: EtcdAlarm, signal: AbortSignal): Promise<void>;
  /** users, roles and keys of tenants that share this etcd */
  readonly tenants: EtcdTenants;
  /** access to stored keys */
  readonly keys: EtcdKeys;
}

export interface EtcdKey {
  key: Buffer;
  value: Buffer;
}

export interface EtcdKeys {
  put(entry: EtcdKey, signal: AbortSignal): Promise<void>;
  /** deletes all keys; resolves with their number */
  deleteAll(signal: AbortSignal): Promise<number>;
}

/** Multi-tenancy for API servers that share one etcd: each can access only its own keys. */
export interface EtcdTenants {
  /** creates a user with certificate authentication and access below a prefix */
  ensure(tenant: EtcdTenant, signal: AbortSignal): Promise<void>;
  /** deletes the user and its role, and all its keys on request */
  drop(tenant: EtcdTenant, options: { keys: boolean }, signal: AbortSignal): Promise<void>;
  /** enables authentication; creates the user and role `root` that it requires */
  enforce(signal: AbortSignal): Promise<void>;
}

export interface EtcdTenant {
  user: string;
  role: string;
  /** key prefix with leading and trailing slash */
  prefix: string;
}

/** A member by its node: Pod `etcd-<node>` in a workload cluster. */
export interface EtcdTarget {
  cluster: ObjectKey;
  node: string;
}

export type OpenEtcd = (target: EtcdTarget, signal: AbortSignal) => Promise<EtcdClient>;

/** etcd refused a request or did not answer. */
export class EtcdError extends CapstanError {
  /** gRPC status; undefined without an answer */
  readonly status: number | undefined;

  constructor(message: string, options: { status?: number; hint?: string; cause?: unknown } = {}) {
    super('CAP_ETCD', message, options);
    this.name = 'EtcdError';
    this.status = options.status;
  }
}
