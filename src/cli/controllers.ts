import { Pods } from '../api/index.ts';
import { loopbackUser, type PodConnector } from '../apiserver/index.ts';
import type { Client, ConnectionConfig } from '../client/index.ts';
import {
  type AgentDials,
  type BuiltInHookHandler,
  type CellPlace,
  type ConnectWorkload,
  certificateControllers,
  connectOverHttp,
  createContractResolver,
  createExternalObjects,
  createWorkloadClusters,
  type ExternalObjects,
  type Prices,
  permittedWorkloads,
  type ReleaseSource,
  setupAddonControllers,
  setupBootstrapControllers,
  setupClusterControllers,
  setupControlPlaneControllers,
  setupInfrastructureControllers,
  setupLatticeControllers,
  setupRuntimeExtensions,
  setupStackControllers,
  setupTopologyControllers,
  showCosts,
  type UsedCredentials,
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
import type { Transport } from '../openstack/index.ts';
import { createManager, type Logger, type Manager, type RuntimeMetrics } from '../runtime/index.ts';
import { builtInChart, builtInChartVersions } from './built-in-charts.ts';
import { childInstaller } from './child-controllers/installer.ts';
import type { ControllerArea } from './controller-areas.ts';
import { controllersUser, ensureControllerIdentity } from './controller-identity.ts';
import { ensureMachinePoolKind } from './machine-pool-kind.ts';
import type { ManagementApi } from './management-api.ts';
import { ensureProviderInventory } from './provider-inventory.ts';
import { type RunningManager, runManager } from './running-manager.ts';
import { ensureCertManagerKinds } from './stand-ins/cert-manager-kinds.ts';
import type { ControllerHealth } from './stand-ins/controller-health.ts';
import { offerToHelm } from './stand-ins/helm-adoption.ts';
import { markingController } from './stand-ins/marking-controller.ts';
import { ensureStandIns } from './stand-ins/stand-in-objects.ts';
import { type SupervisorOptions, startWorkers } from './workers/supervisor.ts';
import { type WorkerPlace, workerSettings } from './workers/worker-settings.ts';

export interface ControllersOptions {
  areas: ReadonlySet<ControllerArea>;
  /** reconcile only objects whose label `cluster.x-k8s.io/watch-filter` has this value */
  watchFilter?: string;
  /** reconcile only one namespace */
  namespace?: string;
  /** connects to ports of Pods that run in this process */
  podConnector?: PodConnector;
  /** whether Pods and their backups may be simulated */
  simulatedPods?: boolean;
  /** connects to workload APIs; default: HTTPS */
  connectWorkload?: ConnectWorkload;
  /** where self-managed clusters dial in; absent: this process dials them */
  cell?: CellPlace;
  /** how this cluster reaches its parent */
  agent?: AgentDials;
  /** policy for addresses that tenants specify */
  peers: PeerPolicy;
  /** transport of cloud requests; default: HTTP */
  cloudTransport?: Transport;
  /** directory for backups of hosted control planes without their own store */
  backupDirectory: string;
  /** sources of cluster stack releases, in order */
  stackSources: readonly ReleaseSource[];
  /** prices of the cloud; absent: no costs in the metrics */
  prices?: Prices;
  /** receives the manager, for placeholder Pods of its controllers; absent: no Pods run here */
  standIns?: ControllerHealth;
  metrics: RuntimeMetrics;
  log: Logger;
  signal: AbortSignal;
}

/** Creates the objects that the controllers expect in the API. */
async function prepare(
  administrator: Client,
  { areas, signal }: Pick<ControllersOptions, 'areas' | 'signal'>,
): Promise<void> {
  await ensureControllerIdentity(administrator, signal);
  await ensureProviderInventory(administrator, areas, signal);
  if (areas.has('cluster')) await ensureMachinePoolKind(administrator, signal);
}

/** Adds placeholders for upstream's controllers where Pods are run. */
async function addStandIns(
  manager: Manager,
  administrator: Client,
  { areas, signal }: Pick<ControllersOptions, 'areas' | 'signal'>,
): Promise<void> {
  await ensureStandIns(administrator, areas, signal);
  await ensureCertManagerKinds(administrator, signal);
  await offerToHelm(administrator, signal);
  for (const definition of [markingController(), ...certificateControllers(manager.reader)]) manager.add(definition);
}

function createOwnManager(
  server: ManagementApi['server'],
  { log, metrics, namespace }: Pick<ControllersOptions, 'log' | 'metrics' | 'namespace'>,
): Manager {
  return createManager({
    client: server.localClient(controllersUser),
    clock: systemClock,
    random: systemRandom,
    log,
    metrics,
    ...(namespace !== undefined && { namespace }),
  });
}

/** Starts the controllers; resolves when their caches have synced. */
export async function startControllers(api: ManagementApi, options: ControllersOptions): Promise<RunningManager> {
  const { signal } = options;
  const { server } = api;
  const administrator: Client = server.localClient(loopbackUser);
  await prepare(administrator, options);
  const manager = createOwnManager(server, options);
  const close = addControllers(manager, options);
  if (options.standIns) {
    await addStandIns(manager, administrator, options);
    options.standIns.attach(manager);
  }
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

/** Starts the controllers in other processes that share the clusters; resolves when all are ready. */
export async function startControllersElsewhere(
  api: ManagementApi,
  options: Pick<ControllersOptions, 'areas' | 'standIns' | 'metrics' | 'log' | 'signal'> & {
    workers: Pick<SupervisorOptions, 'count'> & { settings: WorkerPlace };
  },
): Promise<RunningManager> {
  const { log, signal, metrics, workers } = options;
  const { server } = api;
  const administrator: Client = server.localClient(loopbackUser);
  await prepare(administrator, options);
  const manager = createOwnManager(server, { log, metrics });
  if (options.standIns) await addStandIns(manager, administrator, options);
  const beside = await runManager(manager, { server, name: 'stand-ins', signal });
  const run = systemRandom.uuid().slice(0, 8);
  const started = startWorkers({
    count: workers.count,
    settings: (name) => workerSettings(api, workers.settings, { name, run }),
    clock: systemClock,
    log,
  });
  options.standIns?.attach({ ready: () => started.ready(), healthy: () => manager.healthy() });
  server.addHealthCheck({
    name: 'cluster-controllers',
    in: ['readyz'],
    check() {
      const { ok, problems } = started.ready();
      if (!ok) throw new Error(problems.join('; '));
    },
  });
  const stop = async (): Promise<void> => {
    await started.stop();
    await beside.stop();
  };
  try {
    await started.whenReady(signal);
  } catch (error) {
    await stop();
    throw error;
  }
  return { failed: beside.failed, stop };
}

export type AddedControllersOptions = Omit<ControllersOptions, 'signal' | 'standIns'> & {
  /** connection to a management API in another process */
  connection?: ConnectionConfig;
  /** credentials that controllers of this process used, also under an earlier lease */
  usedCredentials?: UsedCredentials;
};

/** Adds the controllers of the selected areas; returns a function that closes their resources. */
export function addControllers(manager: Manager, options: AddedControllersOptions): () => Promise<void> {
  const { areas, watchFilter, namespace, peers, backupDirectory } = options;
  const { client, permit } = manager;
  const connectWorkload = options.connectWorkload ?? connectOverHttp({ peers });
  const common: CommonOptions = {
    client,
    clock: systemClock,
    random: systemRandom,
    ...(watchFilter !== undefined && { watchFilter }),
    ...(namespace !== undefined && { namespace }),
    ...(permit && { permit }),
    connectWorkload: permit ? permittedWorkloads(connectWorkload, permit) : connectWorkload,
  };
  const closes: (() => Promise<void>)[] = [];
  const topologies = areas.has('topology');
  // Read on every call, so that areas can add handlers later.
  const handlers: BuiltInHookHandler[] = [];
  const extensions =
    topologies || areas.has('cluster')
      ? setupRuntimeExtensions(manager, { ...common, peers, log: options.log, builtIn: handlers })
      : undefined;
  if (extensions) closes.push(extensions.close);
  const hooks = extensions && { hooks: extensions.hooks };
  const shared = areas.has('cluster')
    ? setupClusterControllers(manager, { ...common, ...hooks, topologies })
    : setupShared(manager, common);
  if (topologies) setupTopologyControllers(manager, { ...common, externals: shared.externals, ...hooks });
  if (areas.has('addons')) setupAddonControllers(manager, { ...common, ...shared });
  if (areas.has('stacks')) {
    handlers.push(...setupStackControllers(manager, { ...common, ...shared, sources: options.stackSources }));
  }
  if (areas.has('bootstrap')) setupBootstrapControllers(manager, { ...common, ...shared });
  if (areas.has('control-plane')) {
    const { podConnector, metrics, connection } = options;
    setupControlPlaneControllers(manager, {
      ...common,
      ...shared,
      ...hooks,
      metrics,
      peers,
      backupDirectory,
      ...(connection && { connection }),
      ...(podConnector && {
        connectPod: async (pod, port, signal) =>
          podConnector(asUnstructured(await client.get(Pods, pod, { signal })), port),
      }),
      ...(options.simulatedPods && {
        snapshotReaders: [async (file) => (await import('../simkube/index.ts')).simulatedSnapshotKeys(file)],
      }),
    });
  }
  const kinds = { clusters: areas.has('infrastructure'), images: areas.has('images') };
  const infrastructure =
    kinds.clusters || kinds.images
      ? setupInfrastructureControllers(manager, {
          ...common,
          peers,
          kinds,
          workloads: shared.workloads,
          ...(options.usedCredentials && { usedCredentials: options.usedCredentials }),
          ...(options.cloudTransport && { transport: options.cloudTransport }),
        })
      : undefined;
  if (infrastructure) closes.push(() => infrastructure.close());
  // LatticeClusters are cluster-scoped and create namespaces.
  if (areas.has('lattice') && namespace === undefined) {
    const charts = { versions: builtInChartVersions, files: builtInChart };
    const sessions = infrastructure && { sessions: infrastructure.sessions };
    const { cell, agent, log } = options;
    const self = {
      connect: common.connectWorkload,
      installer: childInstaller(client, systemClock),
      ...(cell && { cell }),
      ...(permit && { fence: (connect: ConnectWorkload) => permittedWorkloads(connect, permit) }),
    };
    const lattice = setupLatticeControllers(manager, {
      ...common,
      ...sessions,
      ...(agent && { agent }),
      peers,
      charts,
      self,
      log,
    });
    closes.push(() => lattice.close());
  }
  const { prices } = options;
  if (prices && areas.has('cluster') && kinds.clusters) showCosts(options.metrics.registry, manager.reader, prices);
  return async () => {
    await Promise.all(closes.map((close) => close()));
  };
}

interface CommonOptions {
  client: Client;
  permit?: () => void;
  clock: Clock;
  random: Random;
  watchFilter?: string;
  namespace?: string;
  connectWorkload: ConnectWorkload;
}

/** Sets up what areas share, for installations whose cluster controllers are not ours. */
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
