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
  /** client of the management API */
  client: Client;
  clock: Clock;
  random: Random;
  /** shared with the cluster controllers */
  workloads: WorkloadClusters;
  externals: ExternalObjects;
  /** the only namespace the manager watches, if limited */
  namespace?: string;
  /** only objects whose label `cluster.x-k8s.io/watch-filter` has this value are reconciled */
  watchFilter?: string;
  /** concurrent reconciles per kind; default 10 */
  concurrency?: number;
  /** time after a lost connection during which the last known state of a control plane is kept; default 5 minutes */
  remoteConditionsGracePeriodMs?: number;
  /** connects to etcd members; default: port-forward of the workload API */
  etcd?: OpenEtcd;
  /** reads API server certificates; default: port-forward of the workload API */
  servingCertificate?: ReadServingCertificate;
  /** connection to a remote management API, used for port-forwards to its Pods */
  connection?: ConnectionConfig;
  /** alternative way to Pod ports in the management cluster, where hosted control planes run etcd */
  connectPod?: ConnectPod;
  /** connects to hosted clusters without a Cluster object; default HTTPS */
  connectWorkload?: ConnectWorkload;
  metrics?: RuntimeMetrics;
  /** readers for backups of a simulated etcd */
  snapshotReaders?: readonly SnapshotReader[];
  /** directory for backups of hosted planes without a store of their own */
  backupDirectory?: string;
  /** hosts that may be contacted on behalf of tenants; default any */
  peers?: PeerPolicy;
  /** calls runtime extensions; without it machines cannot be updated in place */
  hooks?: HookCaller;
  /** called before every write to a Pod; throws to prevent it */
  permit?: () => void;
}

/** Adds the control plane controllers, machine-based and hosted, to a manager. */
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
    // a manager limited to one namespace keeps its system objects there
    ...(options.namespace !== undefined && { systemNamespace: options.namespace }),
  });
}

function permittedPods(connect: ConnectPod, permit: () => void): ConnectPod {
  return async (pod, port, signal) => permittedStream(await connect(pod, port, signal), permit);
}
