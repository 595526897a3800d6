import {
  type Deployment,
  Deployments,
  type Pod,
  type PodDisruptionBudget,
  PodDisruptionBudgets,
  Pods,
  type ReplicaSet,
  ReplicaSets,
  type StatefulSet,
  StatefulSets,
} from '../../../api/index.ts';
import { type Lister, type ObjectKey, objectKey, withOptimisticLock } from '../../../client/index.ts';
import {
  createMergePatch,
  deepEqual,
  ignoreNotFound,
  type JsonObject,
  type KubeObject,
  labelSelectorFromObject,
  must,
  parseRfc3339,
  percentOf,
  scaledValue,
  withConditionLast,
} from '../../../machinery/index.ts';
import {
  after,
  type ControllerDefinition,
  defineController,
  done,
  type ObjectEvent,
  watchMapped,
  watchObjects,
} from '../../../runtime/index.ts';
import { fieldManager } from '../common/names.ts';
import { controllerOf } from '../common/ownership.ts';
import { indexPodsByLabel, podsWithLabels } from '../common/pod-index.ts';
import { isFinished, isPodReady, isTerminating } from '../common/pods.ts';
import { indexBySelector, selecting } from '../common/selector-index.ts';

/** maximum time between an allowed eviction and the deletion of the Pod */
const evictionPatienceMs = 2 * 60_000;

type Status = NonNullable<PodDisruptionBudget['status']>;

/** Listers for the desired number of Pods. */
interface Scales {
  readonly deployments: Lister<Deployment>;
  readonly replicaSets: Lister<ReplicaSet>;
  readonly statefulSets: Lister<StatefulSet>;
}

/** Computes how many Pods may be evicted now. The eviction API enforces it. */
export function disruptionBudgetController(): ControllerDefinition {
  let budgets: Lister<PodDisruptionBudget> | undefined;
  let pods: Lister<Pod> | undefined;
  let scales: Scales | undefined;
  const budgetsOf = ({ metadata: { namespace, labels } }: Pod): ObjectKey[] =>
    namespace === undefined || !budgets
      ? []
      : selecting(budgets, namespace, labels)
          .filter(({ spec }) => labelSelectorFromObject(spec?.selector).matches(labels ?? {}))
          .map(objectKey);
  return defineController({
    name: 'disruption-controller',
    for: PodDisruptionBudgets,
    watches: [
      watchObjects(PodDisruptionBudgets),
      watchMapped(Pods, budgetsOf, { predicates: [isAboutHealth] }),
      ...[Deployments, ReplicaSets, StatefulSets].map((resource) =>
        watchMapped(resource, (owner) => budgetsIn(budgets, owner), {
          predicates: [isAboutScale],
        }),
      ),
    ],
    setup(cache) {
      budgets = indexBySelector(cache.informer(PodDisruptionBudgets), ({ spec }) => spec?.selector?.matchLabels ?? {});
      pods = indexPodsByLabel(cache);
      scales = {
        deployments: cache.informer(Deployments).lister,
        replicaSets: cache.informer(ReplicaSets).lister,
        statefulSets: cache.informer(StatefulSets).lister,
      };
    },
    async reconcile({ client, clock }, key) {
      const budget = must(budgets, 'budgets').get(key);
      if (!budget || isTerminating(budget)) return done();
      const now = clock.now();
      const { status, recheckMs } = statusOf(
        budget,
        selectedPods(must(pods, 'pods'), budget),
        must(scales, 'scales'),
        now,
      );
      const patch = createMergePatch((budget.status ?? {}) as JsonObject, status as JsonObject);
      if (patch) {
        // The lock preserves evictions that were allowed in the meantime.
        const locked = withOptimisticLock({ status: patch }, budget);
        const options = { fieldManager, subresource: 'status' };
        await client.patch(PodDisruptionBudgets, key, 'merge', locked, options).catch(ignoreNotFound);
      }
      return recheckMs === undefined ? done() : after(recheckMs, 'an eviction that must begin');
    },
  });
}

function isAboutHealth(event: ObjectEvent<Pod>): boolean {
  if (event.type !== 'update') return true;
  const { old, object } = event;
  return (
    isPodReady(old) !== isPodReady(object) ||
    isTerminating(old) !== isTerminating(object) ||
    isFinished(old) !== isFinished(object) ||
    !deepEqual(old.metadata.labels, object.metadata.labels) ||
    controllerOf(old)?.uid !== controllerOf(object)?.uid
  );
}

function isAboutScale(event: ObjectEvent<KubeObject>): boolean {
  if (event.type !== 'update') return false;
  const replicas = (object: KubeObject): unknown => (object as { spec?: { replicas?: number } }).spec?.replicas;
  return replicas(event.old) !== replicas(event.object);
}

function budgetsIn(budgets: Lister<PodDisruptionBudget> | undefined, { metadata }: KubeObject): ObjectKey[] {
  const { namespace } = metadata;
  if (!budgets || namespace === undefined) return [];
  return budgets.list({ namespace }).map(objectKey);
}

