import type { Cluster, LabelSelector, Machine, MachineDrainRule, Namespace, Pod } from '../../../../api/index.ts';
import { type KubeObject, labelSelectorFromObject, parseRfc3339 } from '../../../../machinery/index.ts';
import { controllerOf, drainLabel } from '../../../shared/index.ts';

export type DrainBehavior = 'Drain' | 'Skip' | 'WaitCompleted';

export interface DrainDecision {
  pod: Pod;
  behavior: DrainBehavior;
  /** lower values are evicted first */
  order: number;
  /** warnings about a Pod that is evicted regardless */
  warnings: string[];
}

export interface DrainFacts {
  /** rules that apply to the machine, sorted by name */
  rules: readonly MachineDrainRule[];
  namespaces: ReadonlyMap<string, Namespace>;
  /** existing DaemonSets as "namespace/name" */
  daemonSets: ReadonlySet<string>;
  /** the kubelet does not respond, so it will never confirm the deletion of Pods */
  unreachable: boolean;
  nowMs: number;
}

const mirrorAnnotation = 'kubernetes.io/config.mirror';
/** Grace period of Pods on an unreachable Node; afterwards they are not waited for. */
export const unreachableGraceSeconds = 1;

export function classifyPods(pods: readonly Pod[], facts: DrainFacts): DrainDecision[] {
  return pods.map((pod) => ({ pod, warnings: [], ...decide(pod, facts) }));
}

function decide(pod: Pod, facts: DrainFacts): Omit<DrainDecision, 'pod' | 'warnings'> & { warnings?: string[] } {
  const skip = { behavior: 'Skip' as const, order: 0 };
  if (facts.unreachable && deletingSeconds(pod, facts.nowMs) > unreachableGraceSeconds) return skip;
  const phase = (pod.status as { phase?: string } | undefined)?.phase;
  const finished = phase === 'Succeeded' || phase === 'Failed';
  const owner = controllerOf(pod as KubeObject);
  const warnings: string[] = [];
  if (owner?.kind === 'DaemonSet' && !finished) {
    if (facts.daemonSets.has(`${pod.metadata.namespace}/${owner.name}`)) return skip;
    warnings.push('evicting orphaned DaemonSet-managed Pod');
  }
  if (pod.metadata.annotations?.[mirrorAnnotation] !== undefined) return skip;
  if (!finished && pod.spec?.volumes?.some((volume) => (volume as { emptyDir?: unknown }).emptyDir !== undefined)) {
    warnings.push('evicting Pod with local storage');
  }
  if (!finished && !owner) warnings.push('evicting Pod that have no controller');

  const label = pod.metadata.labels?.[drainLabel]?.toLowerCase();
  if (label === 'skip') return skip;
  // a completed Pod needs no waiting
  const awaited = finished ? skip : undefined;
  if (label === 'wait-completed' || label === 'waitcompleted') {
    return awaited ?? { behavior: 'WaitCompleted', order: 0 };
  }
  const rule = facts.rules.find((candidate) => appliesToPod(candidate, pod, facts.namespaces));
  if (!rule) return { behavior: 'Drain', order: 0, warnings };
  const { behavior, order = 0 } = rule.spec.drain;
  if (behavior === 'Skip') return skip;
  if (behavior === 'WaitCompleted') return awaited ?? { behavior, order };
  return { behavior: 'Drain', order, warnings };
}

function deletingSeconds(pod: Pod, nowMs: number): number {
  const since = parseRfc3339(pod.metadata.deletionTimestamp ?? '');
  return since === undefined ? 0 : (nowMs - since) / 1000;
}

/** Returns the rules that select a machine; the first match wins. */
export function rulesForMachine(
  rules: readonly MachineDrainRule[],
  machine: Machine,
  cluster: Cluster | undefined,
): MachineDrainRule[] {
  return rules
    .filter(({ spec }) => {
      const selectors = spec.machines ?? [];
      return (
        selectors.length === 0 ||
        selectors.some(
          ({ selector, clusterSelector }) => matches(selector, machine) && matches(clusterSelector, cluster),
        )
      );
    })
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
}

function appliesToPod(rule: MachineDrainRule, pod: Pod, namespaces: ReadonlyMap<string, Namespace>): boolean {
  const selectors = rule.spec.pods ?? [];
  const namespace = namespaces.get(pod.metadata.namespace ?? '');
  return (
    selectors.length === 0 ||
    selectors.some(({ selector, namespaceSelector }) => matches(selector, pod) && matches(namespaceSelector, namespace))
  );
}

function matches(selector: LabelSelector | undefined, object: KubeObject | undefined): boolean {
  if (!selector) return true;
  return labelSelectorFromObject(selector as Parameters<typeof labelSelectorFromObject>[0]).matches(
    object?.metadata.labels ?? {},
  );
}
