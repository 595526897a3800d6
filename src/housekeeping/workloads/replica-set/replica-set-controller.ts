import {
  type Pod,
  Pods,
  type PodTemplateSpec,
  type ReplicaSet,
  ReplicaSets,
  type ReplicationController,
  ReplicationControllers,
} from '../../../api/index.ts';
import type { Lister } from '../../../client/index.ts';
import {
  type Condition,
  errorMessage,
  type KubeObject,
  labelSelectorFromObject,
  must,
  type Resource,
  withConditionLast,
  withoutCondition,
} from '../../../machinery/index.ts';
import {
  after,
  type ControllerDefinition,
  defineController,
  done,
  type ReconcileContext,
  watchObjects,
  watchOwned,
} from '../../../runtime/index.ts';
import {
  createPods,
  deletePods,
  maxWaitingPods,
  type PodFailure,
  podsPerRound,
  podsToMake,
} from '../common/make-pods.ts';
import { claimObjects, indexByController, watchOrphans } from '../common/ownership.ts';
import { hasLabels } from '../common/pod-index.ts';
import { isActive, isAvailable, isPodReady, isTerminating, nextAvailableIn, podFromTemplate } from '../common/pods.ts';
import { count, writeStatus } from '../common/status.ts';
import { surplusPods } from './surplus.ts';

/** Fields shared by ReplicaSets and ReplicationControllers. */
interface Replicas extends KubeObject {
  spec: { replicas?: number; minReadySeconds?: number; template?: PodTemplateSpec };
  status?: NonNullable<ReplicaSet['status']>;
}

/** Maintains the Pods of ReplicaSets. */
export function replicaSetController(): ControllerDefinition {
  return replicasController('replicaset-controller', ReplicaSets, ({ spec }, labels) =>
    labelSelectorFromObject(spec.selector).matches(labels),
  );
}

/** Maintains the Pods of ReplicationControllers, the predecessor of ReplicaSets. */
export function replicationController(): ControllerDefinition {
  return replicasController<ReplicationController>(
    'replication-controller',
    ReplicationControllers,
    ({ spec }, labels) => hasLabels(labels, spec.selector ?? {}),
  );
}

function replicasController<T extends Replicas>(
  name: string,
  resource: Resource<T>,
  hasSelected: (set: T, labels: Readonly<Record<string, string>>) => boolean,
): ControllerDefinition {
  let sets: Lister<T> | undefined;
  let pods: Lister<Pod> | undefined;
  const selects = (set: T, { metadata }: Pod): boolean => hasSelected(set, metadata.labels ?? {});
  return defineController({
    name,
    for: resource,
    watches: [watchObjects(resource), watchOwned(Pods, resource), watchOrphans(Pods, () => sets, selects)],
    setup(cache) {
      sets = cache.informer(resource).lister;
      pods = indexByController(cache, Pods);
    },
    async reconcile(context, key) {
      const set = must(sets, 'sets').get(key);
      if (!set) return done();
      const claimed = await claimObjects({
        client: context.client,
        resource: Pods,
        lister: must(pods, 'pods'),
        owner: set,
        selects: (pod) => selects(set, pod),
      });
      const active = claimed.filter(isActive);
      const missing = isTerminating(set) ? 0 : (set.spec.replicas ?? 1) - active.length;
      const failure = missing === 0 ? undefined : await arrange(context, set, active, missing);
      // Created and deleted Pods cause an event, and the next reconcile counts them. When many rounds are needed, the
      // status is updated in between.
      if (missing !== 0 && !failure && Math.abs(missing) < podsPerRound) return done();
      const now = context.clock.now();
      await writeStatus(context.client, resource, set, statusOf(set, active, failure, now) as NonNullable<T['status']>);
      if (failure?.error !== undefined) throw failure.error;
      const nextMs = nextAvailableIn(active, set.spec.minReadySeconds, now);
      return nextMs === undefined ? done() : after(nextMs, 'a Pod that must stay ready for a while');
    },
  });
}

/** Creates or deletes the Pods of one round. */
async function arrange(
  context: ReconcileContext,
  set: Replicas,
  active: readonly Pod[],
  missing: number,
): Promise<Failure | undefined> {
  if (missing < 0) {
    return await deletePods(context, set, surplusPods(active, active.length + missing).slice(0, podsPerRound));
  }
  const amount = podsToMake(missing, active);
  if (amount === 0) return tooManyWait;
  return await createPods(context, set, newPods(set, amount));
}

function* newPods(set: Replicas, amount: number): Generator<Pod> {
  for (let made = 0; made < amount; made++) {
    yield podFromTemplate(set, set.spec.template ?? {}, { generateName: `${set.metadata.name}-` });
  }
}

/** Reason why Pods are missing. Without an error no retry is needed, because events enqueue the owner. */
type Failure = PodFailure | typeof tooManyWait;

const tooManyWait = {
  reason: 'TooManyPodsWaiting',
  message: `${maxWaitingPods} pods wait for a node; more are created when these are scheduled`,
  error: undefined,
} as const;

function statusOf(
  set: Replicas,
  active: readonly Pod[],
  failure: Failure | undefined,
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
  const conditions = failure ? withFailure(before, failure, now) : withoutCondition(before, 'ReplicaFailure');
  return {
    replicas: active.length,
    ...count('fullyLabeledReplicas', labelled),
    ...count('readyReplicas', ready),
    ...count('availableReplicas', available),
    observedGeneration: set.metadata.generation ?? 1,
    ...(conditions.length > 0 && { conditions: [...conditions] }),
  };
}

/** Messages name the failed Pod, a new one each time. Only a changed reason is worth a status write. */
function withFailure(before: readonly Condition[], failure: Failure, now: number): readonly Condition[] {
  const known = before.find(({ type }) => type === 'ReplicaFailure');
  if (known?.status === 'True' && known.reason === failure.reason) return before;
  const message = 'message' in failure ? failure.message : errorMessage(failure.error);
  return withConditionLast(before, { type: 'ReplicaFailure', status: 'True', reason: failure.reason, message }, now);
}
