import type { Pod, StatefulSet } from '../../../api/index.ts';
import { must, scaledValue } from '../../../machinery/index.ts';
import { podsPerRound, podsToMake } from '../common/make-pods.ts';
import { isFinished, isTerminating } from '../common/pods.ts';
import {
  firstOrdinal,
  isHopeless,
  isRunningAndReady,
  memberAvailableIn,
  ordinalOf,
  replicasOf,
  revisionName,
} from './member.ts';

/** Actions of this reconcile. Actions that depend on another Pod follow after its event. */
export interface MemberPlan {
  /** ordinals of Pods to create, with the name of their revision */
  readonly create: readonly { readonly ordinal: number; readonly revision: string }[];
  readonly remove: readonly Pod[];
  /** Pods beyond the desired number, including those deleted in a later step */
  readonly condemned: readonly Pod[];
  /** time until a Pod becomes available without a further event */
  readonly recheckMs?: number;
}

export interface MemberRevisions {
  /** name of the revision before the update */
  readonly current: string;
  /** name of the revision to update to */
  readonly update: string;
}

/** Plans the next step towards the desired Pods of a StatefulSet, in the order of its pod management policy. */
export function planMembers(
  set: StatefulSet,
  pods: readonly Pod[],
  revisions: MemberRevisions,
  now: number,
): MemberPlan {
  const first = firstOrdinal(set);
  const desired = replicasOf(set);
  // Only existing Pods are stored, because users may ask for any number of replicas.
  const present: [number, Pod][] = [];
  const condemned: Pod[] = [];
  for (const pod of pods) {
    const index = (ordinalOf(set, pod) ?? -1) - first;
    if (index >= 0 && index < desired) present.push([index, pod]);
    else condemned.push(pod);
  }
  const members: ReadonlyMap<number, Pod> = new Map(present.sort(([a], [b]) => a - b));
  condemned.sort((a, b) => must(ordinalOf(set, b), 'ordinalOf(set, b)') - must(ordinalOf(set, a), 'ordinalOf(set, a)'));
  const isOrdered = set.spec.podManagementPolicy !== 'Parallel';
  const walk = isOrdered ? orderedStep : parallelStep;
  return { ...walk({ set, members, desired, condemned, revisions, first, now }), condemned };
}

interface Situation {
  readonly set: StatefulSet;
  /** existing Pods by ordinal, sorted */
  readonly members: ReadonlyMap<number, Pod>;
  /** desired number of Pods */
  readonly desired: number;
  readonly condemned: readonly Pod[];
  readonly revisions: MemberRevisions;
  readonly first: number;
  readonly now: number;
}

type Step = Omit<MemberPlan, 'condemned'>;

const nothing: Step = { create: [], remove: [] };

function wait(ms: number | undefined): Step {
  return ms === undefined ? nothing : { ...nothing, recheckMs: ms };
}

/** Plans one Pod at a time: a Pod is touched only when all before it are available. */
function orderedStep(situation: Situation): Step {
  const { set, members, desired, condemned, first, now } = situation;
  for (let index = 0; index < desired; index++) {
    const pod = members.get(index);
    if (!pod) return { create: [newMember(situation, first + index)], remove: [] };
    if (isTerminating(pod)) return nothing;
    if (isFinished(pod)) return { create: [], remove: [pod] };
    const inMs = memberAvailableIn(set, pod, now);
    if (inMs === 0) continue;
    // A broken template would otherwise block its own replacement for ever.
    const isReplaced = isHopeless(pod) && isOutdated(situation, index, pod);
    return isReplaced ? { create: [], remove: [pod] } : wait(inMs);
  }
  const next = condemned[0];
  if (next) {
    if (isTerminating(next)) return nothing;
    const inMs = memberAvailableIn(set, next, now);
    return inMs === undefined || inMs === 0 ? { create: [], remove: [next] } : wait(inMs);
  }
  return updateStep(situation);
}

/** Plans as many Pods as one round allows. Updates still go Pod by Pod. */
function parallelStep(situation: Situation): Step {
  const { members, desired, condemned, first } = situation;
  const create: { ordinal: number; revision: string }[] = [];
  const remove: Pod[] = [];
  const room = podsToMake(desired - members.size, [...members.values()]);
  for (let index = 0; create.length < room; index++) {
    if (!members.has(index)) create.push(newMember(situation, first + index));
  }
  for (const pod of [...members.values()].filter(isFinished).concat(condemned)) {
    if (!isTerminating(pod) && remove.length < podsPerRound) remove.push(pod);
  }
  if (create.length > 0 || remove.length > 0) return { create, remove };
  return updateStep(situation);
}

function newMember({ set, revisions, first }: Situation, ordinal: number): { ordinal: number; revision: string } {
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  const kept = rollingUpdate ? (rollingUpdate.partition ?? 0) : (set.status?.currentReplicas ?? 0);
  const isKept = type === 'RollingUpdate' && ordinal < first + kept;
  return { ordinal, revision: isKept ? revisions.current : revisions.update };
}

/** Reports whether the update strategy requires another revision for a Pod. */
function isOutdated({ set, revisions, first }: Situation, index: number, pod: Pod): boolean {
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  if (type === 'OnDelete' || revisionName(pod) === revisions.update) return false;
  return first + index >= (rollingUpdate?.partition ?? 0);
}

/**
 * Replaces outdated Pods from the last to the first, within maxUnavailable. Broken Pods are replaced at once, because
 * waiting for them could last for ever.
 */
function updateStep(situation: Situation): Step {
  const { set, members, desired, now } = situation;
  let available = 0;
  for (const pod of members.values()) {
    if (!isTerminating(pod) && memberAvailableIn(set, pod, now) === 0) available++;
  }
  const max = set.spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1;
  let rest = Math.max(1, scaledValue(max, desired, 'down')) - (desired - available);
  const remove: Pod[] = [];
  for (const [index, pod] of [...members].reverse()) {
    if (isTerminating(pod) || !isOutdated(situation, index, pod)) continue;
    const isMissed = isRunningAndReady(pod);
    if (isMissed && rest <= 0) continue;
    if (isMissed) rest--;
    remove.push(pod);
    if (remove.length === podsPerRound) break;
  }
  return remove.length > 0 ? { create: [], remove } : wait(soonest(set, members, now));
}

function soonest(set: StatefulSet, members: ReadonlyMap<number, Pod>, now: number): number | undefined {
  let best: number | undefined;
  for (const pod of members.values()) {
    const inMs = memberAvailableIn(set, pod, now);
    if (inMs !== undefined && inMs > 0 && (best === undefined || inMs < best)) best = inMs;
  }
  return best;
}
