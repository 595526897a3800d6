import type { Client } from '../../client/index.ts';
import type { Clock, Random } from '../../machinery/index.ts';
import type { Manager } from '../../runtime/index.ts';
import type { ExternalObjects, WorkloadClusters } from '../shared/index.ts';
import { kubeadmControlPlaneController } from './kubeadm/control-plane-controller.ts';
import { etcdConnector } from './kubeadm/etcd/connect.ts';
import { pooledEtcd } from './kubeadm/etcd/pool.ts';
import type { OpenEtcd } from './kubeadm/etcd/types.ts';
import { type ReadServingCertificate, servingCertificateReader } from './kubeadm/workload/serving-certificate.ts';

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
}

/** Adds the controllers of control planes on machines to a manager. */
export function setupControlPlaneControllers(manager: Manager, options: ControlPlaneControllersOptions): void {
  const { client, clock, random, workloads, externals } = options;
  manager.add(
    kubeadmControlPlaneController({
      cache: manager.reader,
      random,
      workloads,
      externals,
      etcd: options.etcd ?? pooledEtcd(etcdConnector({ client, workloads, clock }), clock),
      servingCertificate: options.servingCertificate ?? servingCertificateReader({ workloads, clock }),
      ...(options.watchFilter !== undefined && { watchFilter: options.watchFilter }),
      ...(options.concurrency !== undefined && { concurrency: options.concurrency }),
      ...(options.remoteConditionsGracePeriodMs !== undefined && {
        remoteConditionsGracePeriodMs: options.remoteConditionsGracePeriodMs,
      }),
    }),
  );
}
