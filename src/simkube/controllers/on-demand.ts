import { CronJobs, Jobs, PodDisruptionBudgets } from '../../api/index.ts';
import { type ApiServer, keyPrefix, loopbackUser } from '../../apiserver/index.ts';
import { type WorkloadPart, workloadControllers } from '../../housekeeping/index.ts';
import { errorMessage, type KubeObject, type Resource } from '../../machinery/index.ts';
import { createManager, nullLogger, type RuntimeMetrics } from '../../runtime/index.ts';
import type { WorkloadCluster } from '../cluster/workload-cluster.ts';

/** Kinds few clusters have, and the controllers the first object of them starts. */
const rare: readonly { readonly resource: Resource<KubeObject>; readonly part: WorkloadPart }[] = [
  { resource: Jobs as Resource<KubeObject>, part: 'jobs' },
  { resource: CronJobs as Resource<KubeObject>, part: 'cronJobs' },
  { resource: PodDisruptionBudgets as Resource<KubeObject>, part: 'disruptionBudgets' },
];

/** Runs the controllers of rare kinds in those clusters that have such objects: caches cost, also empty ones. */
export function startOnDemand(
  cluster: WorkloadCluster,
  server: ApiServer,
  metrics: RuntimeMetrics,
): { stop(): Promise<void> } {
  const waiting = new Map(rare.map(({ resource, part }) => [keyPrefix(resource), part]));
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  const run = (part: WorkloadPart): void => {
    const { clock, random } = cluster;
    const client = server.localClient(loopbackUser);
    const manager = createManager({ client, clock, random, log: nullLogger, metrics });
    for (const controller of workloadControllers({ parts: [part], events: false })) manager.add(controller);
    running.push(
      manager.run(stop.signal).catch((error: unknown) => {
        cluster.log.error('Controllers of a workload cluster failed', { part, error: errorMessage(error) });
      }),
    );
  };
  const wake = (prefix: string): void => {
    const part = waiting.get(prefix);
    if (part === undefined || stop.signal.aborted) return;
    waiting.delete(prefix);
    run(part);
    if (waiting.size === 0) stopWatching();
  };
  const stopWatching = cluster.onStored((events) => {
    for (const event of events) {
      if (event.type !== 'put') continue;
      for (const prefix of waiting.keys()) if (event.record.key.startsWith(prefix)) wake(prefix);
    }
  });
  const find = async (): Promise<void> => {
    for (const { resource } of rare) {
      const { items } = await server.localClient(loopbackUser).list(resource, { limit: 1 });
      if (items.length > 0) wake(keyPrefix(resource));
    }
  };
  // A cluster in its first moments has none of them.
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
