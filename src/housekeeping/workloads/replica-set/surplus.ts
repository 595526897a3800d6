import type { Pod } from '../../../api/index.ts';
import { must } from '../../../machinery/index.ts';
import { readySince } from '../common/pods.ts';

const deletionCostAnnotation = 'controller.kubernetes.io/pod-deletion-cost';
const phaseRanks: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

/** Selects the surplus Pods to delete, in the order ReplicaSets have always used. */
export function surplusPods(pods: readonly Pod[], desired: number): Pod[] {
  if (pods.length <= desired) return [];
  if (desired === 0) return [...pods];
  const crowds = new Map<string, number>();
  for (const { spec } of pods) crowds.set(spec.nodeName ?? '', (crowds.get(spec.nodeName ?? '') ?? 0) + 1);
  const ranked = pods.map((pod) => ({ pod, ranks: ranksOf(pod, crowds) }));
  ranked.sort((a, b) => compareRanks(a.ranks, b.ranks) || compareNames(a.pod, b.pod));
  return ranked.slice(0, pods.length - desired).map(({ pod }) => pod);
}

/** Ranks of a Pod; lower ranks are deleted first: not ready, low deletion cost, on crowded nodes, youngest. */
function ranksOf(pod: Pod, crowds: ReadonlyMap<string, number>): number[] {
  const { spec, status, metadata } = pod;
  const since = readySince(pod);
  return [
    spec.nodeName === undefined ? 0 : 1,
    phaseRanks[status?.phase ?? 'Unknown'] ?? 1,
    since === undefined ? 0 : 1,
    Number(metadata.annotations?.[deletionCostAnnotation] ?? 0) || 0,
    -(crowds.get(spec.nodeName ?? '') ?? 0),
    -(since ?? 0),
    -Math.max(0, ...(status?.containerStatuses ?? []).map(({ restartCount }) => restartCount)),
    -Date.parse(metadata.creationTimestamp ?? '') || 0,
  ];
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (const [index, rank] of a.entries()) {
    const difference = rank - must(b[index], 'a rank');
    if (difference !== 0) return difference;
  }
  return 0;
}

function compareNames(a: Pod, b: Pod): number {
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}
