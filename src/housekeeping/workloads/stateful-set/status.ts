import type { Pod, StatefulSet } from '../../../api/index.ts';
import { isFinished, isTerminating } from '../common/pods.ts';
import { count } from '../common/status.ts';
import { isRunningAndReady, memberAvailableIn, ordinalOf, replicasOf, revisionName } from './member.ts';
import type { MemberRevisions } from './plan.ts';

/** Computes the status of a StatefulSet from its Pods. */
export function statefulSetStatus(
  set: StatefulSet,
  pods: readonly Pod[],
  { revisions, collisions, now }: { revisions: MemberRevisions; collisions: number; now: number },
): NonNullable<StatefulSet['status']> {
  let replicas = 0;
  let ready = 0;
  let available = 0;
  let current = 0;
  let updated = 0;
  for (const pod of pods) {
    if (ordinalOf(set, pod) === undefined || isFinished(pod)) continue;
    replicas++;
    if (isRunningAndReady(pod)) ready++;
    if (memberAvailableIn(set, pod, now) === 0) available++;
    if (isTerminating(pod)) continue;
    if (revisionName(pod) === revisions.current) current++;
    if (revisionName(pod) === revisions.update) updated++;
  }
  const desired = replicasOf(set);
  const isComplete =
    set.spec.updateStrategy?.type !== 'OnDelete' && updated === desired && ready === desired && replicas === desired;
  return {
    observedGeneration: set.metadata.generation ?? 1,
    replicas,
    ...count('readyReplicas', ready),
    availableReplicas: available,
    ...count('currentReplicas', isComplete ? updated : current),
    ...count('updatedReplicas', updated),
    currentRevision: isComplete ? revisions.update : revisions.current,
    updateRevision: revisions.update,
    collisionCount: collisions,
    ...(set.status?.conditions && { conditions: set.status.conditions }),
  };
}
