import type { Client } from '../../client/index.ts';
import type { Clock, Random } from '../../machinery/index.ts';
import type { Manager } from '../../runtime/index.ts';
import {
  type BuiltInHookHandler,
  createServedKinds,
  type ExternalObjects,
  type WorkloadClusters,
} from '../shared/index.ts';
import { clusterAddonController } from './addon/controller.ts';
import { addonHookHandlers } from './addon/hooks.ts';
import { createStackCatalog } from './catalog.ts';
import type { StackDependencies } from './dependencies.ts';
import { openStackNodeImageController, openStackStackReleaseController } from './provider/controllers.ts';
import type { ReleaseSource } from './source/types.ts';
import { clusterStackController } from './stack/controller.ts';
import { clusterStackReleaseController } from './stack-release/controller.ts';

export interface StackControllersOptions {
  /** client of the management API */
  client: Client;
  clock: Clock;
  random: Random;
  workloads: WorkloadClusters;
  externals: ExternalObjects;
  /** sources of releases, asked in order */
  sources: readonly ReleaseSource[];
  /** only objects whose label `cluster.x-k8s.io/watch-filter` has this value are reconciled */
  watchFilter?: string;
  /** concurrent reconciles per kind; default 4 */
  concurrency?: number;
}

/** Adds the cluster stack controllers to a manager; returns the hook handlers for cluster creation and upgrades. */
export function setupStackControllers(manager: Manager, options: StackControllersOptions): BuiltInHookHandler[] {
  const { client, clock, random, workloads, externals, sources, watchFilter, concurrency } = options;
  const dependencies: StackDependencies = {
    cache: manager.reader,
    clock,
    random,
    catalog: createStackCatalog({ sources, clock }),
    kinds: createServedKinds(client),
    workloads,
    externals,
    ...(watchFilter !== undefined && { watchFilter }),
    ...(concurrency !== undefined && { concurrency }),
  };
  manager.add(clusterStackController(dependencies));
  manager.add(clusterStackReleaseController(dependencies));
  manager.add(clusterAddonController(dependencies));
  manager.add(openStackStackReleaseController(dependencies));
  manager.add(openStackNodeImageController(dependencies));
  return addonHookHandlers({ client, cache: dependencies.cache, catalog: dependencies.catalog });
}
