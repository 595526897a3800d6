import type { Client } from '../../../client/index.ts';
import type { Clock } from '../../../machinery/index.ts';
import type { CacheReader } from '../../../runtime/index.ts';
import type { ExternalObjects, HookCaller, WorkloadClusters } from '../../shared/index.ts';

/** What every controller of this folder is given. */
export interface ClusterControllerDependencies {
  clock: Clock;
  /** the shared caches of the manager, for finding who is concerned by an event */
  cache: CacheReader;
  externals: ExternalObjects;
  workloads: WorkloadClusters;
  /** only objects whose watch-filter label equals this */
  watchFilter?: string;
  /** keys of one kind reconciled at the same time; default 10 */
  concurrency?: number;
  /** how long the last known state of Nodes is shown after contact was lost; default 5 minutes */
  remoteConditionsGracePeriodMs?: number;
  /** keys of Machine labels that reach Nodes, besides those that always do */
  additionalSyncMachineLabels?: readonly RegExp[];
  additionalSyncMachineAnnotations?: readonly RegExp[];
  /** whether somebody makes objects of Cluster spec.topology; where nobody does, the Cluster says so */
  topologies?: boolean;
  /** who asks runtime extensions; without, no machine can be updated in place */
  hooks?: HookCaller;
  /** reads and writes the management API outside of a reconcile */
  client: Client;
}

export const defaultConcurrency = 10;
export const defaultGracePeriodMs: number = 5 * 60_000;
