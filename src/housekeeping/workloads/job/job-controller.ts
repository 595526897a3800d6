import { type Job, Jobs, type Pod, Pods } from '../../../api/index.ts';
import type { Lister } from '../../../client/index.ts';
import {
  type Condition,
  formatTime,
  labelSelectorFromObject,
  must,
  withConditionLast,
} from '../../../machinery/index.ts';
import {
  after,
  type ControllerDefinition,
  defineController,
  done,
  foreignReason,
  type ReconcileContext,
  type Result,
  soonest,
  watchObjects,
  watchOwned,
} from '../../../runtime/index.ts';
import { createPods, deletePods, podsPerRound, podsToMake } from '../common/make-pods.ts';
import { claimObjects, indexByController, watchOrphans } from '../common/ownership.ts';
import { writeStatus } from '../common/status.ts';
import { surplusPods } from '../replica-set/surplus.ts';
import { type IndexFailures, indexOf, isIndexed, jobPod, releasePods, trackingFinalizer } from './job-pod.ts';
import {
  deadlineIn,
  indexPauseMs,
  isConditionTrue,
  isFinishedJob,
  type JobOutcome,
  outcomeOf,
  pauseMs,
  wantedActive,
} from './outcome.ts';
import { type JobTally, talliedStatus, tallyPods } from './tally.ts';

const ownManager = 'kubernetes.io/job-controller';
type JobCondition = Condition & { lastProbeTime?: string };

const noFailures: IndexFailures = { counted: 0, ignored: 0 };

/** Runs the Pods of a Job until enough succeed or too many fail. */
export function jobController(): ControllerDefinition {
  let jobs: Lister<Job> | undefined;
  let pods: Lister<Pod> | undefined;
  return defineController({
    name: 'job-controller',
    for: Jobs,
    watches: [watchObjects(Jobs), watchOwned(Pods, Jobs), watchOrphans(Pods, () => jobs, selects)],
    setup(cache) {
      jobs = cache.informer(Jobs).lister;
      pods = indexByController(cache, Pods);
    },
    async reconcile(context, key) {
      const { client } = context;
      const job = must(jobs, 'jobs').get(key);
      // `lostJobPods` releases the Pods of a deleted Job.
      if (!job) return done();
      if ((job.spec.managedBy ?? ownManager) !== ownManager) return done();
      const owned = await claimObjects({
        client,
        resource: Pods,
        lister: must(pods, 'pods'),
        owner: job,
        selects: (pod) => selects(job, pod),
        finalizer: trackingFinalizer,
      });
      if (isFinishedJob(job) || job.metadata.deletionTimestamp !== undefined) {
        await releasePods(client, owned);
        return done();
      }
      return await advance(context, job, owned);
    },
  });
}

function selects(job: Job, { metadata }: Pod): boolean {
  return labelSelectorFromObject(job.spec.selector).matches(metadata.labels ?? {});
}

/** One step of an unfinished Job: counts finished Pods, then creates or deletes Pods. */
async function advance(context: ReconcileContext, job: Job, pods: readonly Pod[]): Promise<Result> {
  const { client, clock } = context;
  const now = clock.now();
  const tally = tallyPods(job, pods);
  const outcome = outcomeOf(job, tally, now);
  const isQuiet = tally.active.length === 0 && tally.terminating === 0;
  const heldPods = tally.failedIndexes?.held.size ?? 0;
  const isSettled = tally.uncounted.succeeded.length + tally.uncounted.failed.length + heldPods === 0;
  const isOver = outcome !== undefined && isQuiet && isSettled;
  await writeStatus(client, Jobs, job, statusOf(job, tally, { outcome, isOver, now }));
  await releasePods(client, tally.release);
  if (isOver) {
    if (outcome.isSuccess) context.events.event(job, 'Normal', 'Completed', 'Job completed');
    else context.events.event(job, 'Warning', foreignReason(outcome.reason), outcome.message);
    return done();
  }
  reportSuspension(context, job);
  const wait = outcome ? await stop(context, job, tally) : await keepRunning(context, job, tally, pods);
  const deadlineMs = deadlineIn(job, now);
  return soonest(wait, deadlineMs ? after(deadlineMs, 'the deadline of a Job') : done());
}

