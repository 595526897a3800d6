import type { Client } from '../../../client/index.ts';
import type { Clock, Random } from '../../../machinery/index.ts';
import type { CacheReader } from '../../../runtime/index.ts';
import type { WorkloadClusters } from '../../shared/index.ts';
import type { LookupCache } from '../server/lookup-cache.ts';
import type { Clouds } from './clouds.ts';

/** What every controller of this folder is given. */
export interface InfrastructureDependencies {
  /** reads and writes the management API outside of a reconcile */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  /** the shared caches of the manager, for finding who is concerned by an event */
  readonly cache: CacheReader;
  /** from credentials to clouds */
  readonly clouds: Clouds;
  /** what names in clouds mean, asked for once by all who use them; each controller has its own when absent */
  readonly lookups?: LookupCache;
  /** the APIs of workload clusters, where somebody keeps connections to them */
  readonly workloads?: WorkloadClusters;
  /** only objects whose watch-filter label equals this */
  readonly watchFilter?: string;
  /** keys of one kind reconciled at the same time; default 10 */
  readonly concurrency?: number;
  /** the namespace the manager is limited to, if it is */
  readonly namespace?: string;
}

export const defaultConcurrency = 10;
