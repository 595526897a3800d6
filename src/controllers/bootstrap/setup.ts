import type { Client } from '../../client/index.ts';
import type { Clock, Random } from '../../machinery/index.ts';
import type { Manager } from '../../runtime/index.ts';
import {
  createContractResolver,
  createExternalObjects,
  type ExternalObjects,
  type WorkloadClusters,
} from '../shared/index.ts';
import { k0sWorkerConfigController } from './k0s/k0s-worker-config-controller.ts';
import { providerIdController } from './k0s/provider-id-controller.ts';
import { kubeadmConfigController } from './kubeadm/kubeadm-config-controller.ts';
import { rke2ConfigController } from './rke2/rke2-config-controller.ts';

export interface BootstrapControllersOptions {
  /** the management API */
  client: Client;
  clock: Clock;
  random: Random;
  /** the connections to workload clusters, shared with the cluster controllers */
  workloads: WorkloadClusters;
  /** shared with the cluster controllers; made when absent */
  externals?: ExternalObjects;
  /** handle only objects whose label `cluster.x-k8s.io/watch-filter` has this value */
  watchFilter?: string;
  /** the namespace the manager is limited to, if it is */
  namespace?: string;
  /** keys of one kind reconciled at the same time; default 10 */
  concurrency?: number;
  /** how long a token to join with is good for; default 15 minutes with kubeadm, a day with k0s */
  tokenTtlMs?: number;
}

/** Adds the controllers that make user data to a manager. */
export function setupBootstrapControllers(manager: Manager, options: BootstrapControllersOptions): void {
  const { client, clock, workloads, watchFilter, concurrency, tokenTtlMs } = options;
  const common = {
    cache: manager.reader,
    workloads,
    externals:
      options.externals ??
      createExternalObjects({ cache: manager.cache, contracts: createContractResolver({ client, clock }) }),
    ...(watchFilter !== undefined && { watchFilter }),
    ...(concurrency !== undefined && { concurrency }),
    ...(tokenTtlMs !== undefined && { tokenTtlMs }),
  };
  manager.add(kubeadmConfigController({ ...common, client }));
  manager.add(k0sWorkerConfigController(common));
  manager.add(providerIdController(common));
  manager.add(rke2ConfigController(common));
}
