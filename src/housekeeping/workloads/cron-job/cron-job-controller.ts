import { type CronJob, CronJobs, type Job, Jobs } from '../../../api/index.ts';
import { type Lister, objectKey } from '../../../client/index.ts';
import {
  errorMessage,
  formatTime,
  ignoreNotFound,
  isAlreadyExists,
  must,
  parseRfc3339,
  parseSchedule,
  type Schedule,
} from '../../../machinery/index.ts';
import {
  after,
  type ControllerDefinition,
  defineController,
  done,
  type ReconcileContext,
  type Result,
  watchObjects,
  watchOwned,
} from '../../../runtime/index.ts';
import { isNamespaceTerminating } from '../common/make-pods.ts';
import { fieldManager } from '../common/names.ts';
import { controlledBy, controllerOf, controllerReference, indexByController } from '../common/ownership.ts';
import { writeStatus } from '../common/status.ts';
import { isConditionTrue, isFinishedJob } from '../job/outcome.ts';

const scheduledAnnotation = 'batch.kubernetes.io/cronjob-scheduled-timestamp';
/** setTimeout supports less than 25 days */
const longestWaitMs = 20 * 86_400_000;

type Status = NonNullable<CronJob['status']>;

/** Creates a Job each time a CronJob is due. */
export function cronJobController(): ControllerDefinition {
  let cronJobs: Lister<CronJob> | undefined;
  let jobs: Lister<Job> | undefined;
  return defineController({
    name: 'cronjob-controller',
    for: CronJobs,
    watches: [watchObjects(CronJobs), watchOwned(Jobs, CronJobs)],
    setup(cache) {
      cronJobs = cache.informer(CronJobs).lister;
      jobs = indexByController(cache, Jobs);
    },
    async reconcile(context, key) {
      const cronJob = must(cronJobs, 'cronJobs').get(key);
      if (!cronJob) return done();
      const { client } = context;
      const owned = controlledBy(must(jobs, 'jobs'), cronJob);
      const status = observe(context, cronJob, owned);
      await pruneHistory(context, cronJob, owned);
      const result = await start(context, cronJob, owned, status);
      await writeStatus(client, CronJobs, cronJob, status);
      return result;
    },
  });
}

/** Builds the status: active Jobs and the time of the last success. */
function observe({ events }: ReconcileContext, cronJob: CronJob, owned: readonly Job[]): Status {
  const before = cronJob.status ?? {};
  const running = new Map(
    owned.filter((job) => !isFinishedJob(job)).map((job) => [must(job.metadata.uid, 'job.metadata.uid'), job]),
  );
  let lastSuccess = before.lastSuccessfulTime;
  for (const job of owned) {
    const completion = job.status?.completionTime;
    if (completion !== undefined && (lastSuccess === undefined || completion > lastSuccess)) lastSuccess = completion;
  }
  for (const { uid, name } of before.active ?? []) {
    if (running.has(uid ?? '')) continue;
    const ended = owned.find(({ metadata }) => metadata.uid === uid);
    if (!ended) events.event(cronJob, 'Normal', 'MissingJob', `Active job went missing: ${name}`);
    else {
      const how = isConditionTrue(ended, 'Complete') ? 'Complete' : 'Failed';
      events.event(cronJob, 'Normal', 'SawCompletedJob', `Saw completed job: ${name}, condition: ${how}`);
    }
  }
  const known = (before.active ?? []).filter(({ uid }) => running.delete(uid ?? ''));
  const active = [...known, ...[...running.values()].map(referenceTo)];
  return {
    ...(active.length > 0 && { active }),
    ...(before.lastScheduleTime !== undefined && { lastScheduleTime: before.lastScheduleTime }),
    ...(lastSuccess !== undefined && { lastSuccessfulTime: lastSuccess }),
  };
}

function referenceTo({ metadata }: Job): NonNullable<Status['active']>[number] {
  const { namespace, name, uid, resourceVersion } = metadata;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    namespace: must(namespace, 'namespace'),
    name: must(name, 'name'),
    uid: must(uid, 'uid'),
    resourceVersion: must(resourceVersion, 'resourceVersion'),
  };
}

/** Keeps only the newest few successful and failed Jobs. */
async function pruneHistory(context: ReconcileContext, cronJob: CronJob, owned: readonly Job[]): Promise<void> {
  const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = cronJob.spec;
  const finished = owned.filter((job) => isFinishedJob(job) && job.metadata.deletionTimestamp === undefined);
  const good = finished.filter((job) => isConditionTrue(job, 'Complete'));
  const bad = finished.filter((job) => !isConditionTrue(job, 'Complete'));
  await removeOldest(context, cronJob, good, successfulJobsHistoryLimit ?? 3);
  await removeOldest(context, cronJob, bad, failedJobsHistoryLimit ?? 1);
}

