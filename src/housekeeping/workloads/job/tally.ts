import type { Job, Pod } from '../../../api/index.ts';
import { must } from '../../../machinery/index.ts';
import { isActive, isPodReady, isTerminating } from '../common/pods.ts';
import { type FailedIndexes, judgeIndexes } from './failed-indexes.ts';
import { judgeFailure } from './failure-policy.ts';
import { IndexSet } from './indexes.ts';
import { indexOf, isFailedPod, isIndexed, isTracked } from './job-pod.ts';

/**
 * Counts of finished Pods. A Pod is first listed as uncounted in the status, then its finalizer is removed, then it is
 * added to the totals. This counts it exactly once even if the controller crashes in between.
 */
export interface JobTally {
  readonly active: readonly Pod[];
  readonly ready: number;
  readonly terminating: number;
  /** totals including uncounted Pods */
  readonly succeeded: number;
  readonly failed: number;
  /** totals of Pods whose finalizer is already removed */
  readonly settledSucceeded: number;
  readonly settledFailed: number;
  readonly uncounted: { readonly succeeded: readonly string[]; readonly failed: readonly string[] };
  /** Pods whose finalizer may be removed once the status is stored */
  readonly release: readonly Pod[];
  readonly completedIndexes: IndexSet;
  /** only for Jobs with a backoff limit per index */
  readonly failedIndexes: FailedIndexes | undefined;
  /** reason why the pod failure policy fails the Job */
  readonly verdict: string | undefined;
}

export function tallyPods(job: Job, pods: readonly Pod[]): JobTally {
  const status = job.status ?? {};
  const tracked = new Map(pods.filter(isTracked).map((pod) => [must(pod.metadata.uid, 'pod.metadata.uid'), pod]));
  const written = status.uncountedTerminatedPods ?? {};
  let settledSucceeded = status.succeeded ?? 0;
  let settledFailed = status.failed ?? 0;
  const succeeded: string[] = [];
  const failed: string[] = [];
  for (const uid of written.succeeded ?? []) {
    if (tracked.has(uid)) succeeded.push(uid);
    else settledSucceeded++;
  }
  for (const uid of written.failed ?? []) {
    if (tracked.has(uid)) failed.push(uid);
    else settledFailed++;
  }
  const known = new Set([...succeeded, ...failed]);
  const release: Pod[] = [];
  const completedIndexes = IndexSet.parse(status.completedIndexes, job.spec.completions ?? 0);
  const failedIndexes = judgeIndexes(job, pods);
  let verdict: string | undefined;
  let held = 0;
  for (const [uid, pod] of tracked) {
    const isSucceeded = pod.status?.phase === 'Succeeded';
    if (!isSucceeded && !isFailedPod(job, pod)) continue;
    if (failedIndexes?.held.has(pod)) {
      const judged = judgeFailure(job, pod);
      if (judged.action === 'FailJob') verdict ??= judged.message;
      if (judged.action !== 'Ignore') held++;
      continue;
    }
    release.push(pod);
    if (known.has(uid)) continue;
    if (isSucceeded) {
      const index = indexOf(pod);
      if (!isIndexed(job)) succeeded.push(uid);
      else if (index !== undefined && !completedIndexes.has(index)) {
        completedIndexes.add(index);
        succeeded.push(uid);
      }
      continue;
    }
    const judged = judgeFailure(job, pod);
    if (judged.action === 'FailJob') verdict ??= judged.message;
    if (judged.action !== 'Ignore') failed.push(uid);
  }
  const active = pods.filter(isActive);
  return {
    active,
    ready: active.filter(isPodReady).length,
    terminating: pods.filter((pod) => isTerminating(pod) && !isEnded(pod)).length,
    succeeded: settledSucceeded + succeeded.length,
    failed: settledFailed + failed.length + held,
    settledSucceeded,
    settledFailed,
    uncounted: { succeeded, failed },
    release,
    completedIndexes,
    failedIndexes,
    verdict,
  };
}

function isEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Builds the status fields for the counts. */
export function talliedStatus(job: Job, tally: JobTally): NonNullable<Job['status']> {
  const { succeeded, failed } = tally.uncounted;
  return {
    ...(tally.active.length > 0 && { active: tally.active.length }),
    ready: tally.ready,
    terminating: tally.terminating,
    ...(tally.settledSucceeded > 0 && { succeeded: tally.settledSucceeded }),
    ...(tally.settledFailed > 0 && { failed: tally.settledFailed }),
    ...(tally.failedIndexes && { failedIndexes: tally.failedIndexes.failed.toString() }),
    ...(isIndexed(job) && tally.completedIndexes.size > 0 && { completedIndexes: tally.completedIndexes.toString() }),
    uncountedTerminatedPods: {
      ...(succeeded.length > 0 && { succeeded: [...succeeded] }),
      ...(failed.length > 0 && { failed: [...failed] }),
    },
  };
}
