import { formatKey, type ObjectKey } from '../../client/index.ts';
import { deepEqual } from '../../machinery/index.ts';
import type { ExternalSource } from '../../runtime/index.ts';

export type OutcomeReason = 'RemoteClusterClientFailed' | 'ApplyFailed';

/** Why a cluster lacks some objects of a set. */
export interface ClusterProblem {
  readonly reason: OutcomeReason;
  readonly message: string;
}

/**
 * Outcomes of sets in clusters, as known to this process. The set controller summarizes them in the condition of the
 * set.
 */
export interface Outcomes {
  /** stores the outcomes of all sets that match a cluster, by set name; enqueues the sets whose outcome changed */
  put(cluster: ObjectKey, bySet: ReadonlyMap<string, readonly ClusterProblem[]>): void;
  /** undefined until the cluster has been reconciled */
  of(cluster: ObjectKey, set: string): readonly ClusterProblem[] | undefined;
  /** enqueues sets */
  readonly source: ExternalSource;
}

export function createOutcomes(): Outcomes {
  const known = new Map<string, ReadonlyMap<string, readonly ClusterProblem[]>>();
  const listeners = new Set<(set: ObjectKey) => void>();
  return {
    put(cluster, bySet) {
      const id = formatKey(cluster);
      const before = known.get(id) ?? new Map();
      if (bySet.size === 0) known.delete(id);
      else known.set(id, bySet);
      for (const name of new Set([...before.keys(), ...bySet.keys()])) {
        if (deepEqual(before.get(name), bySet.get(name))) continue;
        const set = cluster.namespace === undefined ? { name } : { namespace: cluster.namespace, name };
        for (const listener of listeners) listener(set);
      }
    },
    of: (cluster, set) => known.get(formatKey(cluster))?.get(set),
    source: {
      start({ enqueue, signal }) {
        listeners.add(enqueue);
        signal.addEventListener('abort', () => listeners.delete(enqueue), { once: true });
      },
    },
  };
}
