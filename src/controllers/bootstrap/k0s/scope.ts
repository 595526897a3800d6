import type { Cluster, K0sWorkerConfig } from '../../../api/index.ts';
import type { CacheReader, ReconcileContext } from '../../../runtime/index.ts';
import type { ExternalObjects, Follower, Verdict, WorkloadClusters } from '../../shared/index.ts';
import type { ConfigOwner } from '../common/owner.ts';

/** What the controller is given. */
export interface K0sWorkerConfigDependencies {
  /** the shared caches of the manager, for finding who is concerned by an event */
  cache: CacheReader;
  workloads: WorkloadClusters;
  externals: ExternalObjects;
  watchFilter?: string;
  concurrency?: number;
  /** how long a join token is good for; default a day */
  tokenTtlMs?: number;
}

/** One pass over one configuration: what was read, and the draft that will be written. */
export interface K0sWorkerConfigScope {
  readonly context: ReconcileContext;
  readonly dependencies: K0sWorkerConfigDependencies;
  readonly follower: Follower;
  readonly cluster: Cluster;
  readonly owner: ConfigOwner;
  readonly tokenTtlMs: number;
  readonly original: K0sWorkerConfig;
  /** private copy: steps change it, one place writes it */
  readonly config: K0sWorkerConfig;
  /** of DataSecretAvailable; what nobody looked at keeps what it said before */
  dataSecret?: Verdict;
}
