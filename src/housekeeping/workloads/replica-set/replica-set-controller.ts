import { type Pod, Pods, type ReplicaSet, ReplicaSets } from '../../../api/index.ts';
import type { Lister } from '../../../client/index.ts';
import { errorMessage, type KubeObject, labelSelectorFromObject, type Resource } from '../../../machinery/index.ts';
import {
  after,
  type ControllerDefinition,
  defineController,
  done,
  type ReconcileContext,
  watchObjects,
  watchOwned,
} from '../../../runtime/index.ts';
import { createPods, deletePods, type PodFailure } from '../common/make-pods.ts';
import { claimObjects, indexByController, watchOrphans } from '../common/ownership.ts';
import { isActive, isAvailable, isPodReady, isTerminating, nextAvailableIn, podFromTemplate } from '../common/pods.ts';
import { count, dropCondition, setCondition, writeStatus } from '../common/status.ts';
import { surplusPods } from './surplus.ts';

/** Keeps as many Pods as a ReplicaSet wishes. */
export function replicaSetController(): ControllerDefinition {
  let sets: Lister<ReplicaSet> | undefined;
  let pods: Lister<Pod> | undefined;
  return defineController({
    name: 'replicaset-controller',
    for: ReplicaSets as Resource<KubeObject>,
    watches: [watchObjects(ReplicaSets), watchOwned(Pods, ReplicaSets), watchOrphans(Pods, () => sets, selects)],
    setup(cache) {
      sets = cache.informer(ReplicaSets).lister;
      pods = indexByController(cache, Pods);
    },
    async reconcile(context, key) {
      const set = sets!.get(key);
      if (!set) return done();
      const claimed = await claimObjects({
        client: context.client,
        resource: Pods,
        lister: pods!,
        owner: set,
        selects: (pod) => selects(set, pod),
      });
      const active = claimed.filter(isActive);
      const surplus = isTerminating(set) ? 0 : active.length - (set.spec.replicas ?? 1);
      const failure = surplus === 0 ? undefined : await arrange(context, set, active, surplus);
      // What was made or removed comes back as an event, and is counted then.
      if (surplus !== 0 && !failure) return done();
      const now = context.clock.now();
      await writeStatus(context.client, ReplicaSets, set, statusOf(set, active, failure, now));
      if (failure) throw failure.error;
      const nextMs = nextAvailableIn(active, set.spec.minReadySeconds, now);
      return nextMs === undefined ? done() : after(nextMs, 'a Pod that must stay ready for a while');
    },
  });
}

function selects(set: ReplicaSet, { metadata }: Pod): boolean {
  return labelSelectorFromObject(set.spec.selector).matches(metadata.labels ?? {});
}

async function arrange(
  context: ReconcileContext,
  set: ReplicaSet,
  active: readonly Pod[],
  surplus: number,
): Promise<PodFailure | undefined> {
  if (surplus > 0) return await deletePods(context, set, surplusPods(active, active.length - surplus));
  const missing = Array.from({ length: -surplus }, () =>
    podFromTemplate(set, set.spec.template ?? {}, { generateName: `${set.metadata.name}-` }),
  );
  return await createPods(context, set, missing);
}

function statusOf(
  set: ReplicaSet,
  active: readonly Pod[],
  failure: PodFailure | undefined,
  now: number,
): NonNullable<ReplicaSet['status']> {
  const templateLabels = labelSelectorFromObject({ matchLabels: set.spec.template?.metadata?.labels ?? {} });
  let labelled = 0;
  let ready = 0;
  let available = 0;
  for (const pod of active) {
    if (templateLabels.matches(pod.metadata.labels ?? {})) labelled++;
    if (isPodReady(pod)) ready++;
    if (isAvailable(pod, set.spec.minReadySeconds, now)) available++;
  }
  const before = set.status?.conditions ?? [];
  const conditions = failure
    ? setCondition(
        before,
        { type: 'ReplicaFailure', status: 'True', reason: failure.reason, message: errorMessage(failure.error) },
        now,
      )
    : dropCondition(before, 'ReplicaFailure');
  return {
    replicas: active.length,
    ...count('fullyLabeledReplicas', labelled),
    ...count('readyReplicas', ready),
    ...count('availableReplicas', available),
    observedGeneration: set.metadata.generation ?? 1,
    ...(conditions.length > 0 && { conditions: [...conditions] }),
  };
}
