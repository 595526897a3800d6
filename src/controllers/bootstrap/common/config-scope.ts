import type { Cluster, StatusCondition } from '../../../api/index.ts';
import type { KubeObject } from '../../../machinery/index.ts';
import type { CacheReader, ReconcileContext } from '../../../runtime/index.ts';
import type { ExternalObjects, Follower, WorkloadClusters } from '../../shared/index.ts';
import type { ConfigOwner } from './owner.ts';

/** Common fields of all bootstrap configuration kinds. */
export interface BootstrapConfig extends KubeObject {
  status?: {
    dataSecretName?: string;
    initialization?: { dataSecretCreated?: boolean };
    conditions?: StatusCondition[];
  };
}

export interface ConfigDependencies {
  /** shared caches of the manager, used to map events to affected objects */
  cache: CacheReader;
  workloads: WorkloadClusters;
  externals: ExternalObjects;
  watchFilter?: string;
  concurrency?: number;
  /** lifetime of join tokens; the default depends on the kind */
  tokenTtlMs?: number;
}

/** State of one reconcile of a configuration: the inputs and the draft that is written at the end. */
export interface ConfigScope<T extends BootstrapConfig, D extends ConfigDependencies, Finding> {
  readonly context: ReconcileContext;
  readonly dependencies: D;
  readonly follower: Follower;
  readonly cluster: Cluster;
  readonly owner: ConfigOwner;
  readonly tokenTtlMs: number;
  /** as stored; replaced when a step has to record something before it acts */
  original: T;
  /** private copy that the steps change; written once at the end */
  config: T;
  /** finding for DataSecretAvailable; the old condition stays while undefined */
  dataSecret?: Finding;
}

/** Returns the name of the user data Secret once it exists. */
export function dataSecretNameOf({
  config: { status },
  owner,
}: Pick<ConfigScope<BootstrapConfig, ConfigDependencies, unknown>, 'config' | 'owner'>): string | undefined {
  const created = status?.initialization?.dataSecretCreated === true ? status.dataSecretName : undefined;
  // the owner still names its Secret if our status was lost in a move or restore
  return created || owner.dataSecretName;
}
