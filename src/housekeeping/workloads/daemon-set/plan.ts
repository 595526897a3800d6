import type { DaemonSet, Node, Pod, Toleration } from '../../../api/index.ts';
import { must, scaledValue } from '../../../machinery/index.ts';
import { isAvailable, isFinished, isTerminating } from '../common/pods.ts';
import { isUpdated, nodeOf, placeOn, tolerationsOf } from './daemon-pod.ts';

/** A node and the set's Pods on it. */
export interface DaemonPlace {
  readonly nodeName: string;
  readonly isWanted: boolean;
  readonly mayStay: boolean;
  readonly pods: readonly Pod[];
}

export interface DaemonPlan {
  readonly create: readonly string[];
  readonly remove: readonly Pod[];
  /** finished Pods, replaced with a backoff */
  readonly failed: readonly Pod[];
}

/** Lists every node, including deleted nodes that still have Pods. */
export function daemonPlaces(set: DaemonSet, nodes: readonly Node[], pods: readonly Pod[]): DaemonPlace[] {
  const byNode = new Map<string, Pod[]>();
  for (const pod of pods) {
    const name = nodeOf(pod);
    const present = byNode.get(name);
    if (present) present.push(pod);
    else byNode.set(name, [pod]);
  }
  const tolerations: readonly Toleration[] = tolerationsOf(set);
  const places: DaemonPlace[] = nodes.map((node) => {
    const nodeName = must(node.metadata.name, 'node.metadata.name');
    const present = byNode.get(nodeName) ?? [];
    byNode.delete(nodeName);
    return { nodeName, ...placeOn(set, node, tolerations), pods: present.sort(byAge) };
  });
  for (const [nodeName, present] of byNode) {
    places.push({ nodeName, isWanted: false, mayStay: false, pods: present.sort(byAge) });
  }
  return places;
}

function byAge(a: Pod, b: Pod): number {
  const [left = '', right = ''] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
  if (left !== right) return left < right ? -1 : 1;
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}

/**
 * Determines which nodes lack a Pod and which have too many. A rolling update starts only when nothing else is to be
 * done.
 */
export function planDaemons(set: DaemonSet, places: readonly DaemonPlace[], hash: string, now: number): DaemonPlan {
  const create: string[] = [];
  const remove: Pod[] = [];
  const failed: Pod[] = [];
  const { maxSurge } = updateLimits(set, places);
  for (const { nodeName, isWanted, mayStay, pods } of places) {
    const living = pods.filter((pod) => !isTerminating(pod));
    if (!mayStay) {
      remove.push(...living);
      continue;
    }
    const working = living.filter((pod) => !isFinished(pod));
    failed.push(...living.filter(isFinished));
    // The new Pod waits until the old one is gone, because containers may use host ports.
    if (working.length === 0 && pods.length === 0 && isWanted) create.push(nodeName);
    else remove.push(...superfluous(working, hash, maxSurge > 0));
  }
  if (create.length > 0 || remove.length > 0 || failed.length > 0) return { create, remove, failed };
  return set.spec.updateStrategy?.type === 'OnDelete' ? { create, remove, failed } : updatePlan(set, places, hash, now);
}

/** Returns all but the oldest Pod. With a surge, the oldest of each template is kept. */
function superfluous(working: readonly Pod[], hash: string, hasSurge: boolean): Pod[] {
  if (working.length <= 1) return [];
  if (!hasSurge) return working.slice(1);
  const updated = working.filter((pod) => isUpdated(pod, hash));
  const outdated = working.filter((pod) => !isUpdated(pod, hash));
  return [...updated.slice(1), ...outdated.slice(1)];
}

function updateLimits(
  set: DaemonSet,
  places: readonly DaemonPlace[],
): { readonly maxSurge: number; readonly maxUnavailable: number } {
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  if (type === 'OnDelete') return { maxSurge: 0, maxUnavailable: 0 };
  const wanted = places.filter(({ isWanted }) => isWanted).length;
  const maxSurge = scaledValue(rollingUpdate?.maxSurge ?? 0, wanted, 'up');
  const maxUnavailable = scaledValue(rollingUpdate?.maxUnavailable ?? 1, wanted, 'up');
  return { maxSurge, maxUnavailable: maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable };
}

function updatePlan(set: DaemonSet, places: readonly DaemonPlace[], hash: string, now: number): DaemonPlan {
  const { maxSurge, maxUnavailable } = updateLimits(set, places);
  const wanted = places.filter(({ isWanted }) => isWanted);
  return maxSurge > 0
    ? surgingUpdate(set, wanted, { hash, maxSurge, now })
    : replacingUpdate(set, wanted, { hash, maxUnavailable, now });
}

/** Deletes an old Pod before its successor is created. Old Pods that are not ready are deleted at once. */
function replacingUpdate(
  set: DaemonSet,
  places: readonly DaemonPlace[],
  { hash, maxUnavailable, now }: { hash: string; maxUnavailable: number; now: number },
): DaemonPlan {
  const remove: Pod[] = [];
  const candidates: Pod[] = [];
  let unavailable = 0;
  for (const { pods } of places) {
    const serving = pods.find((pod) => !isTerminating(pod) && isAvailable(pod, set.spec.minReadySeconds, now));
    if (!serving) unavailable++;
    for (const pod of pods) {
      if (isTerminating(pod) || isUpdated(pod, hash)) continue;
      (pod === serving ? candidates : remove).push(pod);
    }
  }
  remove.push(...candidates.slice(0, Math.max(0, maxUnavailable - unavailable)));
  return { create: [], remove, failed: [] };
}

/** Creates the successor first and deletes the old Pod once the successor is available. */
function surgingUpdate(
  set: DaemonSet,
  places: readonly DaemonPlace[],
  { hash, maxSurge, now }: { hash: string; maxSurge: number; now: number },
): DaemonPlan {
  const create: string[] = [];
  const remove: Pod[] = [];
  const waiting: string[] = [];
  let surging = 0;
  for (const { nodeName, pods } of places) {
    const living = pods.filter((pod) => !isTerminating(pod));
    const updated = living.find((pod) => isUpdated(pod, hash));
    const outdated = living.find((pod) => !isUpdated(pod, hash));
    if (!outdated) continue;
    if (updated) {
      surging++;
      if (isAvailable(updated, set.spec.minReadySeconds, now)) remove.push(outdated);
    } else if (isAvailable(outdated, set.spec.minReadySeconds, now)) waiting.push(nodeName);
    // The old Pod is not ready, so its replacement does not count against maxSurge.
    else create.push(nodeName);
  }
  create.push(...waiting.slice(0, Math.max(0, maxSurge - surging)));
  return { create, remove, failed: [] };
}
