import { type LatticePoolSettings, nodeLabelWay } from '../../../api/index.ts';
import { latticePoolLabel } from '../names.ts';

/** Labels that the kubelets of a pool set on their nodes, as `key=value`. */
export function kubeletLabels({ id, pool }: LatticePoolSettings): string[] {
  const own = Object.entries(pool.labels ?? {}).filter(([key]) => nodeLabelWay(key) === 'kubelet');
  return [...own, [latticePoolLabel, id] as const].map(([key, value]) => `${key}=${value}`).sort();
}

/** Labels that reach nodes through their Machines. */
export function machineLabels({ pool }: LatticePoolSettings): Record<string, string> {
  return Object.fromEntries(Object.entries(pool.labels ?? {}).filter(([key]) => nodeLabelWay(key) === 'machine'));
}
