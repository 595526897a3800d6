import type { Deployment } from '../../../api/index.ts';
import { scaledValue } from '../../../machinery/index.ts';
import { replicasOf } from './scope.ts';

/** Limits of a rolling update above and below the desired number of Pods. */
export interface RolloutLimits {
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

export function rolloutLimits(deployment: Deployment): RolloutLimits {
  const { type, rollingUpdate } = deployment.spec.strategy ?? {};
  const desired = replicasOf(deployment);
  if (type === 'Recreate' || desired === 0) return { maxSurge: 0, maxUnavailable: 0 };
  const maxSurge = scaledValue(rollingUpdate?.maxSurge ?? '25%', desired, 'up');
  const unavailable = scaledValue(rollingUpdate?.maxUnavailable ?? '25%', desired, 'down');
  // Percentages may round both limits to zero, and then the rollout could never proceed.
  const maxUnavailable = maxSurge === 0 && unavailable === 0 ? 1 : Math.min(unavailable, desired);
  return { maxSurge, maxUnavailable };
}
