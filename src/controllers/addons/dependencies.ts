import type { ObjectKey } from '../../client/index.ts';
import type { CacheReader } from '../../runtime/index.ts';
import type { DriftWatch, WorkloadClusters } from '../shared/index.ts';
import type { Outcomes } from './outcomes.ts';
import type { createSources } from './sources.ts';

export interface ResourceSetDependencies {
  /** shared caches of the manager, used to map events to affected objects */
  cache: CacheReader;
  workloads: WorkloadClusters;
  outcomes: Outcomes;
  /** true if another process reconciles the cluster; outcomes there are known only from its binding */
  isElsewhere(cluster: ObjectKey): boolean;
  drift: DriftWatch;
  sources: ReturnType<typeof createSources>;
  /** only objects whose watch-filter label has this value are reconciled */
  watchFilter?: string;
  concurrency?: number;
}

export const resourceSetFinalizer = 'addons.cluster.x-k8s.io';
