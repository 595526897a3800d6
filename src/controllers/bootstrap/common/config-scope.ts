import type { Cluster, StatusCondition } from '../../../api/index.ts';
import type { KubeObject } from '../../../machinery/index.ts';
import type { CacheReader, ReconcileContext } from '../../../runtime/index.ts';
import type { ExternalObjects, Follower, WorkloadClusters } from '../../shared/index.ts';
import type { ConfigOwner } from './owner.ts';

/** What all kinds of configurations have in common. */
export interface BootstrapConfig extends KubeObject {
  status?: {
    dataSecretName?: string;
    initialization?: { dataSecretCreated?: boolean };
    conditions?: StatusCondition[];
  };
}

/** What a controller of configurations is given. */
export interface ConfigDependencies {
  /** the shared caches of the manager, for finding who is concerned by an event */
  cache: CacheReader;
  workloads: WorkloadClusters;
  externals: ExternalObjects;
  watchFilter?: string;
  concurrency?: number;
  /** how long a token to join with is good for; each kind has its default */
  tokenTtlMs?: number;
}

/** One pass over one configuration: what was read, and the draft that will be written. */
export interface ConfigScope<T extends BootstrapConfig, D extends ConfigDependencies, Finding> {
  readonly context: ReconcileContext;
  readonly dependencies: D;
  readonly follower: Follower;
  readonly cluster: Cluster;
  readonly owner: ConfigOwner;
  readonly tokenTtlMs: number;
  /** as stored; replaced when something had to be recorded before it was done */
  original: T;
  /** private copy: steps change it, one place writes it */
  config: T;
  /** of DataSecretAvailable; what nobody looked at keeps what it said before */
  dataSecret?: Finding;
}

/** The Secret with the user data that was made, once it is known to be. */
export function dataSecretNameOf({
  config: { status },
  owner,
}: Pick<ConfigScope<BootstrapConfig, ConfigDependencies, unknown>, 'config' | 'owner'>): string | undefined {
  const created = status?.initialization?.dataSecretCreated === true ? status.dataSecretName : undefined;
  // the owner knows what it booted with, also when our status was lost in a move or a restore
  return created || owner.dataSecretName;
}
