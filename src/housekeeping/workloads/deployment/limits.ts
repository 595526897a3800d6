import type { Deployment } from '../../../api/index.ts';
import { scaledValue } from '../../../machinery/index.ts';
import { replicasOf } from './scope.ts';

/** How far a rolling update may go beyond and below the number of Pods desired. */
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
  // Percentages may round to nothing at all, and then nothing could ever move.
  const maxUnavailable = maxSurge === 0 && unavailable === 0 ? 1 : Math.min(unavailable, desired);
  return { maxSurge, maxUnavailable };
}
