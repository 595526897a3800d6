import type { ObjectKey } from '../../client/index.ts';
import type { CacheReader } from '../../runtime/index.ts';
import type { DriftWatch, WorkloadClusters } from '../shared/index.ts';
import type { Outcomes } from './outcomes.ts';
import type { createSources } from './sources.ts';

/** What both controllers of this folder are given. */
export interface ResourceSetDependencies {
  /** the shared caches of the manager, for finding who is concerned by an event */
  cache: CacheReader;
  workloads: WorkloadClusters;
  outcomes: Outcomes;
  /** whether another process works on a cluster: what became of sets there is known from its binding alone */
  isElsewhere(cluster: ObjectKey): boolean;
  drift: DriftWatch;
  sources: ReturnType<typeof createSources>;
  /** only objects whose watch-filter label equals this */
  watchFilter?: string;
  concurrency?: number;
}

export const resourceSetFinalizer = 'addons.cluster.x-k8s.io';
