import type { ObjectKey } from '../../client/index.ts';
import type { ControllerDefinition } from '../../runtime/index.ts';
import { createWorkloadClusters, type RehearsedObjects } from '../shared/index.ts';
import type { ClusterControllerDependencies } from './common/dependencies.ts';
import { machineDeploymentController } from './machine-deployment/machine-deployment-controller.ts';
import { machineSetController } from './machine-set/machine-set-controller.ts';

/** Runs the worker controllers one reconcile at a time. */
export interface WorkersRehearsal {
  deployment(key: ObjectKey): Promise<void>;
  set(key: ObjectKey): Promise<void>;
}

/** Runs the real controllers on objects in memory, without runtime extensions for in-place updates. */
export function rehearseWorkers({ client, cache, clock, externals, context }: RehearsedObjects): WorkersRehearsal {
  const workloads = createWorkloadClusters({
    client,
    clock,
    random: context.random,
    connect: () => {
      throw new Error('a rehearsal reaches no cluster');
    },
  });
  const dependencies: ClusterControllerDependencies = { client, clock, cache, externals, workloads };
  const run = (definition: ControllerDefinition) => {
    definition.setup?.(cache);
    return async (key: ObjectKey): Promise<void> => {
      await definition.reconcile(context, key);
    };
  };
  return {
    deployment: run(machineDeploymentController(dependencies)),
    set: run(machineSetController(dependencies)),
  };
}
