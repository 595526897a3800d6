import type { Node, Pod } from '../../../api/index.ts';
import { matchesSelection, tolerates, untoleratedTaint } from '../../../housekeeping/index.ts';
import { must } from '../../../machinery/index.ts';
import { isDemanding, podLimit, shortagesOn } from './node-room.ts';

/** Pods by node as the scheduler knows them, including those it has just assigned. */
export interface Occupancy {
  count(node: string): number;
  /** Pods that compete with a Pod: those on the node, and nominated ones with precedence */
  beside(node: string, pod: Pod): readonly Pod[];
}

/** Reason why a Pod does not fit on a node. */
export interface Objection {
  readonly reasons: readonly string[];
  /** true if it would fit without some other Pods */
  readonly isCrowded: boolean;
}

const unschedulable = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** Checks in the order of kube-scheduler's filters. The first objection is reported for the node. */
function objectionOf(node: Node, pod: Pod, occupancy: Occupancy): Objection | undefined {
  const firm = (reason: string): Objection => ({ reasons: [reason], isCrowded: false });
  if (node.spec?.unschedulable && !tolerates(pod.spec.tolerations, unschedulable)) {
    return firm('node(s) were unschedulable');
  }
  const taint = untoleratedTaint(node, pod.spec.tolerations, ['NoSchedule', 'NoExecute']);
  if (taint) return firm(`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`);
  if (!matchesSelection(node, pod.spec)) return firm("node(s) didn't match Pod's node affinity/selector");
  const name = must(node.metadata.name, 'metadata.name');
  // Most Pods request nothing, so counting is enough while the node is not full.
  const limit = podLimit(node);
  if (!isDemanding(pod) && (limit === undefined || occupancy.count(name) < limit)) return undefined;
  const reasons = shortagesOn(node, pod, occupancy.beside(name, pod));
  return reasons.length === 0 ? undefined : { reasons, isCrowded: true };
}

export type Placing =
  | { readonly node: string }
  | { readonly objections: ReadonlyMap<Node, Objection>; readonly nodeCount: number };

/** Finds the node for a Pod, or the reason why there is none. Prefers the emptiest node that fits. */
export function placePod(pod: Pod, nodes: readonly Node[], occupancy: Occupancy): Placing {
  const objections = new Map<Node, Objection>();
  const fitting: string[] = [];
  for (const node of nodes) {
    const objection = objectionOf(node, pod, occupancy);
    if (objection) objections.set(node, objection);
    else fitting.push(must(node.metadata.name, 'metadata.name'));
  }
  const nominated = pod.status?.nominatedNodeName;
  if (nominated && fitting.includes(nominated)) return { node: nominated };
  let best: { node: string; load: number } | undefined;
  for (const node of fitting) {
    const load = fitting.length === 1 ? 0 : occupancy.count(node);
    if (!best || load < best.load) best = { node, load };
  }
  return best ? { node: best.node } : { objections, nodeCount: nodes.length };
}

/** kube-scheduler's message when no node fits. `preemption` is the result of the preemption attempt. */
export function describeFailure(
  objections: ReadonlyMap<Node, Objection>,
  nodeCount: number,
  preemption: string,
): string {
  if (nodeCount === 0) return 'no nodes available to schedule pods';
  const reasons = [...objections.values()].flatMap((objection) => objection.reasons);
  return `0/${nodeCount} nodes are available: ${histogram(reasons)}. no new claims to deallocate, preemption: ${preemption}`;
}

/** Reason why preemption does not help. */
export function describeVain(objections: ReadonlyMap<Node, Objection>, nodeCount: number): string {
  const reasons = [...objections.values()].map(({ isCrowded }) =>
    isCrowded ? 'No preemption victims found for incoming pod' : 'Preemption is not helpful for scheduling',
  );
  return `0/${nodeCount} nodes are available: ${histogram(reasons)}.`;
}

function histogram(reasons: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort()
    .join(', ');
}
