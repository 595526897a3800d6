import type { Client } from '../../client/index.ts';
import type { Clock, Random } from '../../machinery/index.ts';
import type { Manager } from '../../runtime/index.ts';
import {
  type ConnectWorkload,
  connectOverHttp,
  createContractResolver,
  createExternalObjects,
  createWorkloadClusters,
  type ExternalObjects,
  type HookCaller,
  type WorkloadClusters,
} from '../shared/index.ts';
import { clusterController } from './cluster-object/cluster-controller.ts';
import type { ClusterControllerDependencies } from './common/dependencies.ts';
import { machineController } from './machine/machine-controller.ts';
import { machineDeploymentController } from './machine-deployment/machine-deployment-controller.ts';
import { machineHealthCheckController } from './machine-health-check/machine-health-check-controller.ts';
import { machineSetController } from './machine-set/machine-set-controller.ts';

export interface ClusterControllersOptions {
  /** client of the management API */
  client: Client;
  clock: Clock;
  random: Random;
  /** the only namespace the manager watches, if limited */
  namespace?: string;
  /** connects to workload APIs; default HTTPS */
  connectWorkload?: ConnectWorkload;
  /** only objects whose label `cluster.x-k8s.io/watch-filter` has this value are reconciled */
  watchFilter?: string;
  /** concurrent reconciles per kind; default 10 */
  concurrency?: number;
  /** time after a lost connection during which the last known Node conditions are kept; default 5 minutes */
  remoteConditionsGracePeriodMs?: number;
  /** Machine labels and annotations synced to Nodes, in addition to the built-in ones */
  additionalSyncMachineLabels?: readonly RegExp[];
  additionalSyncMachineAnnotations?: readonly RegExp[];
  /** whether topology controllers run; if not, Clusters with a topology report that */
  topologies?: boolean;
  /** calls runtime extensions; without it machines cannot be updated in place */
  hooks?: HookCaller;
}

/** Parts that other controllers share. */
export interface ClusterControllers {
  workloads: WorkloadClusters;
  externals: ExternalObjects;
}

export function setupClusterControllers(manager: Manager, options: ClusterControllersOptions): ClusterControllers {
  const { client, clock, random, connectWorkload, namespace, ...rest } = options;
  const workloads = createWorkloadClusters({
    client,
    clock,
    random,
    connect: connectWorkload ?? connectOverHttp(),
    ...(namespace !== undefined && { namespace }),
    ...(rest.remoteConditionsGracePeriodMs !== undefined && { gracePeriodMs: rest.remoteConditionsGracePeriodMs }),
  });
  const externals = createExternalObjects({
    cache: manager.cache,
    contracts: createContractResolver({ client, clock }),
  });
  const dependencies: ClusterControllerDependencies = {
    ...rest,
    client,
    clock,
    cache: manager.reader,
    externals,
    workloads,
  };
  for (const definition of [
    workloads.controller,
    clusterController(dependencies),
    machineController(dependencies),
    machineSetController(dependencies),
    machineDeploymentController(dependencies),
    machineHealthCheckController(dependencies),
  ]) {
    manager.add(definition);
  }
  return { workloads, externals };
}