function selectedPods(pods: Lister<Pod>, { metadata, spec }: PodDisruptionBudget): Pod[] {
  const selector = labelSelectorFromObject(spec?.selector);
  const candidates = podsWithLabels(
    pods,
    must(metadata.namespace, 'metadata.namespace'),
    spec?.selector?.matchLabels ?? {},
  );
  return candidates.filter((pod) => selector.matches(pod.metadata.labels ?? {}));
}

function statusOf(
  budget: PodDisruptionBudget,
  pods: readonly Pod[],
  scales: Scales,
  now: number,
): { readonly status: Status; readonly recheckMs: number | undefined } {
  const living = pods.filter((pod) => !isFinished(pod));
  const { expected, desired } = desiredOf(budget, living, scales);
  const { disrupted, recheckMs } = stillDisrupted(budget, living, now);
  const healthy = living.filter(
    (pod) => isPodReady(pod) && !isTerminating(pod) && !(must(pod.metadata.name, 'pod.metadata.name') in disrupted),
  ).length;
  const allowed = expected === 0 ? 0 : Math.max(0, healthy - desired);
  const generation = budget.metadata.generation ?? 1;
  const reason = allowed > 0 ? 'SufficientPods' : 'InsufficientPods';
  const condition = {
    type: 'DisruptionAllowed',
    status: allowed > 0 ? 'True' : 'False',
    reason,
    message: '',
    observedGeneration: generation,
  } as const;
  const before = budget.status?.conditions ?? [];
  const known = before.find(({ type }) => type === condition.type);
  const conditions =
    known?.observedGeneration === generation
      ? withConditionLast(before, condition, now)
      : withConditionLast(
          before.filter(({ type }) => type !== condition.type),
          condition,
          now,
        );
  return {
    recheckMs,
    status: {
      observedGeneration: generation,
      ...(Object.keys(disrupted).length > 0 && { disruptedPods: disrupted }),
      disruptionsAllowed: allowed,
      currentHealthy: healthy,
      desiredHealthy: desired,
      expectedPods: expected,
      conditions: [...conditions],
    },
  };
}

/** Computes the expected number of Pods and how many of them must be healthy. */
function desiredOf(
  { spec }: PodDisruptionBudget,
  pods: readonly Pod[],
  scales: Scales,
): { readonly expected: number; readonly desired: number } {
  const { minAvailable, maxUnavailable } = spec ?? {};
  if (maxUnavailable !== undefined) {
    const expected = expectedCount(pods, scales);
    return { expected, desired: Math.max(0, expected - scaledValue(maxUnavailable, expected, 'up')) };
  }
  if (minAvailable === undefined) return { expected: pods.length, desired: 0 };
  if (percentOf(minAvailable) === undefined) return { expected: pods.length, desired: Number(minAvailable) };
  const expected = expectedCount(pods, scales);
  return { expected, desired: scaledValue(minAvailable, expected, 'up') };
}

/** Sums the replicas of the Pods' controllers. Pods without a controller count as themselves. */
function expectedCount(pods: readonly Pod[], scales: Scales): number {
  const specs = new Map<string, number>();
  let alone = 0;
  for (const pod of pods) {
    const scale = scaleOf(pod, scales);
    if (scale) specs.set(scale.uid, scale.replicas);
    else alone++;
  }
  for (const replicas of specs.values()) alone += replicas;
  return alone;
}

function scaleOf(pod: Pod, scales: Scales): { readonly uid: string; readonly replicas: number } | undefined {
  const namespace = must(pod.metadata.namespace, 'pod.metadata.namespace');
  const owner = controllerOf(pod);
  if (!owner) return undefined;
  const key = { namespace, name: owner.name };
  if (owner.kind === 'StatefulSet') return asScale(scales.statefulSets.get(key));
  if (owner.kind !== 'ReplicaSet') return undefined;
  const set = scales.replicaSets.get(key);
  const above = set && controllerOf(set);
  const deployment = above?.kind === 'Deployment' && scales.deployments.get({ namespace, name: above.name });
  return asScale(deployment || set);
}

function asScale(
  object: Deployment | ReplicaSet | StatefulSet | undefined,
): { readonly uid: string; readonly replicas: number } | undefined {
  return object && { uid: must(object.metadata.uid, 'object.metadata.uid'), replicas: object.spec.replicas ?? 1 };
}

/** Pods whose eviction was allowed but has not started. After the limit they count as healthy again. */
function stillDisrupted(
  { status }: PodDisruptionBudget,
  pods: readonly Pod[],
  now: number,
): { readonly disrupted: Record<string, string>; readonly recheckMs: number | undefined } {
  const disrupted: Record<string, string> = {};
  let recheckMs: number | undefined;
  for (const [name, time] of Object.entries(status?.disruptedPods ?? {})) {
    const pod = pods.find(({ metadata }) => metadata.name === name);
    const restMs = (parseRfc3339(time) ?? 0) + evictionPatienceMs - now;
    if (!pod || isTerminating(pod) || restMs <= 0) continue;
    disrupted[name] = time;
    if (recheckMs === undefined || restMs < recheckMs) recheckMs = restMs;
  }
  return { disrupted, recheckMs };
}
