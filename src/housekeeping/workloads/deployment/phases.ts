import { type Deployment, ReplicaSets } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { createMergePatch, ignoreNotFound } from '../../../machinery/index.ts';
import { fieldManager } from '../common/names.ts';
import { controlledBy } from '../common/ownership.ts';
import { isFinished, isTerminating } from '../common/pods.ts';
import { sizeAnnotations } from './annotations.ts';
import { createCurrent, markCurrent, revisionOf } from './current-set.ts';
import { scalingSteps } from './proportional-scaling.ts';
import { type Resize, rollingStep } from './rolling-step.ts';
import { type DeploymentScope, replicasOf } from './scope.ts';
import { withDeploymentCondition } from './status.ts';

/** Sets the Progressing condition when a Deployment is paused or resumed. */
export function notePause(scope: DeploymentScope): void {
  const { deployment, clock } = scope;
  if (deployment.spec.progressDeadlineSeconds === undefined) return;
  const before = scope.conditions.find(({ type }) => type === 'Progressing');
  if (before?.reason === 'ProgressDeadlineExceeded') return;
  const isPaused = deployment.spec.paused ?? false;
  if (isPaused === (before?.reason === 'DeploymentPaused')) return;
  const [reason, message] = isPaused
    ? ['DeploymentPaused', 'Deployment is paused']
    : ['DeploymentResumed', 'Deployment is resumed'];
  const condition = { type: 'Progressing', status: 'Unknown', reason, message } as const;
  scope.conditions = withDeploymentCondition(scope.conditions, condition, clock.now());
}

/**
 * Scales ReplicaSets to the desired number of replicas without a rollout. Like the other phases, returns true if it
 * changed a ReplicaSet.
 */
export async function scaleOnly(scope: DeploymentScope): Promise<boolean> {
  await markCurrent(scope);
  return await resize(scope, scalingSteps(scope.deployment, scope.current, scope.old));
}

/** Performs one step of the rollout to the current template. */
export async function rollOut(scope: DeploymentScope): Promise<boolean> {
  await markCurrent(scope);
  if (scope.deployment.spec.strategy?.type === 'Recreate') return await recreate(scope);
  if (!scope.current) return await createCurrent(scope);
  return await resize(scope, rollingStep(scope.deployment, scope.current, scope.old));
}

/** Creates the new Pods only after the last old Pod is gone. */
async function recreate(scope: DeploymentScope): Promise<boolean> {
  const { deployment, old, pods } = scope;
  const shrinking = old.filter((set) => replicasOf(set) > 0);
  if (shrinking.length > 0) {
    return await resize(
      scope,
      shrinking.map((set) => ({ set, replicas: 0 })),
    );
  }
  if (old.some((set) => controlledBy(pods, set).some((pod) => !isFinished(pod)))) return false;
  if (!scope.current) return await createCurrent(scope);
  return await resize(scope, [{ set: scope.current, replicas: replicasOf(deployment) }]);
}

async function resize(scope: DeploymentScope, steps: readonly Resize[]): Promise<boolean> {
  const { client, deployment, events } = scope;
  const annotations = sizeAnnotations(deployment);
  let isChanged = false;
  for (const { set, replicas } of steps) {
    const before = replicasOf(set);
    const marks = createMergePatch(set.metadata.annotations ?? {}, { ...set.metadata.annotations, ...annotations });
    if (before === replicas && !marks) continue;
    const patch = {
      ...(marks && { metadata: { annotations: marks } }),
      ...(before !== replicas && { spec: { replicas } }),
    };
    const written = await client.patch(ReplicaSets, objectKey(set), 'merge', patch, { fieldManager });
    isChanged = true;
    if (set.metadata.uid === scope.current?.metadata.uid) scope.current = written;
    if (before === replicas) continue;
    const name = set.metadata.name;
    const direction = replicas > before ? 'up' : 'down';
    const message = `Scaled ${direction} replica set ${name} from ${before} to ${replicas}`;
    events.event(deployment, 'Normal', 'ScalingReplicaSet', message);
  }
  return isChanged;
}

/** Deletes old ReplicaSets beyond the revision history limit. */
export async function pruneHistory({ deployment, old, client }: DeploymentScope): Promise<void> {
  const limit = deployment.spec.revisionHistoryLimit ?? 10;
  const idle = old.filter((set) => !isTerminating(set));
  if (idle.length <= limit) return;
  const byRevision = [...idle].sort((a, b) =>
    revisionOf(a) < revisionOf(b) ? -1 : revisionOf(a) > revisionOf(b) ? 1 : 0,
  );
  for (const set of byRevision.slice(0, idle.length - limit)) {
    const isEmpty = (set.status?.replicas ?? 0) === 0 && replicasOf(set) === 0;
    if (!isEmpty || (set.metadata.generation ?? 0) > (set.status?.observedGeneration ?? 0)) continue;
    await client.delete(ReplicaSets, objectKey(set)).catch(ignoreNotFound);
  }
}

export function isPaused({ spec }: Deployment): boolean {
  return spec.paused ?? false;
}
