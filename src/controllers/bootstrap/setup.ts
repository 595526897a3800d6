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
  /** client of the management API */
  client: Client;
  clock: Clock;
  random: Random;
  /** connections to workload clusters, shared with the cluster controllers */
  workloads: WorkloadClusters;
  /** shared with the cluster controllers; created when absent */
  externals?: ExternalObjects;
  /** only objects whose label `cluster.x-k8s.io/watch-filter` has this value are reconciled */
  watchFilter?: string;
  /** the only namespace the manager watches, if limited */
  namespace?: string;
  /** concurrent reconciles per kind; default 10 */
  concurrency?: number;
  /** lifetime of join tokens; default 15 minutes for kubeadm, one day for k0s */
  tokenTtlMs?: number;
}

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
