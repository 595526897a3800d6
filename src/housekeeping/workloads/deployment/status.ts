import type { Deployment, DeploymentStatus, ReplicaSet } from '../../../api/index.ts';
import {
  type Condition,
  formatTime,
  getCondition,
  parseRfc3339,
  transitionTime,
  withoutCondition,
} from '../../../machinery/index.ts';
import { count } from '../common/status.ts';
import { rolloutLimits } from './limits.ts';
import { allSets, availableOf, type DeploymentScope, desiredBy, replicasOf } from './scope.ts';

export type DeploymentCondition = Condition & { lastUpdateTime?: string };

/** reasons of Progressing for which no deadline applies */
const settledReasons: ReadonlySet<string> = new Set([
  'NewReplicaSetAvailable',
  'ProgressDeadlineExceeded',
  'DeploymentPaused',
]);

/** progressDeadlineSeconds value that means no deadline */
const noDeadline = 2_147_483_647;

/** Returns the conditions with one of them replaced, or unchanged if its status and reason stay the same. */
export function withDeploymentCondition(
  conditions: readonly DeploymentCondition[],
  condition: DeploymentCondition,
  now: number,
): readonly DeploymentCondition[] {
  const before = getCondition(conditions, condition.type);
  if (before?.status === condition.status && before.reason === condition.reason) return conditions;
  return [...withoutCondition(conditions, condition.type), stamped(condition, before, now)];
}

function stamped(
  condition: DeploymentCondition,
  before: DeploymentCondition | undefined,
  now: number,
): DeploymentCondition {
  const lastTransitionTime = transitionTime(before, condition.status, now);
  return { ...condition, lastUpdateTime: formatTime(now), lastTransitionTime };
}

/** Computes the counts and conditions of a Deployment from its ReplicaSets. */
export function deploymentStatus(scope: DeploymentScope, tracksProgress: boolean): DeploymentStatus {
  const { deployment, current } = scope;
  const counts = countsOf(scope);
  const now = scope.clock.now();
  const availability = withDeploymentCondition(
    scope.conditions,
    (counts.availableReplicas ?? 0) >= replicasOf(deployment) - rolloutLimits(deployment).maxUnavailable
      ? {
          type: 'Available',
          status: 'True',
          reason: 'MinimumReplicasAvailable',
          message: 'Deployment has minimum availability.',
        }
      : {
          type: 'Available',
          status: 'False',
          reason: 'MinimumReplicasUnavailable',
          message: 'Deployment does not have minimum availability.',
        },
    now,
  );
  const progress = tracksProgress ? withProgress(availability, deployment, counts, current, now) : availability;
  const conditions = withFailure(progress, scope, now);
  return { ...counts, ...(conditions.length > 0 && { conditions: [...conditions] }) };
}

function countsOf(scope: DeploymentScope): DeploymentStatus {
  const all = allSets(scope);
  const sum = (field: 'replicas' | 'readyReplicas'): number =>
    all.reduce((total, { status }) => total + (status?.[field] ?? 0), 0);
  const available = availableOf(all);
  return {
    observedGeneration: scope.deployment.metadata.generation ?? 1,
    ...count('replicas', sum('replicas')),
    ...count('updatedReplicas', scope.current?.status?.replicas ?? 0),
    ...count('readyReplicas', sum('readyReplicas')),
    ...count('availableReplicas', available),
    ...count('unavailableReplicas', Math.max(0, desiredBy(all) - available)),
    ...count('collisionCount', scope.collisions),
  };
}

/** Reports whether every Pod has the newest template and is available, and no old Pod is left. */
export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const desired = replicasOf(deployment);
  return (
    (status.updatedReplicas ?? 0) === desired &&
    (status.replicas ?? 0) === desired &&
    (status.availableReplicas ?? 0) === desired &&
    (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  );
}

function hasProgressed(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const oldOnes = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus): number => replicas - updatedReplicas;
  return (
    (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0) ||
    oldOnes(after) < oldOnes(before)
  );
}

function withProgress(
  conditions: readonly DeploymentCondition[],
  deployment: Deployment,
  counts: DeploymentStatus,
  current: ReplicaSet | undefined,
  now: number,
): readonly DeploymentCondition[] {
  const deadline = deployment.spec.progressDeadlineSeconds ?? noDeadline;
  if (deadline === noDeadline) return withoutCondition(conditions, 'Progressing');
  const before = conditions.find(({ type }) => type === 'Progressing');
  if ((counts.replicas ?? 0) === (counts.updatedReplicas ?? 0) && before?.reason === 'NewReplicaSetAvailable')
    return conditions;
  const subject = current ? `ReplicaSet "${current.metadata.name}"` : `Deployment "${deployment.metadata.name}"`;
  if (isComplete(deployment, counts)) {
    return withDeploymentCondition(
      conditions,
      {
        type: 'Progressing',
        status: 'True',
        reason: 'NewReplicaSetAvailable',
        message: `${subject} has successfully progressed.`,
      },
      now,
    );
  }
  if (hasProgressed(deployment.status ?? {}, counts)) {
    // Each step of progress restarts the deadline, even if the message stays the same.
    const condition: DeploymentCondition = {
      type: 'Progressing',
      status: 'True',
      reason: 'ReplicaSetUpdated',
      message: `${subject} is progressing.`,
    };
    return [...withoutCondition(conditions, 'Progressing'), stamped(condition, before, now)];
  }
  const leftMs = deadlineIn(before, deadline, now);
  if (leftMs === undefined || leftMs > 0) return conditions;
  return withDeploymentCondition(
    conditions,
    {
      type: 'Progressing',
      status: 'False',
      reason: 'ProgressDeadlineExceeded',
      message: `${subject} has timed out progressing.`,
    },
    now,
  );
}

/** Milliseconds until the rollout counts as stuck; undefined when no deadline applies. */
function deadlineIn(
  condition: DeploymentCondition | undefined,
  deadlineSeconds: number,
  now: number,
): number | undefined {
  if (!condition || settledReasons.has(condition.reason ?? '')) return undefined;
  const since = parseRfc3339(condition.lastUpdateTime ?? '');
  return since === undefined ? undefined : since + deadlineSeconds * 1_000 - now;
}

/** Milliseconds until the progress deadline must be checked again. */
export function progressDeadlineIn(deployment: Deployment, status: DeploymentStatus, now: number): number | undefined {
  const deadline = deployment.spec.progressDeadlineSeconds ?? noDeadline;
  if (deadline === noDeadline || isComplete(deployment, status)) return undefined;
  const condition = status.conditions?.find(({ type }) => type === 'Progressing');
  const leftMs = deadlineIn(condition, deadline, now);
  return leftMs === undefined ? undefined : Math.max(leftMs, 1_000);
}

/** Copies the ReplicaFailure condition of a ReplicaSet to the Deployment. The newest ReplicaSet has precedence. */
function withFailure(
  conditions: readonly DeploymentCondition[],
  { current, old }: DeploymentScope,
  now: number,
): readonly DeploymentCondition[] {
  for (const set of current ? [current, ...old] : old) {
    const failure = set.status?.conditions?.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True');
    if (!failure) continue;
    const { reason = '', message = '' } = failure;
    return withDeploymentCondition(conditions, { type: 'ReplicaFailure', status: 'True', reason, message }, now);
  }
  return withoutCondition(conditions, 'ReplicaFailure');
}
