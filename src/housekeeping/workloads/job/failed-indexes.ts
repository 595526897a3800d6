import type { Job, Pod } from '../../../api/index.ts';
import { judgeFailure } from './failure-policy.ts';
import { IndexSet } from './indexes.ts';
import { endOf, failuresBefore, type IndexFailures, indexOf, isFailedPod, isTracked } from './job-pod.ts';

/** Failed indexes of a Job with `backoffLimitPerIndex`, and failure counts of the other indexes. */
export interface FailedIndexes {
  readonly failed: IndexSet;
  /** failures of indexes that are retried */
  readonly failures: ReadonlyMap<number, IndexFailures & { readonly lastAt: number }>;
  /** Pods that must be kept, because the next Pod of their index takes the failure count from them */
  readonly held: ReadonlySet<Pod>;
}

/** Returns undefined for Jobs that count failures over all indexes. */
export function judgeIndexes(job: Job, pods: readonly Pod[]): FailedIndexes | undefined {
  const limit = job.spec.backoffLimitPerIndex;
  if (limit === undefined) return undefined;
  const completions = job.spec.completions ?? 0;
  const failed = IndexSet.parse(job.status?.failedIndexes, completions);
  const completed = IndexSet.parse(job.status?.completedIndexes, completions);
  const newest = newestByIndex(pods);
  const continues = !isDecided(job);
  const failures = new Map<number, IndexFailures & { lastAt: number }>();
  const held = new Set<Pod>();
  for (const [index, pod] of newest) {
    if (index >= completions || completed.has(index) || failed.has(index)) continue;
    if (!isFailedPod(job, pod)) continue;
    const before = failuresBefore(pod);
    const { action } = judgeFailure(job, pod);
    const counted = before.counted + (action === 'Ignore' ? 0 : 1);
    if (action === 'FailIndex' || counted > limit) {
      failed.add(index);
      continue;
    }
    const ignored = before.ignored + (action === 'Ignore' ? 1 : 0);
    failures.set(index, { counted, ignored, lastAt: endOf(pod) ?? 0 });
    if (continues && isTracked(pod)) held.add(pod);
  }
  return { failed, failures, held };
}

/** Reports whether the outcome of the Job is recorded. Then no index is retried. */
function isDecided({ status }: Job): boolean {
  return (
    status?.conditions?.some(
      (one) => one.status === 'True' && (one.type === 'FailureTarget' || one.type === 'SuccessCriteriaMet'),
    ) ?? false
  );
}

/** Finds the last Pod of each index: the one with the highest failure count. */
function newestByIndex(pods: readonly Pod[]): Map<number, Pod> {
  const newest = new Map<number, Pod>();
  for (const pod of pods) {
    const index = indexOf(pod);
    if (index === undefined) continue;
    const other = newest.get(index);
    if (!other || total(failuresBefore(other)) < total(failuresBefore(pod))) newest.set(index, pod);
  }
  return newest;
}

function total({ counted, ignored }: IndexFailures): number {
  return counted + ignored;
}
