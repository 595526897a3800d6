import type { WorkloadCluster } from '../../cluster/workload-cluster.ts';

/** A controller among those of its cluster. */
export interface Candidate {
  /** resolves when it leads, which may be never */
  readonly leads: Promise<void>;
  /** has the next one lead; to be called once */
  leave(): void;
}

const lines = new WeakMap<WorkloadCluster, (() => void)[]>();

/** Of the controllers of a cluster one writes what k0s brings along: the first that came and is still there. */
export function standForLeader(cluster: WorkloadCluster): Candidate {
  const line = lines.get(cluster) ?? [];
  lines.set(cluster, line);
  let lead = (): void => {};
  const leads = new Promise<void>((resolve) => {
    lead = resolve;
  });
  line.push(lead);
  line[0]?.();
  return {
    leads,
    leave() {
      line.splice(line.indexOf(lead), 1);
      line[0]?.();
    },
  };
}
