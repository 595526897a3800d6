import type { Client } from '../../client/index.ts';
import type { Clock, PeerPolicy, Random } from '../../machinery/index.ts';
import { createObserverPool, type ObserverPool, type SessionPool, type Transport } from '../../openstack/index.ts';
import type { Manager } from '../../runtime/index.ts';
import { controllerSessions, type WorkloadClusters } from '../shared/index.ts';
import { openStackClusterController } from './cluster/cluster-controller.ts';
import { type Clouds, createClouds } from './common/clouds.ts';
import type { UsedCredentials } from './common/credentials.ts';
import type { InfrastructureDependencies } from './common/dependencies.ts';
import { openStackFloatingIpPoolController } from './floating-ip-pool/floating-ip-pool-controller.ts';
import { type FetchContent, fetchOverHttp } from './image/fetch-content.ts';
import { imageController } from './image/image-controller.ts';
import { openStackMachineController } from './machine/machine-controller.ts';
import { createLookupCache } from './server/lookup-cache.ts';
import { createServerMemories } from './server/memory.ts';
import { openStackServerController } from './server/server-controller.ts';
import { openStackMachineTemplateController } from './template/template-controller.ts';

export interface InfrastructureControllersOptions {
  /** client of the management API */
  client: Client;
  clock: Clock;
  random: Random;
  /** sends requests to clouds; default HTTP. Ignored with `sessions`. */
  transport?: Transport;
  /** clouds that may be contacted on behalf of tenants; default any */
  peers?: PeerPolicy;
  /** called before each request to a cloud; throws to prevent it. Ignored with `sessions`. */
  permit?: () => void;
  /** shared with other users of the same credentials; created when absent */
  sessions?: SessionPool;
  observers?: ObserverPool;
  /** the only namespace the manager watches, if limited */
  namespace?: string;
  /** credentials that controllers of this process used, also under an earlier lease */
  usedCredentials?: UsedCredentials;
  /** workload cluster connections, which tell whether a control plane machine answers */
  workloads?: WorkloadClusters;
  /** only objects whose label `cluster.x-k8s.io/watch-filter` has this value are reconciled */
  watchFilter?: string;
  /** concurrent reconciles per kind; default 10 */
  concurrency?: number;
  /** kinds to reconcile; default: clusters with their machines, and Images */
  kinds?: { clusters: boolean; images: boolean };
  /** downloads Image content that must be verified; default HTTP from allowed peers */
  fetchContent?: FetchContent;
}

/** Parts that others may share. */
export interface InfrastructureControllers {
  clouds: Clouds;
  sessions: SessionPool;
  /** stops the polls and connections created here */
  close(): Promise<void>;
}

/** Adds the OpenStack controllers to a manager. */
export function setupInfrastructureControllers(
  manager: Manager,
  options: InfrastructureControllersOptions,
): InfrastructureControllers {
  const { client, clock, random, transport, namespace } = options;
  const sessions =
    options.sessions ??
    controllerSessions({
      clock,
      random,
      ...(transport && { transport }),
      ...(options.peers && { peers: options.peers }),
      ...(options.permit && { permit: options.permit }),
    });
  const observers = options.observers ?? createObserverPool({ random });
  const { usedCredentials: used } = options;
  const clouds = createClouds({ client, cache: manager.cache, clock, random, sessions, observers, namespace, used });
  manager.addRunnable({ name: 'cloud-credentials', run: (signal) => clouds.run(signal) });
  const dependencies: InfrastructureDependencies = {
    client,
    clock,
    random,
    cache: manager.reader,
    clouds,
    lookups: createLookupCache({ clock }),
    serverMemories: createServerMemories(),
    ...(options.workloads && { workloads: options.workloads }),
    ...(options.watchFilter !== undefined && { watchFilter: options.watchFilter }),
    ...(options.concurrency !== undefined && { concurrency: options.concurrency }),
    ...(namespace !== undefined && { namespace }),
  };
  const { kinds = { clusters: true, images: true } } = options;
  if (kinds.clusters) {
    for (const definition of [
      openStackClusterController(dependencies),
      openStackServerController(dependencies),
      openStackMachineController(dependencies),
      openStackMachineTemplateController(dependencies),
      openStackFloatingIpPoolController(dependencies),
    ]) {
      manager.add(definition);
    }
  }
  if (kinds.images) {
    const fetchContent = options.fetchContent ?? fetchOverHttp(options.peers);
    manager.add(imageController({ ...dependencies, fetchContent }));
  }
  return {
    clouds,
    sessions,
    async close() {
      if (!options.observers) observers.close();
      if (!options.sessions) await sessions.close();
    },
  };
}
