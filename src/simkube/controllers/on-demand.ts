import {
  ApiServices,
  CronJobs,
  Jobs,
  PersistentVolumeClaims,
  PodDisruptionBudgets,
  Services,
} from '../../api/index.ts';
import { type ApiServer, keyPrefix, loopbackUser, objectKey } from '../../apiserver/index.ts';
import { type WorkloadPart, workloadControllers } from '../../housekeeping/index.ts';
import { errorMessage, type KubeObject, type Resource } from '../../machinery/index.ts';
import { type ControllerDefinition, createManager, nullLogger, type RuntimeMetrics } from '../../runtime/index.ts';
import type { WorkloadCluster } from '../cluster/workload-cluster.ts';
import { apiServiceController } from './api-services.ts';
import { attachDetachController } from './attach-detach.ts';

/** Kinds that few clusters use, with the controllers that start with their first object. */
const rare: readonly Rare[] = [
  { resource: Jobs, part: 'jobs' },
  { resource: CronJobs, part: 'cronJobs' },
  { resource: PodDisruptionBudgets, part: 'disruptionBudgets' },
  { resource: PersistentVolumeClaims, part: 'volumes', events: true, more: attachDetachController },
  { resource: ApiServices, more: (cluster) => apiServiceController(cluster.aggregation) },
  // Nobody uses the endpoints of the Services that every cluster has.
  { resource: Services, part: 'endpoints', isCommon: isOfSystem },
];

interface Rare {
  readonly resource: Resource<KubeObject>;
  readonly part?: WorkloadPart;
  /** reports whether every cluster has an object with this key */
  readonly isCommon?: (key: string) => boolean;
  /** whether the controllers record events */
  readonly events?: boolean;
  /** an additional controller that runs with them */
  readonly more?: (cluster: WorkloadCluster) => ControllerDefinition;
}

function isOfSystem(key: string): boolean {
  return key === objectKey(Services, 'kube-system', 'kube-dns') || key === objectKey(Services, 'default', 'kubernetes');
}

/**
 * Runs the controllers of rare kinds only in clusters that have such objects, because even empty caches cost memory.
 */
export function startOnDemand(
  cluster: WorkloadCluster,
  server: ApiServer,
  metrics: RuntimeMetrics,
): { stop(): Promise<void> } {
  const waiting = new Map(rare.map((kind) => [keyPrefix(kind.resource), kind]));
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  const run = ({ part, events = false, more }: Rare): void => {
    const { clock, random } = cluster;
    const client = server.localClient(loopbackUser);
    const manager = createManager({ client, clock, random, log: nullLogger, metrics });
    for (const controller of workloadControllers({ parts: part ? [part] : [], events })) manager.add(controller);
    if (more) manager.add(more(cluster));
    running.push(
      manager.run(stop.signal).catch((error: unknown) => {
        cluster.log.error('Controllers of a workload cluster failed', { part, error: errorMessage(error) });
      }),
    );
  };
  const wake = (key: string): void => {
    for (const [prefix, kind] of waiting) {
      if (!key.startsWith(prefix) || kind.isCommon?.(key) || stop.signal.aborted) continue;
      waiting.delete(prefix);
      run(kind);
    }
    if (waiting.size === 0) stopWatching();
  };
  const stopWatching = cluster.onStored((events) => {
    for (const event of events) {
      if (event.type !== 'put') continue;
      wake(event.record.key);
    }
  });
  const find = async (): Promise<void> => {
    for (const { resource, isCommon } of rare) {
      const { items } = await server.localClient(loopbackUser).list(resource, isCommon ? {} : { limit: 1 });
      for (const { metadata } of items) wake(objectKey(resource, metadata.namespace, metadata.name ?? ''));
    }
  };
  // A new cluster has none of these objects.
  if (cluster.hasRun) {
    running.push(
      find().catch((error: unknown) => {
        cluster.log.warn('Objects of a workload cluster could not be read', { error: errorMessage(error) });
      }),
    );
  }
  return {
    async stop() {
      stopWatching();
      stop.abort();
      await Promise.all(running);
    },
  };
}
