import { formatKey } from '../../client/index.ts';
import type { Clock, Random } from '../../machinery/index.ts';
import type { Manager } from '../../runtime/index.ts';
import { createDriftWatch, type WorkloadClusters } from '../shared/index.ts';
import { bindingController } from './binding-controller.ts';
import type { ResourceSetDependencies } from './dependencies.ts';
import { createOutcomes } from './outcomes.ts';
import { resourceSetController } from './set-controller.ts';
import { createSources } from './sources.ts';

export interface AddonControllersOptions {
  clock: Clock;
  random: Random;
  workloads: WorkloadClusters;
  /** only objects whose label `cluster.x-k8s.io/watch-filter` has this value are reconciled */
  watchFilter?: string;
  /** concurrent reconciles per kind; default 10 */
  concurrency?: number;
}

export function setupAddonControllers(manager: Manager, options: AddonControllersOptions): void {
  const { clock, random, workloads, watchFilter, concurrency } = options;
  const dependencies: ResourceSetDependencies = {
    cache: manager.reader,
    workloads,
    outcomes: createOutcomes(),
    isElsewhere: (cluster) => !manager.isOurs(formatKey(cluster)),
    drift: createDriftWatch({ clock, random }),
    sources: createSources(),
    ...(watchFilter !== undefined && { watchFilter }),
    ...(concurrency !== undefined && { concurrency }),
  };
  manager.add(bindingController(dependencies));
  manager.add(resourceSetController(dependencies));
}
