import type { MachineDeployment } from '../../../api/index.ts';
import { scaledValue } from '../common/scaled-value.ts';

export interface RolloutLimits {
  replicas: number;
  maxSurge: number;
  maxUnavailable: number;
}

/**
 * Resolves maxSurge and maxUnavailable. If both are zero the rollout could never progress, so maxUnavailable becomes 1.
 */
export function rolloutLimits(deployment: MachineDeployment): RolloutLimits {
  const replicas = deployment.spec.replicas ?? 0;
  const { type = 'RollingUpdate', rollingUpdate } = deployment.spec.rollout?.strategy ?? {};
  if (type !== 'RollingUpdate') return { replicas, maxSurge: 0, maxUnavailable: 0 };
  const maxSurge = scaledValue(rollingUpdate?.maxSurge ?? 1, replicas, 'up') ?? 1;
  const desired = scaledValue(rollingUpdate?.maxUnavailable ?? 0, replicas, 'down') ?? 0;
  const maxUnavailable = replicas === 0 ? 0 : Math.min(maxSurge === 0 && desired === 0 ? 1 : desired, replicas);
  return { replicas, maxSurge, maxUnavailable };
}
