import { type ApiServer, followableResources, loopbackUser, type StoredObject } from '../../apiserver/index.ts';
import { garbageCollector, namespaceController } from '../../housekeeping/index.ts';
import { type CancelTimer, errorMessage } from '../../machinery/index.ts';
import { createManager, nullLogger, type RuntimeMetrics } from '../../runtime/index.ts';
import type { StoreEvent } from '../../store/index.ts';
import type { WorkloadCluster } from '../cluster/workload-cluster.ts';

/** time it keeps running after the last deletion */
const calmMs = 60_000;

/** kinds that change constantly and own nothing */
const ownerless = ['/coordination.k8s.io/', '/core/events/', '/core/pods/', '/certificates.k8s.io/'];

/**
 * Runs the garbage collector and the namespace controller of a cluster. They follow every object of every kind, which
 * is expensive for thousands of simulated clusters with few deletions. Therefore they run only from a deletion until
 * the cluster is quiet again, and then also find what they missed.
 */
export function startCollector(
  cluster: WorkloadCluster,
  server: ApiServer,
  metrics: RuntimeMetrics,
): { stop(): Promise<void> } {
  let current: { stop: AbortController; ended: Promise<void> } | undefined;
  let cancel: CancelTimer = () => {};
  let isStopped = false;

  const run = (): void => {
    const { clock, random } = cluster;
    const served = followableResources(server.registry);
    const client = server.localClient(loopbackUser, isReadWhole);
    const manager = createManager({ client, clock, random, log: nullLogger, metrics });
    manager.add(garbageCollector({ served }));
    manager.add(namespaceController({ served }));
    const stop = new AbortController();
    const ended = manager.run(stop.signal).catch((error: unknown) => {
      cluster.log.error('Garbage collection of a workload cluster failed', { error: errorMessage(error) });
    });
    current = { stop, ended };
  };
  const rest = (): void => {
    current?.stop.abort();
    current = undefined;
  };
  const wake = (): void => {
    if (isStopped) return;
    cancel();
    cancel = cluster.clock.after(calmMs, rest);
    if (!current) run();
  };
  const stopWatching = cluster.onStored((events) => {
    if (events.some(isDeletion)) wake();
  });
  // Finds deletions that happened while no controller ran. A new cluster has none.
  if (cluster.hasRun) wake();
  return {
    async stop() {
      isStopped = true;
      cancel();
      stopWatching();
      const { ended } = current ?? {};
      rest();
      await ended;
    },
  };
}

function isDeletion(event: StoreEvent<StoredObject>): boolean {
  if (event.type === 'delete') return !ownerless.some((prefix) => event.key.startsWith(prefix));
  const { deletionTimestamp, finalizers } = event.record.value.identity;
  if (deletionTimestamp === undefined) return false;
  return finalizers !== undefined || event.record.key.startsWith('/core/namespaces/');
}

/** Only namespaces are cached completely; other kinds need metadata only. */
function isReadWhole({ group, plural }: { group: string; plural: string }): boolean {
  return group === '' && plural === 'namespaces';
}
