import {
  type ControllerRevision,
  ControllerRevisions,
  type DaemonSet,
  DaemonSets,
  type Node,
  Nodes,
  type Pod,
  Pods,
} from '../../../api/index.ts';
import { type Lister, objectKey } from '../../../client/index.ts';
import { deepEqual, labelSelectorFromObject, must } from '../../../machinery/index.ts';
import {
  after,
  type ControllerDefinition,
  defineController,
  done,
  type ObjectEvent,
  type ReconcileContext,
  soonest,
  watchMapped,
  watchObjects,
  watchOwned,
} from '../../../runtime/index.ts';
import { createPods, deletePods, podsPerRound } from '../common/make-pods.ts';
import { revisionHashLabel } from '../common/names.ts';
import { indexByController, watchOrphans } from '../common/ownership.ts';
import { isAvailable, isFinished, isPodReady, isTerminating, nextAvailableIn } from '../common/pods.ts';
import { claimRevisedPods, hashOf, pruneRevisions } from '../common/revisions.ts';
import { count, writeStatus } from '../common/status.ts';
import { daemonPod, isUpdated, tolerationsOf } from './daemon-pod.ts';
import { createFailureBackoff, type FailureBackoff } from './failure-backoff.ts';
import { type DaemonPlace, type DaemonPlan, daemonPlaces, planDaemons } from './plan.ts';

/** Keeps one Pod of a DaemonSet on every eligible node. */
export function daemonSetController(): ControllerDefinition {
  let sets: Lister<DaemonSet> | undefined;
  let nodes: Lister<Node> | undefined;
  let pods: Lister<Pod> | undefined;
  let revisions: Lister<ControllerRevision> | undefined;
  const backoff = createFailureBackoff();
  return defineController({
    name: 'daemonset-controller',
    for: DaemonSets,
    watches: [
      watchObjects(DaemonSets),
      watchOwned(Pods, DaemonSets),
      watchOrphans(Pods, () => sets, selects),
      watchMapped(Nodes, () => (sets?.list() ?? []).map(objectKey), { predicates: [isAboutPlacement] }),
    ],
    setup(cache) {
      sets = cache.informer(DaemonSets).lister;
      nodes = cache.informer(Nodes).lister;
      pods = indexByController(cache, Pods);
      revisions = indexByController(cache, ControllerRevisions);
    },
    async reconcile(context, key) {
      const set = must(sets, 'sets').get(key);
      if (!set || isTerminating(set)) return done();
      const { client, clock } = context;
      const claim = {
        client,
        pods: must(pods, 'pods'),
        revisions: must(revisions, 'revisions'),
        selects,
        hashLabel: revisionHashLabel,
      };
      const { pods: owned, history, revision, collisions } = await claimRevisedPods(set, claim);
      const hash = hashOf(revision, revisionHashLabel);
      const now = clock.now();
      const places = daemonPlaces(set, must(nodes, 'nodes').list(), owned);
      const plan = planDaemons(set, places, hash, now);
      const waitMs = await carryOut(context, set, plan, hash, backoff);
      const isMoving = plan.create.length + plan.remove.length > 0;
      // Created and deleted Pods cause an event, and the next reconcile counts them.
      if (!isMoving || set.status?.observedGeneration !== set.metadata.generation) {
        await writeStatus(client, DaemonSets, set, statusOf(set, places, { hash, collisions, now }));
      }
      const live = new Set([hash, ...owned.map(({ metadata }) => metadata.labels?.[revisionHashLabel] ?? '')]);
      const isLive = (known: ControllerRevision): boolean => live.has(hashOf(known, revisionHashLabel));
      await pruneRevisions(client, history, isLive, set.spec.revisionHistoryLimit ?? 10);
      const availableMs = nextAvailableIn(owned, set.spec.minReadySeconds, now);
      return soonest(
        waitMs === undefined ? done() : after(waitMs, 'a Pod that failed to be replaced'),
        availableMs === undefined ? done() : after(availableMs, 'a Pod that must stay ready for a while'),
      );
    },
  });
}

function selects(set: DaemonSet, { metadata }: Pod): boolean {
  return labelSelectorFromObject(set.spec.selector).matches(metadata.labels ?? {});
}

/** Heartbeats do not affect placement. */
function isAboutPlacement(event: ObjectEvent<Node>): boolean {
  if (event.type !== 'update') return true;
  const { old, object } = event;
  return (
    !deepEqual(old.metadata.labels ?? {}, object.metadata.labels ?? {}) ||
    !deepEqual(old.spec?.taints ?? [], object.spec?.taints ?? [])
  );
}

/** Returns the delay until finished Pods may be replaced. */
async function carryOut(
  context: ReconcileContext,
  set: DaemonSet,
  plan: DaemonPlan,
  hash: string,
  backoff: FailureBackoff,
): Promise<number | undefined> {
  let waitMs: number | undefined;
  const due: Pod[] = [];
  for (const pod of plan.failed) {
    const restMs = backoff.restMs(pod, context.clock.now());
    if (restMs === 0) due.push(pod);
    else if (waitMs === undefined || restMs < waitMs) waitMs = restMs;
  }
  for (const pod of due) {
    const message = `Found failed daemon pod ${pod.metadata.namespace}/${pod.metadata.name} on node ${pod.spec.nodeName}, will try to kill it`;
    context.events.event(set, 'Warning', 'FailedDaemonPod', message);
  }
  const tolerations = tolerationsOf(set);
  const failure =
    (await deletePods(context, set, [...plan.remove, ...due].slice(0, podsPerRound))) ??
    (await createPods(
      context,
      set,
      plan.create.slice(0, podsPerRound).map((node) => daemonPod(set, node, hash, tolerations)),
    ));
  if (failure) throw failure.error;
  return waitMs;
}

function statusOf(
  set: DaemonSet,
  places: readonly DaemonPlace[],
  { hash, collisions, now }: { hash: string; collisions: number; now: number },
): NonNullable<DaemonSet['status']> {
  const minReady = set.spec.minReadySeconds;
  let [desired, scheduled, misscheduled, ready, available, updated] = [0, 0, 0, 0, 0, 0];
  for (const { isWanted, pods } of places) {
    const living = pods.filter((pod) => !isFinished(pod));
    if (!isWanted) {
      if (living.length > 0) misscheduled++;
      continue;
    }
    desired++;
    if (living.length === 0) continue;
    scheduled++;
    // With a surge there are two Pods. The newer one represents the node.
    const pod = living.findLast((one) => !isTerminating(one)) ?? must(living.at(-1), 'living.at(-1)');
    if (living.some(isPodReady)) ready++;
    if (living.some((one) => isAvailable(one, minReady, now))) available++;
    if (isUpdated(pod, hash)) updated++;
  }
  return {
    currentNumberScheduled: scheduled,
    numberMisscheduled: misscheduled,
    desiredNumberScheduled: desired,
    numberReady: ready,
    observedGeneration: set.metadata.generation ?? 1,
    ...count('updatedNumberScheduled', updated),
    ...count('numberAvailable', available),
    ...count('numberUnavailable', desired - available),
    ...count('collisionCount', collisions),
    ...(set.status?.conditions && { conditions: set.status.conditions }),
  };
}
