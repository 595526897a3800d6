import {
  checkDns1123Subdomain,
  checkPathSegmentName,
  deepEqual,
  type FieldError,
  fieldError,
  type JsonValue,
  type KubeObject,
  type LabelSelectorObject,
  labelSelectorFromObject,
  type TableColumn,
  validateLabelSelector,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { age, ageColumn, column, nameColumn, wideColumn } from '../common/printing.ts';
import { invalid, notSupported } from '../common/validation.ts';

export const rbacGroup = 'rbac.authorization.k8s.io';

export interface PolicyRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

export interface RoleRef {
  apiGroup?: string;
  kind: string;
  name: string;
}

export interface Subject {
  kind: string;
  apiGroup?: string;
  name: string;
  namespace?: string;
}

export interface Binding extends KubeObject {
  roleRef: RoleRef;
  subjects?: Subject[];
}

export interface AggregationRule {
  clusterRoleSelectors?: LabelSelectorObject[];
}

export function validateRules(
  rules: readonly PolicyRule[] | undefined,
  { namespaced }: { namespaced: boolean },
): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, rule] of (rules ?? []).entries()) {
    const path = `rules[${index}]`;
    const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
    if (verbs.length === 0) errors.push(fieldError.required(`${path}.verbs`, 'verbs must contain at least one value'));
    if (nonResourceURLs.length > 0) {
      const at = `${path}.nonResourceURLs`;
      if (namespaced) {
        const text = 'namespaced rules cannot apply to non-resource URLs';
        errors.push(fieldError.invalid(at, nonResourceURLs, text));
      }
      if (apiGroups.length > 0 || resources.length > 0 || resourceNames.length > 0) {
        const text = 'rules cannot apply to both regular resources and non-resource URLs';
        errors.push(fieldError.invalid(at, nonResourceURLs, text));
      }
      continue;
    }
    if (apiGroups.length === 0) {
      errors.push(fieldError.required(`${path}.apiGroups`, 'resource rules must supply at least one api group'));
    }
    if (resources.length === 0) {
      errors.push(fieldError.required(`${path}.resources`, 'resource rules must supply at least one resource'));
    }
  }
  return errors;
}

export function validateAggregation(rule: AggregationRule | undefined): FieldError[] {
  if (!rule) return [];
  const path = 'aggregationRule.clusterRoleSelectors';
  const selectors = rule.clusterRoleSelectors ?? [];
  if (selectors.length === 0) {
    const text = 'at least one clusterRoleSelector required if aggregationRule is non-nil';
    return [fieldError.required(path, text)];
  }
  return selectors.flatMap((selector, index) => validateLabelSelector(selector, `${path}[${index}]`));
}

/** Tells whether an aggregation rule selects a ClusterRole with these labels. */
export function isAggregated(rule: AggregationRule, labels: Record<string, string> | undefined): boolean {
  return (rule.clusterRoleSelectors ?? []).some((selector) => labelSelectorFromObject(selector).matches(labels ?? {}));
}

export function defaultBinding(binding: Binding): void {
  setDefault(binding, 'roleRef', { kind: '', name: '' });
  setDefault(binding.roleRef, 'apiGroup', rbacGroup);
  for (const subject of binding.subjects ?? []) {
    if (subject.kind === 'User' || subject.kind === 'Group') setDefault(subject, 'apiGroup', rbacGroup);
  }
}

export function validateBinding(
  binding: Binding,
  kinds: readonly string[],
  { namespaced }: { namespaced: boolean },
): FieldError[] {
  const errors: FieldError[] = [];
  const { apiGroup, kind, name } = binding.roleRef;
  if (apiGroup !== rbacGroup) errors.push(notSupported('roleRef.apiGroup', apiGroup ?? '', [rbacGroup]));
  if (!kinds.includes(kind)) errors.push(notSupported('roleRef.kind', kind ?? '', [...kinds]));
  if (!name) errors.push(fieldError.required('roleRef.name'));
  else errors.push(...invalid('roleRef.name', name, checkPathSegmentName(name)));
  for (const [index, subject] of (binding.subjects ?? []).entries()) {
    errors.push(...validateSubject(subject, namespaced, `subjects[${index}]`));
  }
  return errors;
}

function validateSubject(subject: Subject, namespaced: boolean, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { kind = '', apiGroup = '', name = '', namespace = '' } = subject;
  if (name === '') errors.push(fieldError.required(`${path}.name`));
  switch (kind) {
    case 'ServiceAccount':
      if (name !== '') errors.push(...invalid(`${path}.name`, name, checkDns1123Subdomain(name)));
      if (apiGroup !== '') errors.push(notSupported(`${path}.apiGroup`, apiGroup, ['']));
      if (!namespaced && namespace === '') errors.push(fieldError.required(`${path}.namespace`));
      break;
    case 'User':
    case 'Group':
      if (apiGroup !== rbacGroup) errors.push(notSupported(`${path}.apiGroup`, apiGroup, [rbacGroup]));
      break;
    default:
      errors.push(notSupported(`${path}.kind`, kind, ['ServiceAccount', 'User', 'Group']));
  }
  return errors;
}

export function validateRoleRefUnchanged(binding: Binding, old: Binding): FieldError[] {
  return deepEqual(binding.roleRef, old.roleRef)
    ? []
    : [fieldError.invalid('roleRef', binding.roleRef, 'cannot change roleRef')];
}

export const bindingColumns: readonly TableColumn[] = [
  nameColumn,
  column('Role'),
  ageColumn,
  wideColumn('Users'),
  wideColumn('Groups'),
  wideColumn('ServiceAccounts'),
];

export function bindingRow(binding: Binding, nowMs: number): JsonValue[] {
  const names = (kind: string): string =>
    (binding.subjects ?? [])
      .filter((subject) => subject.kind === kind)
      .map((subject) =>
        subject.kind === 'ServiceAccount' ? `${subject.namespace ?? ''}/${subject.name}` : subject.name,
      )
      .join(', ');
  return [
    binding.metadata.name ?? '',
    `${binding.roleRef.kind}/${binding.roleRef.name}`,
    age(binding, nowMs),
    names('User'),
    names('Group'),
    names('ServiceAccount'),
  ];
}
