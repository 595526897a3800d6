import type { ObjectKey } from '../../../client/index.ts';
import { CapstanError } from '../../../machinery/index.ts';

/** One member of an etcd cluster. Ids are in hexadecimal without leading zeros, as etcdctl prints them. */
export interface EtcdMember {
  id: string;
  /** empty until the member has started for the first time */
  name: string;
  peerUrls: readonly string[];
  clientUrls: readonly string[];
  /** follows along, but has no vote yet */
  isLearner: boolean;
}

/** What one member says of itself. */
export interface EtcdStatus {
  memberId: string;
  /** `0` when there is none */
  leaderId: string;
  version: string;
  isLearner: boolean;
  raftTerm: number;
  raftIndex: number;
  raftAppliedIndex: number;
  /** of the file, with what defragmenting would give back */
  dbSizeBytes: number;
  /** of what is stored in it */
  dbSizeInUseBytes: number;
  /** for people to read */
  errors: readonly string[];
}

export type EtcdAlarmType = 'NOSPACE' | 'CORRUPT';

export interface EtcdAlarm {
  memberId: string;
  type: EtcdAlarmType;
}

/** A connection to one member. Questions about the cluster are answered with the consent of its majority. */
export interface EtcdClient {
  members(signal: AbortSignal): Promise<EtcdMember[]>;
  status(signal: AbortSignal): Promise<EtcdStatus>;
  alarms(signal: AbortSignal): Promise<EtcdAlarm[]>;
  /** resolves with the members that are left */
  removeMember(id: string, signal: AbortSignal): Promise<EtcdMember[]>;
  promoteMember(id: string, signal: AbortSignal): Promise<EtcdMember[]>;
  /** only the leader can do it */
  moveLeader(targetId: string, signal: AbortSignal): Promise<void>;
  /** whether the connection is gone */
  isClosed(): boolean;
  close(): void;
}

/** Changes to an etcd that is ours to run, beside what every caller may ask. */
export interface EtcdAdministrator extends EtcdClient {
  /** announces a member that follows along without a vote; resolves with its id */
  addLearner(peerUrls: readonly string[], signal: AbortSignal): Promise<string>;
  /** gives back what deleted revisions took; the member answers nobody meanwhile */
  defragment(signal: AbortSignal): Promise<void>;
  /** hands the content of the store to `write`, part by part, as `etcdctl snapshot restore` takes it */
  snapshot(write: (part: Buffer) => void | Promise<void>, signal: AbortSignal): Promise<void>;
  /** ends an alarm whose cause is gone */
  disarm(alarm: EtcdAlarm, signal: AbortSignal): Promise<void>;
  /** users, roles and keys of tenants that share this etcd */
  readonly tenants: EtcdTenants;
  /** what is stored, key by key */
  readonly keys: EtcdKeys;
}

export interface EtcdKey {
  key: Buffer;
  value: Buffer;
}

export interface EtcdKeys {
  put(entry: EtcdKey, signal: AbortSignal): Promise<void>;
  /** forgets everything; resolves with the number of keys */
  deleteAll(signal: AbortSignal): Promise<number>;
}

/** Several API servers in one etcd: each may touch its own keys and no others. */
export interface EtcdTenants {
  /** a user that shows a certificate instead of a password, and may read and write below a prefix */
  ensure(tenant: EtcdTenant, signal: AbortSignal): Promise<void>;
  /** forgets the user, its role and, when asked, all its keys */
  drop(tenant: EtcdTenant, options: { keys: boolean }, signal: AbortSignal): Promise<void>;
  /** turns the checks on; needs the user and the role `root`, which are made when they are missing */
  enforce(signal: AbortSignal): Promise<void>;
}

export interface EtcdTenant {
  user: string;
  role: string;
  /** with the slashes around it */
  prefix: string;
}

/** Which member to talk to: the one in the Pod `etcd-<node>` of a workload cluster. */
export interface EtcdTarget {
  cluster: ObjectKey;
  node: string;
}

export type OpenEtcd = (target: EtcdTarget, signal: AbortSignal) => Promise<EtcdClient>;

/** etcd refused a request, or nobody answered. */
export class EtcdError extends CapstanError {
  /** gRPC status; undefined when there was no answer */
  readonly status: number | undefined;

  constructor(message: string, options: { status?: number; hint?: string; cause?: unknown } = {}) {
    super('CAP_ETCD', message, options);
    this.name = 'EtcdError';
    this.status = options.status;
  }
}
