import type { Deployment, Pod, ReplicaSet } from '../../../api/index.ts';
import type { Lister } from '../../../client/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import type { DeploymentCondition } from './status.ts';

/** What one look at a Deployment works with. */
export interface DeploymentScope extends Pick<ReconcileContext, 'client' | 'events' | 'clock'> {
  readonly deployment: Deployment;
  readonly pods: Lister<Pod>;
  /** the one of the template as it is now; undefined until it is made */
  current: ReplicaSet | undefined;
  /** those of earlier templates, oldest first */
  readonly old: readonly ReplicaSet[];
  /** said by a phase, to be written with the status */
  conditions: readonly DeploymentCondition[];
  /** how often a name turned out to be taken by another template */
  collisions: number;
}

/** Every ReplicaSet of the Deployment. */
export function allSets({ current, old }: DeploymentScope): ReplicaSet[] {
  return current ? [...old, current] : [...old];
}

/** How many Pods the ReplicaSets are to have. */
export function desiredBy(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, { spec }) => sum + (spec.replicas ?? 1), 0);
}

export function availableOf(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, { status }) => sum + (status?.availableReplicas ?? 0), 0);
}

export function replicasOf({ spec }: Deployment | ReplicaSet): number {
  return spec.replicas ?? 1;
}
