import type { Deployment, ReplicaSet } from '../../../api/index.ts';
import { desiredReplicasAnnotation, maxReplicasAnnotation } from './annotations.ts';
import { rolloutLimits } from './limits.ts';
import type { Resize } from './rolling-step.ts';
import { desiredBy, replicasOf } from './scope.ts';

/** Reports whether the Deployment was scaled after its ReplicaSets were last sized. */
export function isScaled(deployment: Deployment, sets: readonly ReplicaSet[]): boolean {
  return sets.some((set) => {
    const desired = set.metadata.annotations?.[desiredReplicasAnnotation];
    return replicasOf(set) > 0 && desired !== undefined && Number(desired) !== replicasOf(deployment);
  });
}

/**
 * Computes new sizes of the ReplicaSets after the number of replicas changed. During a rollout each gets a proportional
 * share, which limits the risk of a bad new template.
 */
export function scalingSteps(
  deployment: Deployment,
  current: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
): Resize[] {
  const wanted = replicasOf(deployment);
  const all = current ? [...old, current] : old;
  const active = all.filter((set) => replicasOf(set) > 0);
  if (active.length <= 1) {
    const only = active[0] ?? current ?? old.at(-1);
    return only ? [{ set: only, replicas: wanted }] : [];
  }
  if (current && isSaturated(deployment, current)) {
    return old.filter((set) => replicasOf(set) > 0).map((set) => ({ set, replicas: 0 }));
  }
  if (deployment.spec.strategy?.type === 'Recreate') return [];
  return shares(deployment, active);
}

function isSaturated(deployment: Deployment, current: ReplicaSet): boolean {
  const wanted = replicasOf(deployment);
  return (
    replicasOf(current) === wanted &&
    Number(current.metadata.annotations?.[desiredReplicasAnnotation]) === wanted &&
    (current.status?.availableReplicas ?? 0) === wanted
  );
}

function shares(deployment: Deployment, active: readonly ReplicaSet[]): Resize[] {
  const wanted = replicasOf(deployment);
  const allowed = wanted === 0 ? 0 : wanted + rolloutLimits(deployment).maxSurge;
  const toAdd = allowed - desiredBy(active);
  const isGrowing = toAdd > 0;
  const bySize = [...active].sort((a, b) => replicasOf(b) - replicasOf(a) || (isGrowing ? -1 : 1) * compareAge(a, b));
  let added = 0;
  const resizes = bySize.map((set) => {
    const share = shareOf(set, deployment, toAdd, added);
    added += share;
    return { set, replicas: replicasOf(set) + share };
  });
  const [largest, ...rest] = resizes;
  if (!largest) return [];
  return [{ set: largest.set, replicas: Math.max(0, largest.replicas + toAdd - added) }, ...rest];
}

/** Negative if `a` is older. */
function compareAge(a: ReplicaSet, b: ReplicaSet): number {
  return (a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? -1 : 1;
}

function shareOf(set: ReplicaSet, deployment: Deployment, toAdd: number, added: number): number {
  if (toAdd === 0 || toAdd === added) return 0;
  const wanted = replicasOf(deployment);
  const limit = toAdd - added;
  const fraction = wanted === 0 ? -replicasOf(set) : grownSize(set, deployment) - replicasOf(set);
  return toAdd > 0 ? Math.min(fraction, limit) : Math.max(fraction, limit);
}

/** Scales the size of a set from the limits it was sized for to the present limits. */
function grownSize(set: ReplicaSet, deployment: Deployment): number {
  const before = Number(set.metadata.annotations?.[maxReplicasAnnotation]) || (deployment.status?.replicas ?? 0);
  if (before === 0) return replicasOf(set);
  return Math.round((replicasOf(set) * (replicasOf(deployment) + rolloutLimits(deployment).maxSurge)) / before);
}
