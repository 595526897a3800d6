import type { Node, Pod, PodDisruptionBudget } from '../../../api/index.ts';
import { labelSelectorFromObject, must, parseRfc3339 } from '../../../machinery/index.ts';
import { shortagesOn } from './node-room.ts';

export function priorityOf({ spec }: Pod): number {
  return spec.priority ?? 0;
}

/** Pods to preempt on a node for another Pod. */
export interface Victims {
  readonly node: string;
  readonly pods: readonly Pod[];
  /** number of Pods that a disruption budget protects */
  readonly protectedCount: number;
}

/** Finds the fewest Pods of lower priority to preempt; undefined if that does not help. */
export function victimsOn(
  node: Node,
  pod: Pod,
  others: readonly Pod[],
  budgets: readonly PodDisruptionBudget[],
): Victims | undefined {
  const own = priorityOf(pod);
  const lower = others.filter((other) => priorityOf(other) < own);
  if (lower.length === 0) return undefined;
  const kept = others.filter((other) => priorityOf(other) >= own);
  if (shortagesOn(node, pod, kept).length > 0) return undefined;
  // Protected Pods and those of higher priority are kept first, while there is room.
  const isProtected = protection(budgets);
  const inOrder = [...lower].sort((a, b) => priorityOf(b) - priorityOf(a) || startOf(a) - startOf(b));
  const guarded = new Set(inOrder.filter(isProtected));
  const victims: Pod[] = [];
  for (const other of [...guarded, ...inOrder.filter((one) => !guarded.has(one))]) {
    if (shortagesOn(node, pod, [...kept, other]).length === 0) kept.push(other);
    else victims.push(other);
  }
  if (victims.length === 0) return undefined;
  const protectedCount = victims.filter((victim) => guarded.has(victim)).length;
  return { node: must(node.metadata.name, 'metadata.name'), pods: victims, protectedCount };
}

/**
 * Returns a function that reports whether a preemption would violate a budget, counting the Pods it was called for
 * before.
 */
function protection(budgets: readonly PodDisruptionBudget[]): (pod: Pod) => boolean {
  const left = new Map(budgets.map((budget) => [budget, budget.status?.disruptionsAllowed ?? 0]));
  return ({ metadata }) => {
    let isBroken = false;
    for (const budget of budgets) {
      if (budget.metadata.namespace !== metadata.namespace) continue;
      const { selector } = budget.spec ?? {};
      if (!selector || !labelSelectorFromObject(selector).matches(metadata.labels ?? {})) continue;
      if (must(metadata.name, 'metadata.name') in (budget.status?.disruptedPods ?? {})) continue;
      const allowed = must(left.get(budget), 'left.get(budget)') - 1;
      left.set(budget, allowed);
      if (allowed < 0) isBroken = true;
    }
    return isBroken;
  };
}

function startOf({ status, metadata }: Pod): number {
  return parseRfc3339(status?.startTime ?? metadata.creationTimestamp ?? '') ?? 0;
}

/**
 * Chooses the node where preemption does least harm: fewest budget violations, lowest maximum priority, lowest sum,
 * fewest Pods, youngest Pods of highest priority.
 */
export function leastHarm(candidates: readonly Victims[]): Victims | undefined {
  const harm = ({ pods, protectedCount }: Victims): number[] => {
    const highest = Math.max(...pods.map(priorityOf));
    const earliest = Math.min(...pods.filter((pod) => priorityOf(pod) === highest).map(startOf));
    // The offset keeps a sum of many negative priorities from looking cheap.
    const sum = pods.reduce((total, pod) => total + priorityOf(pod) + 2 ** 31, 0);
    return [protectedCount, highest, sum, pods.length, -earliest];
  };
  let best: { victims: Victims; harm: number[] } | undefined;
  for (const victims of candidates) {
    const own = harm(victims);
    if (!best || isLess(own, best.harm)) best = { victims, harm: own };
  }
  return best?.victims;
}

function isLess(a: readonly number[], b: readonly number[]): boolean {
  for (const [index, value] of a.entries()) if (value !== b[index]) return value < must(b[index], 'b[index]');
  return false;
}
