// The door of the housekeeping room: the controllers every Kubernetes has, whatever else it is used for.
import type { ControllerDefinition } from '../runtime/index.ts';
import { garbageCollector } from './garbage-collector/garbage-collector.ts';
import { namespaceController } from './namespaces/namespace-controller.ts';
import { rootCaPublisher } from './root-ca-publisher.ts';
import type { ServedResources } from './served-resources.ts';
import { serviceAccountController } from './service-accounts.ts';

export { type GarbageCollectorOptions, garbageCollector } from './garbage-collector/garbage-collector.ts';
export { type NamespaceControllerOptions, namespaceController } from './namespaces/namespace-controller.ts';
export { type RootCaPublisherOptions, rootCaPublisher } from './root-ca-publisher.ts';
export type { ServedResources } from './served-resources.ts';
export { serviceAccountController } from './service-accounts.ts';

/** All of them, ready to be added to a manager. */
export function housekeepingControllers(options: {
  served: ServedResources;
  /** PEM of the authorities that vouch for the API server */
  certificateAuthority: string;
}): ControllerDefinition[] {
  const { served, certificateAuthority } = options;
  return [
    garbageCollector({ served }),
    namespaceController({ served }),
    serviceAccountController(),
    rootCaPublisher({ certificateAuthority }),
  ];
}
