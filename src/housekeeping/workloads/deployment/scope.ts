import type { Deployment, Pod, ReplicaSet } from '../../../api/index.ts';
import type { Lister } from '../../../client/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import type { DeploymentCondition } from './status.ts';

/** Working data of one Deployment reconcile. */
export interface DeploymentScope extends Pick<ReconcileContext, 'client' | 'events' | 'clock'> {
  readonly deployment: Deployment;
  readonly pods: Lister<Pod>;
  /** ReplicaSet of the present template; undefined until it is created */
  current: ReplicaSet | undefined;
  /** ReplicaSets of earlier templates, oldest first */
  readonly old: readonly ReplicaSet[];
  /** conditions set by a phase, written together with the status */
  conditions: readonly DeploymentCondition[];
  /** number of hash collisions so far */
  collisions: number;
}

export function allSets({ current, old }: DeploymentScope): ReplicaSet[] {
  return current ? [...old, current] : [...old];
}

/** Sum of the desired replicas of the ReplicaSets. */
export function desiredBy(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, { spec }) => sum + (spec.replicas ?? 1), 0);
}

export function availableOf(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, { status }) => sum + (status?.availableReplicas ?? 0), 0);
}

export function replicasOf({ spec }: Deployment | ReplicaSet): number {
  return spec.replicas ?? 1;
}