async function removeOldest(
  context: ReconcileContext,
  cronJob: CronJob,
  jobs: readonly Job[],
  limit: number,
): Promise<void> {
  if (jobs.length <= limit) return;
  const startOf = ({ metadata, status }: Job): string => status?.startTime ?? metadata.creationTimestamp ?? '';
  const byAge = [...jobs].sort((a, b) => (startOf(a) < startOf(b) ? -1 : 1));
  for (const job of byAge.slice(0, jobs.length - limit)) await removeJob(context, cronJob, job);
}

async function removeJob({ client, events }: ReconcileContext, cronJob: CronJob, job: Job): Promise<void> {
  await client.delete(Jobs, objectKey(job), { propagationPolicy: 'Background' }).catch(ignoreNotFound);
  events.event(cronJob, 'Normal', 'SuccessfulDelete', `Deleted job ${job.metadata.name}`);
}

/** Creates the Job that is due, if any, updates the status and requeues for the next due time. */
async function start(
  context: ReconcileContext,
  cronJob: CronJob,
  owned: readonly Job[],
  status: Status,
): Promise<Result> {
  const { spec, metadata } = cronJob;
  if (metadata.deletionTimestamp !== undefined || spec.suspend) return done();
  const { events, clock } = context;
  const schedule = parseSchedule(spec.schedule ?? '', spec.timeZone);
  if (typeof schedule === 'string') {
    events.event(cronJob, 'Warning', 'UnparseableSchedule', `unparseable schedule "${spec.schedule}": ${schedule}`);
    return done();
  }
  const now = clock.now();
  const due = dueTime(cronJob, schedule, now);
  const next = untilNext(schedule, now);
  if (due === undefined || status.lastScheduleTime === formatTime(due)) return next;
  const deadline = spec.startingDeadlineSeconds;
  if (deadline !== undefined && due + deadline * 1_000 < now) {
    events.event(cronJob, 'Warning', 'MissSchedule', `Missed scheduled time to start a job: ${formatTime(due)}`);
    return next;
  }
  const active = status.active ?? [];
  if (active.length > 0 && spec.concurrencyPolicy === 'Forbid') {
    const message = 'Not starting job because prior execution is running and concurrency policy is Forbid';
    events.event(cronJob, 'Normal', 'JobAlreadyActive', message);
    return next;
  }
  if (spec.concurrencyPolicy === 'Replace') {
    for (const { uid } of active) {
      const job = owned.find((one) => one.metadata.uid === uid);
      if (job) await removeJob(context, cronJob, job);
    }
    delete status.active;
  }
  const made = await createJob(context, cronJob, due);
  if (made) {
    status.active = [...(status.active ?? []), referenceTo(made)];
    status.lastScheduleTime = formatTime(due);
  }
  return next;
}

/** Returns the latest due time since the last start. Earlier missed times are skipped. */
function dueTime({ metadata, spec, status }: CronJob, schedule: Schedule, now: number): number | undefined {
  const last = parseRfc3339(status?.lastScheduleTime ?? '') ?? parseRfc3339(metadata.creationTimestamp ?? '') ?? now;
  const { startingDeadlineSeconds } = spec;
  const from = startingDeadlineSeconds === undefined ? last : Math.max(last, now - startingDeadlineSeconds * 1_000);
  return schedule.latest(from, now);
}

function untilNext(schedule: Schedule, now: number): Result {
  const next = schedule.next(now);
  return next === undefined ? done() : after(Math.min(next - now, longestWaitMs), 'the next time it is due');
}

/** Returns undefined if the namespace is terminating. */
async function createJob(context: ReconcileContext, cronJob: CronJob, due: number): Promise<Job | undefined> {
  const { client, events } = context;
  const { metadata: meta, spec } = cronJob.spec.jobTemplate ?? {};
  const job: Job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: `${cronJob.metadata.name}-${Math.floor(due / 60_000)}`,
      namespace: must(cronJob.metadata.namespace, 'cronJob.metadata.namespace'),
      ...(meta?.labels && { labels: meta.labels }),
      annotations: { ...meta?.annotations, [scheduledAnnotation]: formatTime(due) },
      ownerReferences: [controllerReference(cronJob)],
    },
    spec: spec ?? {},
  };
  try {
    const made = await client.create(Jobs, job, { fieldManager });
    events.event(cronJob, 'Normal', 'SuccessfulCreate', `Created job ${made.metadata.name}`);
    return made;
  } catch (error) {
    if (isNamespaceTerminating(error)) return undefined;
    if (isAlreadyExists(error)) {
      // The Job was created before a crash prevented the status write.
      const taken = await client.get(Jobs, objectKey(job));
      if (controllerOf(taken)?.uid === cronJob.metadata.uid) return taken;
    }
    events.event(cronJob, 'Warning', 'FailedCreate', `Error creating job: ${errorMessage(error)}`);
    throw error;
  }
}
