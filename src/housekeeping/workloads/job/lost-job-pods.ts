import { type Job, Jobs, type Pod, Pods } from '../../../api/index.ts';
import { type Lister, objectKey } from '../../../client/index.ts';
import { must } from '../../../machinery/index.ts';
import {
  type ControllerDefinition,
  defineController,
  done,
  watchMapped,
  watchObjects,
} from '../../../runtime/index.ts';
import { controlledBy, controllerOf, indexByController } from '../common/ownership.ts';
import { isTracked, releasePods } from './job-pod.ts';

/**
 * Removes the Job finalizer from Pods that no Job counts any more, because their Job is gone or no longer owns them.
 * Otherwise the Pods and their namespace could never be deleted.
 */
export function lostJobPods(): ControllerDefinition {
  let jobs: Lister<Job> | undefined;
  let pods: Lister<Pod> | undefined;
  return defineController({
    name: 'job-orphan-controller',
    for: Pods,
    watches: [
      watchObjects(Pods, { predicates: [({ object }) => isTracked(object)] }),
      watchMapped(Jobs, (job) => (pods ? controlledBy(pods, job) : []).map(objectKey), {
        predicates: [({ type }) => type === 'delete'],
      }),
    ],
    setup(cache) {
      jobs = cache.informer(Jobs).lister;
      pods = indexByController(cache, Pods);
    },
    async reconcile({ client }, key) {
      const pod = must(pods, 'pods').get(key);
      if (!pod || !isTracked(pod)) return done();
      const owner = controllerOf(pod);
      const job =
        owner?.kind === Jobs.kind &&
        must(jobs, 'jobs').get({ namespace: must(key.namespace, 'key.namespace'), name: owner.name });
      if (!job || job.metadata.uid !== owner?.uid) await releasePods(client, [pod]);
      return done();
    },
  });
}
