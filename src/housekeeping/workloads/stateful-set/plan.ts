import type { Pod, StatefulSet } from '../../../api/index.ts';
import { scaledValue } from '../../../machinery/index.ts';
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

/** What is to be done now; what must wait for another Pod waits for its event. */
export interface MemberPlan {
  /** numbers of Pods to be made, with the name of the revision each is made from */
  readonly create: readonly { readonly ordinal: number; readonly revision: string }[];
  readonly remove: readonly Pod[];
  /** Pods beyond the number wished, whether they go now or later */
  readonly condemned: readonly Pod[];
  /** a Pod becomes available by time alone */
  readonly lookAgainMs?: number;
}

export interface MemberRevisions {
  /** name of the revision all members had last */
  readonly current: string;
  /** name of the revision they are to have */
  readonly update: string;
}

/** One step towards the Pods a StatefulSet wishes, in the order it wishes. */
export function planMembers(
  set: StatefulSet,
  pods: readonly Pod[],
  revisions: MemberRevisions,
  now: number,
): MemberPlan {
  const first = firstOrdinal(set);
  const wished = replicasOf(set);
  const members: (Pod | undefined)[] = new Array(wished).fill(undefined);
  const condemned: Pod[] = [];
  for (const pod of pods) {
    const index = (ordinalOf(set, pod) ?? -1) - first;
    if (index >= 0 && index < wished) members[index] = pod;
    else condemned.push(pod);
  }
  condemned.sort((a, b) => ordinalOf(set, b)! - ordinalOf(set, a)!);
  const isOrdered = set.spec.podManagementPolicy !== 'Parallel';
  const walk = isOrdered ? orderedStep : parallelStep;
  return { ...walk({ set, members, condemned, revisions, first, now }), condemned };
}

interface Situation {
  readonly set: StatefulSet;
  readonly members: readonly (Pod | undefined)[];
  readonly condemned: readonly Pod[];
  readonly revisions: MemberRevisions;
  readonly first: number;
  readonly now: number;
}

type Step = Omit<MemberPlan, 'condemned'>;

const nothing: Step = { create: [], remove: [] };

function wait(ms: number | undefined): Step {
  return ms === undefined ? nothing : { ...nothing, lookAgainMs: ms };
}

/** One Pod at a time: the next one is touched when all before it are available. */
function orderedStep(situation: Situation): Step {
  const { set, members, condemned, first, now } = situation;
  for (const [index, pod] of members.entries()) {
    if (!pod) return { create: [newMember(situation, first + index)], remove: [] };
    if (isTerminating(pod)) return nothing;
    if (isFinished(pod)) return { create: [], remove: [pod] };
    const inMs = memberAvailableIn(set, pod, now);
    if (inMs === 0) continue;
    // A template that cannot work would hold up its own replacement for ever.
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

/** All at once, except that an update still goes Pod by Pod. */
function parallelStep(situation: Situation): Step {
  const { members, condemned, first } = situation;
  const create: { ordinal: number; revision: string }[] = [];
  const remove: Pod[] = [];
  for (const [index, pod] of members.entries()) {
    if (!pod) create.push(newMember(situation, first + index));
    else if (isFinished(pod) && !isTerminating(pod)) remove.push(pod);
  }
  for (const pod of condemned) if (!isTerminating(pod)) remove.push(pod);
  if (create.length > 0 || remove.length > 0) return { create, remove };
  return updateStep(situation);
}

function newMember({ set, revisions, first }: Situation, ordinal: number): { ordinal: number; revision: string } {
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  const kept = rollingUpdate ? (rollingUpdate.partition ?? 0) : (set.status?.currentReplicas ?? 0);
  const isKept = type === 'RollingUpdate' && ordinal < first + kept;
  return { ordinal, revision: isKept ? revisions.current : revisions.update };
}

/** Whether the update strategy wants another revision for a member than it has. */
function isOutdated({ set, revisions, first }: Situation, index: number, pod: Pod): boolean {
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  if (type === 'OnDelete' || revisionName(pod) === revisions.update) return false;
  return first + index >= (rollingUpdate?.partition ?? 0);
}

/**
 * Outdated Pods go from the last to the first, as many at a time as may be unavailable. Those that do not work go at once:
 * nobody misses them, and waiting for them could last for ever.
 */
function updateStep(situation: Situation): Step {
  const { set, members, now } = situation;
  const unavailable = members.filter((pod) => !pod || isTerminating(pod) || memberAvailableIn(set, pod, now) !== 0);
  const max = set.spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1;
  let rest = Math.max(1, scaledValue(max, members.length, false)) - unavailable.length;
  const remove: Pod[] = [];
  for (let index = members.length - 1; index >= 0; index--) {
    const pod = members[index];
    if (!pod || isTerminating(pod) || !isOutdated(situation, index, pod)) continue;
    const isMissed = isRunningAndReady(pod);
    if (isMissed && rest <= 0) continue;
    if (isMissed) rest--;
    remove.push(pod);
  }
  return remove.length > 0 ? { create: [], remove } : wait(soonest(set, members, now));
}

function soonest(set: StatefulSet, members: readonly (Pod | undefined)[], now: number): number | undefined {
  let best: number | undefined;
  for (const pod of members) {
    const inMs = pod && memberAvailableIn(set, pod, now);
    if (inMs !== undefined && inMs > 0 && (best === undefined || inMs < best)) best = inMs;
  }
  return best;
}
