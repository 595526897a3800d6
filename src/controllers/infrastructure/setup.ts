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
import { openStackServerController } from './server/server-controller.ts';
import { openStackMachineTemplateController } from './template/template-controller.ts';

export interface InfrastructureControllersOptions {
  /** the management API */
  client: Client;
  clock: Clock;
  random: Random;
  /** how requests reach clouds; default: HTTP over sockets. Ignored where `sessions` are given. */
  transport?: Transport;
  /** which clouds may be asked on the word of a tenant; default: any */
  peers?: PeerPolicy;
  /** asked before each request to a cloud; what it throws keeps it back. Ignored where `sessions` are given. */
  permit?: () => void;
  /** shared with others who use the same credentials; made here when absent */
  sessions?: SessionPool;
  observers?: ObserverPool;
  /** the namespace the manager is limited to, if it is */
  namespace?: string;
  /** Secrets that controllers of this process have used, also under a lease that was lost since */
  usedCredentials?: UsedCredentials;
  /** the APIs of workload clusters, for telling whether a control plane machine answers */
  workloads?: WorkloadClusters;
  /** handle only objects whose label `cluster.x-k8s.io/watch-filter` has this value */
  watchFilter?: string;
  /** keys of one kind reconciled at the same time; default 10 */
  concurrency?: number;
  /** which kinds are looked after; default: clusters with their machines, and Images */
  kinds?: { clusters: boolean; images: boolean };
  /** how the content of Images is downloaded that has to be checked; default: over HTTP, from peers that may be asked */
  fetchContent?: FetchContent;
}

/** What others may share with these controllers. */
export interface InfrastructureControllers {
  clouds: Clouds;
  sessions: SessionPool;
  /** ends what was made here: polls and connections */
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
