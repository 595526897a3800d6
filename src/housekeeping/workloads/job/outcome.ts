import type { Job, Pod } from '../../../api/index.ts';
import { type Condition, parseRfc3339 } from '../../../machinery/index.ts';
import { endOf, isFailedPod } from './job-pod.ts';
import { metSuccessRule } from './success-policy.ts';
import type { JobTally } from './tally.ts';

/** Outcome of a Job, decided before its last Pods are gone. */
export interface JobOutcome {
  readonly isSuccess: boolean;
  readonly reason: string;
  readonly message: string;
}

const firstPauseMs = 10_000;
const longestPauseMs = 10 * 60_000;

export function isConditionTrue(job: Job, type: string): boolean {
  return job.status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
}

export function isFinishedJob(job: Job): boolean {
  return isConditionTrue(job, 'Complete') || isConditionTrue(job, 'Failed');
}

/** Decides whether and why a Job is finished. A recorded decision is final. */
export function outcomeOf(job: Job, tally: JobTally, now: number): JobOutcome | undefined {
  const decided = job.status?.conditions?.find(
    ({ type, status }) => status === 'True' && (type === 'FailureTarget' || type === 'SuccessCriteriaMet'),
  );
  if (decided) return fromCondition(decided);
  const fail = (reason: string, message: string): JobOutcome => ({ isSuccess: false, reason, message });
  if (tally.verdict !== undefined) return fail('PodFailurePolicy', tally.verdict);
  const limit = job.spec.backoffLimit ?? 6;
  if (tally.failed > limit || isRestartedTooOften(job, tally.active, limit)) {
    return fail('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  }
  if (deadlineIn(job, now) === 0) return fail('DeadlineExceeded', 'Job was active longer than specified deadline');
  const failedIndexes = tally.failedIndexes?.failed.size ?? 0;
  if (failedIndexes > (job.spec.maxFailedIndexes ?? Number.POSITIVE_INFINITY)) {
    return fail('MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes');
  }
  if (failedIndexes > 0 && failedIndexes + tally.completedIndexes.size >= (job.spec.completions ?? 0)) {
    return fail('FailedIndexes', 'Job has failed indexes');
  }
  const met = metSuccessRule(job, tally.completedIndexes);
  if (met !== undefined) return { isSuccess: true, reason: 'SuccessPolicy', message: met };
  const { completions } = job.spec;
  const isComplete =
    completions === undefined ? tally.succeeded > 0 && tally.active.length === 0 : tally.succeeded >= completions;
  return isComplete
    ? { isSuccess: true, reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' }
    : undefined;
}

function fromCondition({ type, reason = '', message = '' }: Condition): JobOutcome {
  return { isSuccess: type === 'SuccessCriteriaMet', reason, message };
}

/** Pods with restartPolicy OnFailure never fail by themselves, so their container restarts count. */
function isRestartedTooOften(job: Job, active: readonly Pod[], limit: number): boolean {
  if (job.spec.template?.spec?.restartPolicy !== 'OnFailure') return false;
  let restarts = 0;
  for (const { status } of active) {
    for (const { restartCount } of status?.initContainerStatuses ?? []) restarts += restartCount;
    for (const { restartCount } of status?.containerStatuses ?? []) restarts += restartCount;
  }
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

/** Milliseconds until activeDeadlineSeconds is exceeded; undefined without a deadline. */
export function deadlineIn(job: Job, now: number): number | undefined {
  const { activeDeadlineSeconds, suspend } = job.spec;
  const start = parseRfc3339(job.status?.startTime ?? '');
  if (activeDeadlineSeconds === undefined || start === undefined || suspend) return undefined;
  return Math.max(0, start + activeDeadlineSeconds * 1_000 - now);
}

/** Number of Pods that should be active now. */
export function wantedActive(job: Job, tally: JobTally): number {
  const { completions, parallelism = 1, suspend } = job.spec;
  if (suspend) return 0;
  if (completions === undefined) return tally.succeeded > 0 ? Math.min(tally.active.length, parallelism) : parallelism;
  const failedIndexes = tally.failedIndexes?.failed.size ?? 0;
  return Math.min(parallelism, Math.max(0, completions - tally.succeeded - failedIndexes));
}

/** Backoff before the next Pod after failures. */
export function pauseMs(job: Job, tally: JobTally, pods: readonly Pod[], now: number): number {
  if (tally.failed === 0 || tally.failedIndexes) return 0;
  let last = 0;
  for (const pod of pods) if (isFailedPod(job, pod)) last = Math.max(last, endOf(pod) ?? 0);
  return restOfPause(tally.failed, last, now);
}

/** Backoff before the next Pod of a failed index. */
export function indexPauseMs(tally: JobTally, index: number, now: number): number {
  const failures = tally.failedIndexes?.failures.get(index);
  return failures ? restOfPause(failures.counted + failures.ignored, failures.lastAt, now) : 0;
}

function restOfPause(failures: number, last: number, now: number): number {
  const pause = Math.min(firstPauseMs * 2 ** Math.min(failures - 1, 16), longestPauseMs);
  return Math.max(0, last + pause - now);
}
