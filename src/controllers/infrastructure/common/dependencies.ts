import type { Client } from '../../../client/index.ts';
import type { Clock, Random } from '../../../machinery/index.ts';
import type { CacheReader } from '../../../runtime/index.ts';
import type { WorkloadClusters } from '../../shared/index.ts';
import type { LookupCache } from '../server/lookup-cache.ts';
import type { ServerMemories } from '../server/memory.ts';
import type { Clouds } from './clouds.ts';

export interface InfrastructureDependencies {
  /** client of the management API for use outside of a reconcile */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  /** shared caches of the manager, used to map events to affected objects */
  readonly cache: CacheReader;
  /** opens clouds from credentials */
  readonly clouds: Clouds;
  /** shared name lookups in clouds; each controller has its own if absent */
  readonly lookups?: LookupCache;
  /** shared by the controllers of machines and servers; each has its own if absent */
  readonly serverMemories?: ServerMemories;
  /** connections to workload clusters, if available */
  readonly workloads?: WorkloadClusters;
  /** only objects whose watch-filter label has this value are reconciled */
  readonly watchFilter?: string;
  /** concurrent reconciles per kind; default 10 */
  readonly concurrency?: number;
  /** the only namespace the manager watches, if limited */
  readonly namespace?: string;
}

export const defaultConcurrency = 10;
