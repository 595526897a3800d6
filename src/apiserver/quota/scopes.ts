import { asTyped, labelSelectorFromObject, type UnstructuredObject } from '../../machinery/index.ts';
import { isBestEffort, type ResourcefulPod } from '../pods/pod-resources.ts';

export interface ScopeSelector {
  scopeName: string;
  operator: string;
  values?: string[];
}

/** The spec of a quota, which selects and limits objects. */
export interface QuotaSpec {
  hard?: Record<string, string>;
  scopes?: string[];
  scopeSelector?: { matchExpressions?: ScopeSelector[] };
}

export function scopesOf({ scopes = [], scopeSelector }: QuotaSpec): ScopeSelector[] {
  const plain = scopes.map((scopeName) => ({ scopeName, operator: 'Exists' }));
  return [...plain, ...(scopeSelector?.matchExpressions ?? [])];
}

interface ScopedPod extends ResourcefulPod {
  spec?: ResourcefulPod['spec'] & {
    activeDeadlineSeconds?: number;
    priorityClassName?: string;
    affinity?: { podAffinity?: AffinityTerms; podAntiAffinity?: AffinityTerms };
  };
}

interface AffinityTerms {
  requiredDuringSchedulingIgnoredDuringExecution?: AffinityTerm[];
  preferredDuringSchedulingIgnoredDuringExecution?: { podAffinityTerm?: AffinityTerm }[];
}

interface AffinityTerm {
  namespaces?: string[];
  namespaceSelector?: object;
}

/** Tells whether a pod has an active deadline; unrelated to its deletion. */
export function isTerminating(object: UnstructuredObject): boolean {
  return (asTyped<ScopedPod>(object).spec?.activeDeadlineSeconds ?? -1) >= 0;
}

export function podMatchesScope(object: UnstructuredObject, selector: ScopeSelector): boolean {
  const pod = asTyped<ScopedPod>(object);
  switch (selector.scopeName) {
    case 'Terminating':
      return isTerminating(object);
    case 'NotTerminating':
      return !isTerminating(object);
    case 'BestEffort':
      return isBestEffort(pod);
    case 'NotBestEffort':
      return !isBestEffort(pod);
    case 'PriorityClass':
      return nameMatches(selector, pod.spec?.priorityClassName);
    case 'CrossNamespacePodAffinity':
      return usesOtherNamespaces(pod);
    default:
      return false;
  }
}

interface ScopedClaim {
  spec?: { volumeAttributesClassName?: string };
  status?: {
    currentVolumeAttributesClassName?: string;
    modifyVolumeStatus?: { targetVolumeAttributesClassName?: string };
  };
}

export function claimMatchesScope(object: UnstructuredObject, selector: ScopeSelector): boolean {
  if (selector.scopeName !== 'VolumeAttributesClass') return false;
  const { spec, status } = asTyped<ScopedClaim>(object);
  const names = [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ].filter((name) => name !== undefined && name !== '');
  return names.length === 0 ? nameMatches(selector, undefined) : names.some((name) => nameMatches(selector, name));
}

/** Matches an optional name by the rules of label selectors. */
function nameMatches({ operator, values }: ScopeSelector, name: string | undefined): boolean {
  const expression = { key: 'name', operator, ...(values && { values }) };
  return labelSelectorFromObject({ matchExpressions: [expression] }).matches(name ? { name } : {});
}

function usesOtherNamespaces({ spec }: ScopedPod): boolean {
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {};
  return [podAffinity, podAntiAffinity].some((terms) =>
    [
      ...(terms?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...(terms?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm),
    ].some((term) => (term?.namespaces?.length ?? 0) > 0 || term?.namespaceSelector !== undefined),
  );
}
