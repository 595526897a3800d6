import { Pods } from '../api/index.ts';
import { loopbackUser, type PodConnector } from '../apiserver/index.ts';
import type { Client } from '../client/index.ts';
import {
  type ConnectWorkload,
  connectOverHttp,
  createContractResolver,
  createExternalObjects,
  createWorkloadClusters,
  type ExternalObjects,
  setupBootstrapControllers,
  setupClusterControllers,
  setupControlPlaneControllers,
  setupInfrastructureControllers,
  type WorkloadClusters,
} from '../controllers/index.ts';
import {
  asUnstructured,
  type Clock,
  type PeerPolicy,
  type Random,
  systemClock,
  systemRandom,
} from '../machinery/index.ts';
import { createManager, type Logger, type Manager, type RuntimeMetrics } from '../runtime/index.ts';
import type { ControllerArea } from './controller-areas.ts';
import { controllersUser, ensureControllerIdentity } from './controller-identity.ts';
import { ensureMachinePoolKind } from './machine-pool-kind.ts';
import type { ManagementApi } from './management-api.ts';
import { ensureProviderInventory } from './provider-inventory.ts';
import { type RunningManager, runManager } from './running-manager.ts';

export interface ControllersOptions {
  areas: ReadonlySet<ControllerArea>;
  /** handle only objects whose label `cluster.x-k8s.io/watch-filter` has this value */
  watchFilter?: string;
  /** look after the objects of one namespace only */
  namespace?: string;
  /** how ports of Pods are reached that run in this process */
  podConnector?: PodConnector;
  /** how workload APIs are reached; over HTTPS by default */
  connectWorkload?: ConnectWorkload;
  /** which peers may be asked on the word of a tenant */
  peers: PeerPolicy;
  /** where backups of hosted control planes go that name no store of their own */
  backupDirectory: string;
  metrics: RuntimeMetrics;
  log: Logger;
  signal: AbortSignal;
}

/** Starts the controllers that make clusters of objects and resolves when their caches are filled. */
export async function startControllers(api: ManagementApi, options: ControllersOptions): Promise<RunningManager> {
  const { areas, log, signal, metrics, namespace } = options;
  const { server } = api;
  const administrator: Client = server.localClient(loopbackUser);
  await ensureControllerIdentity(administrator, signal);
  await ensureProviderInventory(administrator, areas, signal);
  if (areas.has('cluster')) await ensureMachinePoolKind(administrator, signal);
  const client: Client = server.localClient(controllersUser);
  const manager = createManager({
    client,
    clock: systemClock,
    random: systemRandom,
    log,
    metrics,
    ...(namespace !== undefined && { namespace }),
  });
  const close = addControllers(manager, client, options);
  const running = await runManager(manager, { server, name: 'cluster-controllers', signal });
  return {
    failed: running.failed,
    stop: async () => {
      try {
        await running.stop();
      } finally {
        await close();
      }
    },
  };
}

/** Adds the controllers of the chosen areas; answers how to close what they opened. */
function addControllers(manager: Manager, client: Client, options: ControllersOptions): () => Promise<void> {
  const { areas, watchFilter, namespace, peers, backupDirectory } = options;
  const common: CommonOptions = {
    client,
    clock: systemClock,
    random: systemRandom,
    ...(watchFilter !== undefined && { watchFilter }),
    ...(namespace !== undefined && { namespace }),
    connectWorkload: options.connectWorkload ?? connectOverHttp({ peers }),
  };
  const shared = areas.has('cluster') ? setupClusterControllers(manager, common) : setupShared(manager, common);
  if (areas.has('bootstrap')) setupBootstrapControllers(manager, { ...common, ...shared });
  if (areas.has('control-plane')) {
    const { podConnector, metrics } = options;
    setupControlPlaneControllers(manager, {
      ...common,
      ...shared,
      metrics,
      peers,
      backupDirectory,
      ...(podConnector && {
        connectPod: async (pod, port, signal) =>
          podConnector(asUnstructured(await client.get(Pods, pod, { signal })), port),
        // Pods that are run here may be simulated, and so may be the backups they made
        snapshotReaders: [async (file) => (await import('../simkube/index.ts')).simulatedSnapshotKeys(file)],
      }),
    });
  }
  if (!areas.has('infrastructure')) return async () => {};
  const infrastructure = setupInfrastructureControllers(manager, { ...common, peers, workloads: shared.workloads });
  return () => infrastructure.close();
}

interface CommonOptions {
  client: Client;
  clock: Clock;
  random: Random;
  watchFilter?: string;
  namespace?: string;
  connectWorkload: ConnectWorkload;
}

/** What areas share, where the cluster controllers that would bring it are somebody else's. */
function setupShared(
  manager: Manager,
  { client, clock, random, namespace, connectWorkload }: CommonOptions,
): { workloads: WorkloadClusters; externals: ExternalObjects } {
  const workloads = createWorkloadClusters({
    client,
    clock,
    random,
    connect: connectWorkload,
    ...(namespace !== undefined && { namespace }),
  });
  manager.add(workloads.controller);
  const contracts = createContractResolver({ client, clock });
  return { workloads, externals: createExternalObjects({ cache: manager.cache, contracts }) };
}
