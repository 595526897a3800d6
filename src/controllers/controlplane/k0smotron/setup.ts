import type { Manager } from '../../../runtime/index.ts';
import type { ConnectWorkload } from '../../shared/index.ts';
import type { ProviderDependencies } from '../plane-reconcile.ts';
import { k0smotronControlPlaneController } from './control-plane-controller.ts';
import { joinTokenRequestController } from './join-token-controller.ts';
import { createPlaneClients } from './plane-clients.ts';
import { k0smotronPlaneController } from './plane-controller.ts';

export interface K0smotronControllersOptions extends ProviderDependencies {
  /** connects to the clusters of standalone planes */
  connectWorkload: ConnectWorkload;
}

export function setupK0smotronControllers(manager: Manager, options: K0smotronControllersOptions): void {
  const { connectWorkload, ...dependencies } = options;
  const clients = createPlaneClients({ workloads: dependencies.workloads, connect: connectWorkload });
  manager.add(k0smotronControlPlaneController(dependencies));
  manager.add(k0smotronPlaneController(dependencies, clients));
  manager.add(joinTokenRequestController(dependencies, clients));
}
