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
  /** the management API */
  client: Client;
  clock: Clock;
  random: Random;
  /** the namespace the manager is limited to, if it is */
  namespace?: string;
  /** how workload APIs are reached; default: over HTTPS */
  connectWorkload?: ConnectWorkload;
  /** handle only objects whose label `cluster.x-k8s.io/watch-filter` has this value */
  watchFilter?: string;
  /** keys of one kind reconciled at the same time; default 10 */
  concurrency?: number;
  /** how long the last known state of Nodes is shown after contact was lost; default 5 minutes */
  remoteConditionsGracePeriodMs?: number;
  /** Machine labels and annotations that reach Nodes, besides those that always do */
  additionalSyncMachineLabels?: readonly RegExp[];
  additionalSyncMachineAnnotations?: readonly RegExp[];
  /** whether topology controllers run too; where they do not, a Cluster with a topology says so */
  topologies?: boolean;
  /** who asks runtime extensions; without, no machine can be updated in place */
  hooks?: HookCaller;
}

/** What other controllers share with these. */
export interface ClusterControllers {
  workloads: WorkloadClusters;
  externals: ExternalObjects;
}

/** Adds the cluster controllers, and the connections to workload clusters they use, to a manager. */
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
