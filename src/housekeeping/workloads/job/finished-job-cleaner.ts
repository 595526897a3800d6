import { type Job, Jobs } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { ignoreNotFound, isConflict, must, parseRfc3339 } from '../../../machinery/index.ts';
import { after, type ControllerDefinition, defineController, done, watchObjects } from '../../../runtime/index.ts';
import { isFinishedJob } from './outcome.ts';

/** Deletes finished Jobs after `ttlSecondsAfterFinished`. */
export function finishedJobCleaner(): ControllerDefinition {
  return defineController({
    name: 'ttl-after-finished-controller',
    for: Jobs,
    watches: [watchObjects(Jobs, { predicates: [({ type, object }) => type !== 'delete' && isPerishable(object)] })],
    async reconcile({ client, cache, clock }, key) {
      const job = cache.lister(Jobs).get(key);
      if (!job || !isPerishable(job)) return done();
      const restMs =
        finishedAt(job, clock.now()) +
        must(job.spec.ttlSecondsAfterFinished, 'job.spec.ttlSecondsAfterFinished') * 1_000 -
        clock.now();
      if (restMs > 0) return after(restMs, 'a finished Job to be removed');
      const { uid, resourceVersion } = job.metadata;
      // If the TTL was extended in the meantime, the precondition fails and the event enqueues the Job again.
      await client
        .delete(Jobs, objectKey(job), {
          propagationPolicy: 'Foreground',
          preconditions: { uid: must(uid, 'uid'), resourceVersion: must(resourceVersion, 'resourceVersion') },
        })
        .catch((error: unknown) => (isConflict(error) ? undefined : ignoreNotFound(error)));
      return done();
    },
  });
}

function isPerishable(job: Job): boolean {
  return (
    job.spec.ttlSecondsAfterFinished !== undefined && job.metadata.deletionTimestamp === undefined && isFinishedJob(job)
  );
}

function finishedAt({ status }: Job, now: number): number {
  const condition = status?.conditions?.find(
    ({ type, status }) => status === 'True' && (type === 'Complete' || type === 'Failed'),
  );
  return parseRfc3339(condition?.lastTransitionTime ?? '') ?? now;
}
