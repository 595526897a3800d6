import { type FieldError, validateNonNegative } from '../../machinery/index.ts';
import { autoscalerMaxSizeAnnotation, autoscalerMinSizeAnnotation } from './labels.ts';
import type {
  MachineDeploymentRemediation,
  MachineTaint,
  RolloutStrategy,
  TemplateMetadata,
  TopologyHealthCheck,
} from './types.ts';
import {
  validateHealthChecks,
  validateMachineTaints,
  validateRolloutStrategy,
  validateTemplateMetadata,
} from './validation.ts';

/**
 * Machine settings of a control plane or of a group of workers, from a ClusterClass or from the topology of a Cluster.
 */
export interface MachineGroup {
  metadata?: TemplateMetadata;
  replicas?: number;
  taints?: MachineTaint[];
  healthCheck?: TopologyHealthCheck<MachineDeploymentRemediation>;
  rollout?: { after?: string; strategy?: RolloutStrategy };
}

/** Checks settings where the user writes them, instead of when the generated objects are refused. */
export function validateMachineGroup(
  { metadata, replicas, taints, healthCheck, rollout }: MachineGroup,
  path: string,
  role: 'control plane' | 'worker',
): FieldError[] {
  return [
    ...validateTemplateMetadata(metadata, `${path}.metadata`),
    ...validateNonNegative(replicas, `${path}.replicas`),
    ...validateMachineTaints(taints, `${path}.taints`, role),
    ...validateRolloutStrategy(rollout?.strategy, `${path}.rollout.strategy`),
    ...(healthCheck ? validateHealthChecks(healthCheck, `${path}.healthCheck`) : []),
  ];
}

/** Tells whether an autoscaler annotation sets a size limit. The autoscaler then owns the replicas. */
export const isAutoscaled = ({ metadata }: MachineGroup): boolean =>
  metadata?.annotations?.[autoscalerMinSizeAnnotation] !== undefined ||
  metadata?.annotations?.[autoscalerMaxSizeAnnotation] !== undefined;

/** Tells whether the health check defines checks or remediation. It may still be disabled. */
export const definesHealthCheck = (check: MachineGroup['healthCheck']): boolean =>
  check?.checks !== undefined || check?.remediation !== undefined;
