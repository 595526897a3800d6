import type { Pod } from '../../../../api/index.ts';
import type { DrainDecision } from './classify.ts';

/** Actions of one drain round. */
export interface DrainPlan {
  evict: DrainDecision[];
  evictLater: Pod[];
  /** evicted earlier, but not gone yet */
  terminating: Pod[];
  awaited: Pod[];
  awaitedLater: Pod[];
  skipped: Pod[];
}

/** Plans evictions by order: Pods with a higher order wait until those with a lower one are gone. */
export function planDrain(decisions: readonly DrainDecision[]): DrainPlan {
  const sorted = [...decisions].sort((a, b) => (podName(a.pod) < podName(b.pod) ? -1 : 1));
  const concerned = sorted.filter(({ behavior }) => behavior !== 'Skip');
  const first = Math.min(...concerned.map(({ order }) => order));
  const plan: DrainPlan = { evict: [], evictLater: [], terminating: [], awaited: [], awaitedLater: [], skipped: [] };
  for (const decision of sorted) {
    const { pod, behavior, order } = decision;
    if (behavior === 'Skip') plan.skipped.push(pod);
    else if (behavior === 'WaitCompleted') (order === first ? plan.awaited : plan.awaitedLater).push(pod);
    else if (pod.metadata.deletionTimestamp !== undefined) plan.terminating.push(pod);
    else if (order === first) plan.evict.push(decision);
    else plan.evictLater.push(pod);
  }
  return plan;
}

/** Result of the evictions of one round. */
export interface DrainProgress {
  terminating: Pod[];
  /** by error message of the API */
  refused: Map<string, Pod[]>;
  evictLater: Pod[];
  awaited: Pod[];
  awaitedLater: Pod[];
}

export function isDrained(progress: DrainProgress): boolean {
  return (
    progress.terminating.length === 0 &&
    progress.refused.size === 0 &&
    progress.evictLater.length === 0 &&
    progress.awaited.length === 0 &&
    progress.awaitedLater.length === 0
  );
}

const maxPods = 3;
const maxRefusals = 5;
const budgetRefusal = "cannot evict pod as it would violate the pod's disruption budget.";

/** Explains why a drain is not complete: names the Pods and quotes the API's refusals. */
export function drainMessage(progress: DrainProgress, startedAt: string): string {
  const lines = [`Drain not completed yet (started at ${startedAt}):`];
  if (progress.terminating.length > 0) {
    lines.push(`* ${subject(progress.terminating)}: deletionTimestamp set, but still not removed from the Node`);
  }
  const refusals = [...progress.refused].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [text, pods] of refusals.slice(0, maxRefusals)) {
    const said = text.replace(/^Cannot evict pod as it would/, 'cannot evict pod as it would');
    lines.push(`* ${subject(pods)}: ${said.startsWith(budgetRefusal) ? said : `failed to evict Pod, ${said}`}`);
  }
  const rest = refusals.slice(maxRefusals).reduce((sum, [, pods]) => sum + pods.length, 0);
  if (rest > 0) lines.push(rest === 1 ? '* 1 Pod with other issues' : `* ${rest} Pods with other issues`);
  if (progress.awaited.length > 0) lines.push(`* ${subject(progress.awaited)}: waiting for completion`);
  if (progress.evictLater.length > 0) {
    lines.push(
      `After above Pods have been removed from the Node, the following Pods will be evicted: ${names(progress.evictLater)}`,
    );
  }
  if (progress.awaitedLater.length > 0) {
    lines.push(
      `After above Pods have been removed from the Node, waiting for the following Pods to complete without eviction: ${names(progress.awaitedLater)}`,
    );
  }
  return lines.join('\n');
}

const podName = (pod: Pod): string => `${pod.metadata.namespace}/${pod.metadata.name}`;

function names(pods: readonly Pod[]): string {
  const shown = pods.slice(0, maxPods).map(podName).join(', ');
  return pods.length > maxPods ? `${shown}, ... (${pods.length - maxPods} more)` : shown;
}

const subject = (pods: readonly Pod[]): string => `${pods.length === 1 ? 'Pod' : 'Pods'} ${names(pods)}`;
