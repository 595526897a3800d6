import type { ObjectKey } from '../../client/index.ts';
import type { ControllerDefinition } from '../../runtime/index.ts';
import { createWorkloadClusters, type RehearsedObjects } from '../shared/index.ts';
import type { ClusterControllerDependencies } from './common/dependencies.ts';
import { machineDeploymentController } from './machine-deployment/machine-deployment-controller.ts';
import { machineSetController } from './machine-set/machine-set-controller.ts';

/** The controllers that make Machines of workers, called one by one. */
export interface WorkersRehearsal {
  deployment(key: ObjectKey): Promise<void>;
  set(key: ObjectKey): Promise<void>;
}

/** The controllers themselves, on objects in memory; nobody can be asked to update a machine in place. */
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
