import type { Client } from '../../../client/index.ts';
import type { Clock, Random } from '../../../machinery/index.ts';
import type { Patience } from '../../../openstack/index.ts';
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

/**
 * A worker is never held up by one cloud: what needs a longer pause than a hiccup is left to the queue, and a busy load
 * balancer to the event that says it is free.
 */
export const controllerPatience: Patience = {
  attempts: 2,
  firstPauseMs: 200,
  longestPauseMs: 500,
  longestRetryAfterMs: 1_000,
  immutableMs: 0,
};
