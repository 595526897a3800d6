import {
  checkQualifiedName,
  type FieldError,
  fieldError,
  type LabelSelectorObject,
  validateLabelSelector,
} from '../../machinery/index.ts';
import { invalid, validateRequiredText } from '../common/validation.ts';

export interface NodeSelectorRequirement {
  key: string;
  operator: string;
  values?: string[];
}

export interface NodeSelectorTerm {
  matchExpressions?: NodeSelectorRequirement[];
  matchFields?: NodeSelectorRequirement[];
}

export interface PodAffinityTerm {
  labelSelector?: LabelSelectorObject;
  namespaceSelector?: LabelSelectorObject;
  namespaces?: string[];
  topologyKey: string;
}

export interface PodAffinity {
  requiredDuringSchedulingIgnoredDuringExecution?: PodAffinityTerm[];
  preferredDuringSchedulingIgnoredDuringExecution?: { weight: number; podAffinityTerm: PodAffinityTerm }[];
}

export interface Affinity {
  nodeAffinity?: {
    requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: NodeSelectorTerm[] };
    preferredDuringSchedulingIgnoredDuringExecution?: { weight: number; preference: NodeSelectorTerm }[];
  };
  podAffinity?: PodAffinity;
  podAntiAffinity?: PodAffinity;
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';

function validateRequirement(requirement: NodeSelectorRequirement, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { key = '', operator = '', values = [] } = requirement;
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) {
        errors.push(fieldError.required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
      }
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) {
        const text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
        errors.push(fieldError.forbidden(`${path}.values`, text));
      }
      break;
    case 'Gt':
    case 'Lt':
      if (values.length !== 1) {
        const text = "must be specified single value when `operator` is 'Lt' or 'Gt'";
        errors.push(fieldError.required(`${path}.values`, text));
      }
      break;
    default:
      errors.push(fieldError.invalid(`${path}.operator`, operator, 'not a valid selector operator'));
  }
  errors.push(...invalid(`${path}.key`, key, checkQualifiedName(key)));
  return errors;
}

/** Validates one term of a node selector; the terms are alternatives. */
export function validateNodeSelectorTerm(term: NodeSelectorTerm, path: string): FieldError[] {
  return (term.matchExpressions ?? []).flatMap((requirement, index) =>
    validateRequirement(requirement, `${path}.matchExpressions[${index}]`),
  );
}

function validateWeight(weight: number | undefined, path: string): FieldError[] {
  const value = weight ?? 0;
  return value < 1 || value > 100 ? [fieldError.invalid(`${path}.weight`, value, 'must be in the range 1-100')] : [];
}

function validatePodTerm(term: PodAffinityTerm, path: string): FieldError[] {
  return [
    ...validateLabelSelector(term.labelSelector, `${path}.labelSelector`),
    ...validateLabelSelector(term.namespaceSelector, `${path}.namespaceSelector`),
    ...validateRequiredText(term.topologyKey, `${path}.topologyKey`, 'can not be empty'),
    ...invalid(`${path}.topologyKey`, term.topologyKey ?? '', checkQualifiedName(term.topologyKey ?? '')),
  ];
}

export function validateAffinity(affinity: Affinity, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const node = affinity.nodeAffinity;
  const must = node?.[required];
  if (must) {
    const at = `${path}.nodeAffinity.${required}.nodeSelectorTerms`;
    const terms = must.nodeSelectorTerms ?? [];
    if (terms.length === 0) errors.push(fieldError.required(at, 'must have at least one node selector term'));
    for (const [index, term] of terms.entries()) errors.push(...validateNodeSelectorTerm(term, `${at}[${index}]`));
  }
  for (const [index, { weight, preference }] of (node?.[preferred] ?? []).entries()) {
    const at = `${path}.nodeAffinity.${preferred}[${index}]`;
    errors.push(...validateWeight(weight, at), ...validateNodeSelectorTerm(preference ?? {}, `${at}.preference`));
  }
  for (const field of ['podAffinity', 'podAntiAffinity'] as const) {
    for (const [index, term] of (affinity[field]?.[required] ?? []).entries()) {
      errors.push(...validatePodTerm(term, `${path}.${field}.${required}[${index}]`));
    }
    for (const [index, { weight, podAffinityTerm }] of (affinity[field]?.[preferred] ?? []).entries()) {
      const at = `${path}.${field}.${preferred}[${index}]`;
      errors.push(...validateWeight(weight, at));
      errors.push(...validatePodTerm(podAffinityTerm ?? { topologyKey: '' }, `${at}.podAffinityTerm`));
    }
  }
  return errors;
}
