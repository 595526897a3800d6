import type { Clock, Random } from '../../machinery/index.ts';
import type { CacheReader } from '../../runtime/index.ts';
import type { ExternalObjects, ServedKinds, WorkloadClusters } from '../shared/index.ts';
import type { StackCatalog } from './catalog.ts';

export interface StackDependencies {
  readonly cache: CacheReader;
  readonly clock: Clock;
  readonly random: Random;
  readonly catalog: StackCatalog;
  /** kinds of the management API */
  readonly kinds: ServedKinds;
  readonly workloads: WorkloadClusters;
  readonly externals: ExternalObjects;
  readonly watchFilter?: string;
  readonly concurrency?: number;
}

export const defaultConcurrency = 4;
