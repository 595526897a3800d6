import type { Deployment, ReplicaSet } from '../../../api/index.ts';
import { must } from '../../../machinery/index.ts';
import { rolloutLimits } from './limits.ts';
import { availableOf, desiredBy, replicasOf } from './scope.ts';

/** A ReplicaSet and its new number of Pods. */
export interface Resize {
  readonly set: ReplicaSet;
  readonly replicas: number;
}

/**
 * Computes the next step of a rolling update: grows the new ReplicaSet as far as the limits allow, else shrinks the old
 * ones.
 */
export function rollingStep(deployment: Deployment, current: ReplicaSet, old: readonly ReplicaSet[]): Resize[] {
  const grown = growCurrent(deployment, current, old);
  if (grown !== replicasOf(current)) return [{ set: current, replicas: grown }];
  return shrinkOld(deployment, current, old);
}

/** Number of Pods the new ReplicaSet may have now. */
export function growCurrent(
  deployment: Deployment,
  current: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
): number {
  const desired = replicasOf(deployment);
  const has = current ? replicasOf(current) : 0;
  if (deployment.spec.strategy?.type === 'Recreate' || has >= desired) return desired;
  const room = desired + rolloutLimits(deployment).maxSurge - desiredBy(old) - has;
  return has + Math.max(0, Math.min(room, desired - has));
}

function shrinkOld(deployment: Deployment, current: ReplicaSet, old: readonly ReplicaSet[]): Resize[] {
  const oldCount = desiredBy(old);
  if (oldCount === 0) return [];
  const minAvailable = replicasOf(deployment) - rolloutLimits(deployment).maxUnavailable;
  const notYetAvailable = replicasOf(current) - (current.status?.availableReplicas ?? 0);
  const mayGo = oldCount + replicasOf(current) - minAvailable - notYetAvailable;
  if (mayGo <= 0) return [];
  const sizes = new Map(old.map((set) => [set, replicasOf(set)]));
  takeBroken(old, sizes, mayGo);
  takeAvailable(old, sizes, availableOf([current, ...old]) - minAvailable);
  return old.flatMap((set) => {
    const replicas = must(sizes.get(set), 'sizes.get(set)');
    return replicas === replicasOf(set) ? [] : [{ set, replicas }];
  });
}

/** Removes unhealthy Pods of old templates first. */
function takeBroken(old: readonly ReplicaSet[], sizes: Map<ReplicaSet, number>, limit: number): void {
  let rest = limit;
  for (const set of old) {
    const has = must(sizes.get(set), 'sizes.get(set)');
    const going = Math.min(rest, Math.max(0, has - (set.status?.availableReplicas ?? 0)));
    sizes.set(set, has - going);
    rest -= going;
  }
}

function takeAvailable(old: readonly ReplicaSet[], sizes: Map<ReplicaSet, number>, limit: number): void {
  let rest = limit;
  for (const set of old) {
    if (rest <= 0) return;
    const has = must(sizes.get(set), 'sizes.get(set)');
    const going = Math.min(rest, has);
    sizes.set(set, has - going);
    rest -= going;
  }
}
