import type { Client } from '../../../client/index.ts';
import type { Clock } from '../../../machinery/index.ts';
import type { CacheReader } from '../../../runtime/index.ts';
import type { ExternalObjects, HookCaller, WorkloadClusters } from '../../shared/index.ts';

export interface ClusterControllerDependencies {
  clock: Clock;
  /** shared caches of the manager, used to map events to affected objects */
  cache: CacheReader;
  externals: ExternalObjects;
  workloads: WorkloadClusters;
  /** only objects whose watch-filter label has this value are reconciled */
  watchFilter?: string;
  /** concurrent reconciles per kind; default 10 */
  concurrency?: number;
  /** time after a lost connection during which the last known Node conditions are kept; default 5 minutes */
  remoteConditionsGracePeriodMs?: number;
  /** keys of Machine labels synced to Nodes, in addition to the built-in ones */
  additionalSyncMachineLabels?: readonly RegExp[];
  additionalSyncMachineAnnotations?: readonly RegExp[];
  /** whether a controller reconciles spec.topology; if not, the Cluster reports that */
  topologies?: boolean;
  /** calls runtime extensions; without it machines cannot be updated in place */
  hooks?: HookCaller;
  /** client of the management API for use outside of a reconcile */
  client: Client;
}

export const defaultConcurrency = 10;
export const defaultGracePeriodMs: number = 5 * 60_000;
