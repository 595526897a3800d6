import type { Client, ConnectionConfig } from '../../client/index.ts';
import type { Clock, PeerPolicy, Random } from '../../machinery/index.ts';
import type { Manager, RuntimeMetrics } from '../../runtime/index.ts';
import {
  type ConnectWorkload,
  connectOverHttp,
  type ExternalObjects,
  type HookCaller,
  permittedStream,
  type WorkloadClusters,
} from '../shared/index.ts';
import { pooledEtcd } from './etcd-client/pool.ts';
import type { OpenEtcd } from './etcd-client/types.ts';
import { hostedControlPlaneController } from './hosted-control-plane/controller.ts';
import { setupK0smotronControllers } from './k0smotron/setup.ts';
import { setupKamajiControllers } from './kamaji/setup.ts';
import { kubeadmProvider } from './kubeadm/provider.ts';
import { machinePlaneController } from './machine-plane/controller.ts';
import { etcdConnector, etcdTargetKey } from './machine-plane/etcd/connector.ts';
import { type ReadServingCertificate, servingCertificateReader } from './machine-plane/workload/serving-certificate.ts';
import { type ConnectPod, connectPodOver, noWayToPods, type SnapshotReader } from './plane-driver/index.ts';
import { membersByNode } from './rke2/etcd-members.ts';
import { rke2Provider } from './rke2/provider.ts';

export interface ControlPlaneControllersOptions {
  /** the management API */
  client: Client;
  clock: Clock;
  random: Random;
  /** shared with the cluster controllers */
  workloads: WorkloadClusters;
  externals: ExternalObjects;
  /** the namespace the manager is limited to, if it is */
  namespace?: string;
  /** handle only objects whose label `cluster.x-k8s.io/watch-filter` has this value */
  watchFilter?: string;
  /** keys of one kind reconciled at the same time; default 10 */
  concurrency?: number;
  /** how long the last known state of a control plane is shown after contact was lost; default 5 minutes */
  remoteConditionsGracePeriodMs?: number;
  /** how members of etcd are reached; default: through the port-forward of the workload API */
  etcd?: OpenEtcd;
  /** how the certificate of an API server is looked at; default: likewise */
  servingCertificate?: ReadServingCertificate;
  /** how the management API is reached where it is not in this process: its Pods are then reached through it */
  connection?: ConnectionConfig;
  /** how ports of Pods on the management API are reached otherwise: hosted control planes have their etcd there */
  connectPod?: ConnectPod;
  /** how hosted clusters that belong to no Cluster are reached; default: over HTTPS */
  connectWorkload?: ConnectWorkload;
  metrics?: RuntimeMetrics;
  /** for backups of hosted planes that an etcd made which is not a real one */
  snapshotReaders?: readonly SnapshotReader[];
  /** where backups of hosted planes go that name no store of their own */
  backupDirectory?: string;
  /** which peers may be asked on the word of a tenant; default: any */
  peers?: PeerPolicy;
  /** who asks runtime extensions; without, no machine is updated in place */
  hooks?: HookCaller;
  /** asked before anything is written to a Pod; what it throws keeps it back */
  permit?: () => void;
}

/** Adds the controllers of control planes, on machines and in Pods, to a manager. */
export function setupControlPlaneControllers(manager: Manager, options: ControlPlaneControllersOptions): void {
  const { client, clock, random, workloads, externals } = options;
  const etcd = options.etcd ?? pooledEtcd(etcdConnector({ client, workloads, clock }), etcdTargetKey, clock);
  const onMachines = {
    cache: manager.reader,
    random,
    workloads,
    externals,
    etcd,
    servingCertificate: options.servingCertificate ?? servingCertificateReader({ workloads, clock }),
    ...(options.hooks && { hooks: options.hooks }),
    ...(options.watchFilter !== undefined && { watchFilter: options.watchFilter }),
    ...(options.concurrency !== undefined && { concurrency: options.concurrency }),
    ...(options.remoteConditionsGracePeriodMs !== undefined && {
      remoteConditionsGracePeriodMs: options.remoteConditionsGracePeriodMs,
    }),
  };
  manager.add(machinePlaneController(onMachines, kubeadmProvider));
  manager.add(machinePlaneController({ ...onMachines, etcd: membersByNode(etcd) }, rke2Provider));
  const { connection, permit } = options;
  const connectPod = options.connectPod ?? (connection ? connectPodOver(connection, clock) : noWayToPods);
  const hosted = {
    cache: manager.reader,
    workloads,
    externals,
    connectPod: permit ? permittedPods(connectPod, permit) : connectPod,
    connectWorkload: options.connectWorkload ?? connectOverHttp(),
    ...(options.metrics && { metrics: options.metrics }),
    ...(options.backupDirectory !== undefined && { backupDirectory: options.backupDirectory }),
    ...(options.peers && { peers: options.peers }),
    ...(options.snapshotReaders && { snapshotReaders: options.snapshotReaders }),
    ...(options.watchFilter !== undefined && { watchFilter: options.watchFilter }),
    ...(options.concurrency !== undefined && { concurrency: options.concurrency }),
  };
  manager.add(hostedControlPlaneController(hosted));
  setupK0smotronControllers(manager, hosted);
  setupKamajiControllers(manager, {
    ...hosted,
    clock,
    // who sees one namespace only keeps everything there
    ...(options.namespace !== undefined && { systemNamespace: options.namespace }),
  });
}

function permittedPods(connect: ConnectPod, permit: () => void): ConnectPod {
  return async (pod, port, signal) => permittedStream(await connect(pod, port, signal), permit);
}
