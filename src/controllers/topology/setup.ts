import type { Client } from '../../client/index.ts';
import type { Clock } from '../../machinery/index.ts';
import type { Manager } from '../../runtime/index.ts';
import { createHookCaller, type ExternalObjects, type HookCaller } from '../shared/index.ts';
import { clusterClassController } from './class/cluster-class-controller.ts';
import { topologyController } from './cluster/topology-controller.ts';
import type { TopologyDependencies } from './common.ts';
import { finalizerControllers } from './finalizers/finalizer-controllers.ts';

export interface TopologyControllersOptions {
  client: Client;
  clock: Clock;
  externals: ExternalObjects;
  /** calls lifecycle hooks; default none */
  hooks?: HookCaller;
  watchFilter?: string;
  concurrency?: number;
}

export function setupTopologyControllers(manager: Manager, options: TopologyControllersOptions): void {
  const { clock, externals, hooks = createHookCaller({ clock }), watchFilter, concurrency } = options;
  const dependencies: TopologyDependencies = {
    clock,
    cache: manager.reader,
    externals,
    hooks,
    ...(watchFilter !== undefined && { watchFilter }),
    ...(concurrency !== undefined && { concurrency }),
  };
  manager.add(clusterClassController(dependencies));
  manager.add(topologyController(dependencies));
  for (const definition of finalizerControllers(dependencies)) manager.add(definition);
}
