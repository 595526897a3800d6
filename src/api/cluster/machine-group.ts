import type { FieldError } from '../../machinery/index.ts';
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

/** What is said of the machines of a control plane, or of some workers: by a ClusterClass, or by the topology of a Cluster. */
export interface MachineGroup {
  metadata?: TemplateMetadata;
  taints?: MachineTaint[];
  healthCheck?: TopologyHealthCheck<MachineDeploymentRemediation>;
  rollout?: { after?: string; strategy?: RolloutStrategy };
}

/** What the objects made of it would be refused for, said where it is written. */
export function validateMachineGroup(
  { metadata, taints, healthCheck, rollout }: MachineGroup,
  path: string,
  role: 'control plane' | 'worker',
): FieldError[] {
  return [
    ...validateTemplateMetadata(metadata, `${path}.metadata`),
    ...validateMachineTaints(taints, `${path}.taints`, role),
    ...validateRolloutStrategy(rollout?.strategy, `${path}.rollout.strategy`),
    ...(healthCheck ? validateHealthChecks(healthCheck, `${path}.healthCheck`) : []),
  ];
}

/** Whether an autoscaler is told how many machines there may be; it owns the replicas then. */
export const isAutoscaled = ({ metadata }: MachineGroup): boolean =>
  metadata?.annotations?.[autoscalerMinSizeAnnotation] !== undefined ||
  metadata?.annotations?.[autoscalerMaxSizeAnnotation] !== undefined;

/** Whether it says what is unhealthy, as opposed to whether that is looked for. */
export const definesHealthCheck = (check: MachineGroup['healthCheck']): boolean =>
  check?.checks !== undefined || check?.remediation !== undefined;
