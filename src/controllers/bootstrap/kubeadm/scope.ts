import type { Cluster, KubeadmConfig, KubeadmConfigSpec } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import type { CacheReader, ReconcileContext } from '../../../runtime/index.ts';
import type { ExternalObjects, Follower, LegacyVerdict, Verdict, WorkloadClusters } from '../../shared/index.ts';
import type { ConfigOwner } from '../common/owner.ts';

/** What the controller is given. */
export interface KubeadmConfigDependencies {
  /** the shared caches of the manager, for finding who is concerned by an event */
  cache: CacheReader;
  client: Client;
  workloads: WorkloadClusters;
  externals: ExternalObjects;
  watchFilter?: string;
  concurrency?: number;
  /** how long a bootstrap token is good for; default 15 minutes */
  tokenTtlMs?: number;
}

/** One pass over one configuration: what was read, and the draft that will be written. */
export interface KubeadmConfigScope {
  readonly context: ReconcileContext;
  readonly dependencies: KubeadmConfigDependencies;
  readonly follower: Follower;
  readonly cluster: Cluster;
  readonly owner: ConfigOwner;
  readonly tokenTtlMs: number;
  /** as stored; replaced when something had to be recorded before it was done */
  original: KubeadmConfig;
  /** private copy: steps change it, one place writes it */
  config: KubeadmConfig;
  certificates?: Finding;
  dataSecret?: Finding;
}

/** What a step found out, for both generations of conditions. */
export interface Finding {
  verdict: Verdict;
  legacy: LegacyVerdict;
}

/** A configuration that leaves everything to us may have no spec at all. */
export function specOf({ spec }: Pick<KubeadmConfig, 'metadata'> & { spec?: KubeadmConfigSpec }): KubeadmConfigSpec {
  return spec ?? {};
}
