import {
  type ControllerRevision,
  ControllerRevisions,
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  type Pod,
  Pods,
  type StatefulSet,
  StatefulSets,
} from '../../../api/index.ts';
import type { Lister } from '../../../client/index.ts';
import { deepEqual, errorMessage, labelSelectorFromObject, must } from '../../../machinery/index.ts';
import {
  after,
  type ControllerDefinition,
  defineController,
  done,
  type ObjectEvent,
  type ReconcileContext,
  watchObjects,
  watchOwned,
} from '../../../runtime/index.ts';
import { isNamespaceTerminating, podsPerRound } from '../common/make-pods.ts';
import { indexByController, watchOrphans } from '../common/ownership.ts';
import { createPod, deletePod, isPodReady, isTerminating } from '../common/pods.ts';
import { claimRevisedPods, pruneRevisions } from '../common/revisions.ts';
import { writeStatus } from '../common/status.ts';
import { createClaims, keepClaimOwners } from './claims.ts';
import { memberName, memberPod, ordinalOf, revisionName } from './member.ts';
import { type MemberPlan, planMembers } from './plan.ts';
import { statefulSetStatus } from './status.ts';

const hashLabel = 'controller.kubernetes.io/hash';

/** Maintains the numbered Pods of StatefulSets and their claims. */
export function statefulSetController(): ControllerDefinition {
  let sets: Lister<StatefulSet> | undefined;
  let pods: Lister<Pod> | undefined;
  let claims: Lister<PersistentVolumeClaim> | undefined;
  let revisions: Lister<ControllerRevision> | undefined;
  return defineController({
    name: 'statefulset-controller',
    for: StatefulSets,
    // A reconcile waits until each created Pod is stored, so one set must not block the others.
    concurrency: 2,
    watches: [
      watchObjects(StatefulSets),
      watchOwned(Pods, StatefulSets, { predicates: [isAboutMember] }),
      watchOrphans(Pods, () => sets, selects),
    ],
    setup(cache) {
      sets = cache.informer(StatefulSets).lister;
      claims = cache.informer(PersistentVolumeClaims).lister;
      pods = indexByController(cache, Pods);
      revisions = indexByController(cache, ControllerRevisions);
    },
    async reconcile(context, key) {
      const set = must(sets, 'sets').get(key);
      if (!set || isTerminating(set)) return done();
      const { client, clock } = context;
      const claim = { client, pods: must(pods, 'pods'), revisions: must(revisions, 'revisions'), selects, hashLabel };
      const { pods: members, history, revision: update, collisions } = await claimRevisedPods(set, claim);
      const current = history.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update;
      const names = {
        current: must(current.metadata.name, 'current.metadata.name'),
        update: must(update.metadata.name, 'update.metadata.name'),
      };
      const plan = planMembers(set, members, names, clock.now());
      await carryOut(context, must(claims, 'claims'), { set, members, plan, current, update });
      const status = statefulSetStatus(set, members, { revisions: names, collisions, now: clock.now() });
      const isMoving = plan.create.length + plan.remove.length > 0;
      const isLong = plan.create.length >= podsPerRound || plan.remove.length >= podsPerRound;
      // Created and deleted Pods cause an event, and the next reconcile counts them. A new template is reported at
      // once.
      if (!isMoving || isLong || tellsOfTemplate(set, status)) await writeStatus(client, StatefulSets, set, status);
      // When the update completes, the new revision becomes the current one.
      const { currentRevision = names.current } = isMoving ? {} : status;
      const live = new Set([currentRevision, names.update, ...members.map(revisionName)]);
      const isLive = ({ metadata }: ControllerRevision): boolean => live.has(must(metadata.name, 'metadata.name'));
      await pruneRevisions(client, history, isLive, set.spec.revisionHistoryLimit ?? 10);
      return plan.recheckMs === undefined ? done() : after(plan.recheckMs, 'a Pod that must stay ready for a while');
    },
  });
}

/** Reports whether a Pod change affects decisions or counts. Scheduling and other container changes do not. */
function isAboutMember(event: ObjectEvent<Pod>): boolean {
  if (event.type !== 'update') return true;
  const { old, object } = event;
  return (
    isPodReady(old) !== isPodReady(object) ||
    isTerminating(old) !== isTerminating(object) ||
    old.status?.phase !== object.status?.phase ||
    !deepEqual(old.metadata.labels, object.metadata.labels) ||
    !deepEqual(old.metadata.ownerReferences, object.metadata.ownerReferences)
  );
}

function selects(set: StatefulSet, pod: Pod): boolean {
  return (
    ordinalOf(set, pod) !== undefined && labelSelectorFromObject(set.spec.selector).matches(pod.metadata.labels ?? {})
  );
}

function tellsOfTemplate({ status: before }: StatefulSet, status: NonNullable<StatefulSet['status']>): boolean {
  return before?.observedGeneration !== status.observedGeneration || before?.updateRevision !== status.updateRevision;
}

interface Work {
  readonly set: StatefulSet;
  readonly members: readonly Pod[];
  readonly plan: MemberPlan;
  readonly current: ControllerRevision;
  readonly update: ControllerRevision;
}

async function carryOut(
  context: Pick<ReconcileContext, 'client' | 'events'>,
  claims: Lister<PersistentVolumeClaim>,
  { set, members, plan, current, update }: Work,
): Promise<void> {
  if ((set.spec.volumeClaimTemplates ?? []).length > 0) {
    for (const pod of members) {
      // A claim may be lost while its Pod is still unscheduled.
      if (pod.status?.phase === 'Pending' && !isTerminating(pod)) {
        await createClaims(context, claims, set, must(pod.metadata.name, 'pod.metadata.name'));
      }
      await keepClaimOwners(context, claims, set, { pod, isCondemned: plan.condemned.includes(pod) });
    }
  }
  for (const pod of plan.remove) await remove(context, set, pod);
  for (const { ordinal, revision } of plan.create) {
    await create(context, claims, set, ordinal, revision === current.metadata.name ? current : update);
  }
}

async function create(
  { client, events }: Pick<ReconcileContext, 'client' | 'events'>,
  claims: Lister<PersistentVolumeClaim>,
  set: StatefulSet,
  ordinal: number,
  revision: ControllerRevision,
): Promise<void> {
  const name = memberName(set, ordinal);
  const about = `Pod ${name} in StatefulSet ${set.metadata.name}`;
  try {
    await createClaims({ client, events }, claims, set, name);
    await createPod(client, memberPod(set, ordinal, revision));
    events.event(set, 'Normal', 'SuccessfulCreate', `create ${about} successful`);
  } catch (error) {
    if (isNamespaceTerminating(error)) return;
    events.event(set, 'Warning', 'FailedCreate', `create ${about} failed error: ${errorMessage(error)}`);
    throw error;
  }
}

async function remove(
  { client, events }: Pick<ReconcileContext, 'client' | 'events'>,
  set: StatefulSet,
  pod: Pod,
): Promise<void> {
  const about = `Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`;
  try {
    await deletePod(client, pod);
    events.event(set, 'Normal', 'SuccessfulDelete', `delete ${about} successful`);
  } catch (error) {
    events.event(set, 'Warning', 'FailedDelete', `delete ${about} failed error: ${errorMessage(error)}`);
    throw error;
  }
}
