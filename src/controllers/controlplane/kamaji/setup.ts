import type { Clock } from '../../../machinery/index.ts';
import type { Manager } from '../../../runtime/index.ts';
import { kamajiControlPlaneController } from './control-plane/controller.ts';
import { storeConnector } from './data-store/connect.ts';
import { dataStoreController } from './data-store/controller.ts';
import { kubeconfigGeneratorController } from './kubeconfig-generator/controller.ts';
import type { KamajiDependencies } from './scope.ts';
import { tenantControlPlaneController } from './tenant/controller.ts';

export interface KamajiControllersOptions extends KamajiDependencies {
  clock: Clock;
}

export function setupKamajiControllers(manager: Manager, options: KamajiControllersOptions): void {
  const { clock, ...dependencies } = options;
  const open = storeConnector(dependencies, manager.client, clock);
  manager.add(kamajiControlPlaneController(dependencies));
  manager.add(tenantControlPlaneController(dependencies, open));
  manager.add(dataStoreController(dependencies, open));
  manager.add(kubeconfigGeneratorController(dependencies));
}