async function stop(context: ReconcileContext, job: Job, tally: JobTally): Promise<Result> {
  const failure = await deletePods(context, job, tally.active.slice(0, podsPerRound));
  if (failure) throw failure.error;
  return done();
}

async function keepRunning(
  context: ReconcileContext,
  job: Job,
  tally: JobTally,
  pods: readonly Pod[],
): Promise<Result> {
  const wanted = wantedActive(job, tally);
  const missing = wanted - tally.active.length;
  if (missing < 0) {
    const surplus = surplusPods(tally.active, wanted).slice(0, podsPerRound);
    // The finalizer is removed before the deletion, so that surplus Pods do not count as failed.
    await releasePods(context.client, surplus);
    const failure = await deletePods(context, job, surplus);
    if (failure) throw failure.error;
    return done();
  }
  const leaving = job.spec.podReplacementPolicy === 'Failed' ? tally.terminating : 0;
  const amount = podsToMake(missing - leaving, tally.active);
  if (amount <= 0) return done();
  const restMs = pauseMs(job, tally, pods, context.clock.now());
  if (restMs > 0) return after(restMs, 'a pause after Pods that failed');
  const waits: number[] = [];
  const failure = await createPods(context, job, newPods(job, tally, { amount, now: context.clock.now(), waits }));
  if (failure) throw failure.error;
  return waits.length > 0 ? after(Math.min(...waits), 'a pause after Pods that failed') : done();
}

/** Yields the next Pods of a Job. The backoff of indexes that must wait is added to `waits`. */
function* newPods(
  job: Job,
  tally: JobTally,
  { amount, now, waits }: { amount: number; now: number; waits: number[] },
): Generator<Pod> {
  if (!isIndexed(job)) {
    for (let made = 0; made < amount; made++) yield jobPod(job, undefined);
    return;
  }
  const taken = new Set(tally.active.map(indexOf));
  const completions = job.spec.completions ?? 0;
  let made = 0;
  for (let index = 0; made < amount; index++) {
    index = tally.completedIndexes.firstOutside(index);
    if (index >= completions) return;
    if (taken.has(index) || tally.failedIndexes?.failed.has(index)) continue;
    made++;
    const waitMs = indexPauseMs(tally, index, now);
    if (waitMs > 0) waits.push(waitMs);
    else yield jobPod(job, index, tally.failedIndexes && (tally.failedIndexes.failures.get(index) ?? noFailures));
  }
}

function statusOf(
  job: Job,
  tally: JobTally,
  { outcome, isOver, now }: { outcome: JobOutcome | undefined; isOver: boolean; now: number },
): NonNullable<Job['status']> {
  const before = job.status ?? {};
  let conditions: readonly JobCondition[] = before.conditions ?? [];
  const say = (type: string, status: 'True' | 'False', reason: string, message: string): void => {
    conditions = withConditionLast(conditions, { type, status, reason, message, lastProbeTime: formatTime(now) }, now);
  };
  if (outcome) {
    const { isSuccess, reason, message } = outcome;
    say(isSuccess ? 'SuccessCriteriaMet' : 'FailureTarget', 'True', reason, message);
    if (isOver) say(isSuccess ? 'Complete' : 'Failed', 'True', reason, message);
  } else if (job.spec.suspend) say('Suspended', 'True', 'JobSuspended', 'Job suspended');
  else if (isConditionTrue(job, 'Suspended')) say('Suspended', 'False', 'JobResumed', 'Job resumed');
  // The deadline restarts when a suspended Job is resumed.
  const startTime = job.spec.suspend && !outcome ? undefined : (before.startTime ?? formatTime(now));
  return {
    ...talliedStatus(job, tally),
    ...(startTime !== undefined && { startTime }),
    ...(isOver && outcome?.isSuccess && { completionTime: formatTime(now) }),
    ...(conditions.length > 0 && { conditions: [...conditions] }),
  };
}

function reportSuspension({ events }: ReconcileContext, job: Job): void {
  const wasSuspended = isConditionTrue(job, 'Suspended');
  if (wasSuspended === (job.spec.suspend ?? false)) return;
  if (wasSuspended) events.event(job, 'Normal', 'Resumed', 'Job resumed');
  else events.event(job, 'Normal', 'Suspended', 'Job suspended');
}
