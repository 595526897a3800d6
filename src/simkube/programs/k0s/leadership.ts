import type { WorkloadCluster } from '../../cluster/workload-cluster.ts';

/** A controller that is a candidate for leadership of its cluster. */
export interface Candidate {
  /** resolves when it becomes the leader, which may never happen */
  readonly leads: Promise<void>;
  /** passes leadership to the next candidate; must be called once */
  leave(): void;
}

const lines = new WeakMap<WorkloadCluster, (() => void)[]>();

/** Among the controllers of a cluster, one applies what k0s contains: the earliest that still runs. */
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
