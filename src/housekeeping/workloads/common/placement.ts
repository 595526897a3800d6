import type { Node, PodSpec, Taint, Toleration } from '../../../api/index.ts';

// Placement rules shared by the scheduler, DaemonSets and taint eviction.

interface Requirement {
  key: string;
  operator: string;
  values?: string[];
}

interface Term {
  matchExpressions?: Requirement[];
  matchFields?: Requirement[];
}

/** Reports whether one of the tolerations matches the taint. */
export function tolerates(tolerations: readonly Toleration[] | undefined, taint: Taint): boolean {
  return (tolerations ?? []).some(({ key, operator, value, effect }) => {
    if (effect && effect !== taint.effect) return false;
    if (key && key !== taint.key) return false;
    if (!key && operator !== 'Exists') return false;
    return operator === 'Exists' || (value ?? '') === (taint.value ?? '');
  });
}

/** Finds the first taint with one of the effects that the Pod does not tolerate. */
export function untoleratedTaint(
  node: Node,
  tolerations: readonly Toleration[] | undefined,
  effects: readonly string[],
): Taint | undefined {
  return node.spec?.taints?.find((taint) => effects.includes(taint.effect) && !tolerates(tolerations, taint));
}

interface NodeAffinity {
  nodeAffinity?: { requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: Term[] } };
}

function requiredTerms(spec: PodSpec): Term[] | undefined {
  const { nodeAffinity } = (spec.affinity ?? {}) as NodeAffinity;
  return nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
}

/** Name of the only node a Pod may run on. DaemonSet Pods set it in their node affinity. */
export function boundNode(spec: PodSpec): string | undefined {
  const [field] = requiredTerms(spec)?.[0]?.matchFields ?? [];
  return field?.key === 'metadata.name' && field.operator === 'In' ? field.values?.[0] : undefined;
}

/** Reports whether the labels and the name of the node match the Pod's node selector and affinity. */
export function matchesSelection(node: Node, spec: PodSpec): boolean {
  const labels = node.metadata.labels ?? {};
  for (const [key, value] of Object.entries(spec.nodeSelector ?? {})) if (labels[key] !== value) return false;
  const terms = requiredTerms(spec);
  return terms === undefined || terms.some((term) => matchesTerm(node, term));
}

function matchesTerm(node: Node, { matchExpressions = [], matchFields = [] }: Term): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  const labels = node.metadata.labels ?? {};
  return (
    matchExpressions.every((requirement) => holds(requirement, labels[requirement.key])) &&
    matchFields.every((requirement) => holds(requirement, node.metadata.name))
  );
}

function holds({ operator, values = [] }: Requirement, actual: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return actual !== undefined && values.includes(actual);
    case 'NotIn':
      return actual === undefined || !values.includes(actual);
    case 'Exists':
      return actual !== undefined;
    case 'DoesNotExist':
      return actual === undefined;
    case 'Gt':
      return actual !== undefined && Number(actual) > Number(values[0]);
    case 'Lt':
      return actual !== undefined && Number(actual) < Number(values[0]);
    default:
      return false;
  }
}
