import { asJson, type FieldError, fieldError } from '../../machinery/index.ts';

/** Selects the objects that a quota counts, by scope name alone or by name and values. */
export interface ScopeSelector {
  matchExpressions?: { scopeName: string; operator: string; values?: string[] }[];
}

export interface ScopedQuota {
  hard?: Record<string, string>;
  scopes?: string[];
  scopeSelector?: ScopeSelector;
}

const podCounts: readonly string[] = ['pods'];
const podAmounts: readonly string[] = [
  ...podCounts,
  'cpu',
  'memory',
  'limits.cpu',
  'limits.memory',
  'requests.cpu',
  'requests.memory',
];

/** Resources that each scope can be combined with. */
const countedByScope: ReadonlyMap<string, readonly string[]> = new Map([
  ['BestEffort', podCounts],
  ['CrossNamespacePodAffinity', podAmounts],
  ['NotBestEffort', podAmounts],
  ['NotTerminating', podAmounts],
  ['PriorityClass', podAmounts],
  ['Terminating', podAmounts],
  ['VolumeAttributesClass', ['persistentvolumeclaims', 'requests.storage']],
]);

/** Scopes that take no values. */
const plainScopes: ReadonlySet<string> = new Set([
  'BestEffort',
  'CrossNamespacePodAffinity',
  'NotBestEffort',
  'NotTerminating',
  'Terminating',
]);

const contradictions: readonly (readonly [string, string])[] = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
];

/**
 * Checks that scopes are known, fit the limited resources and do not contradict each other. `isStandard` identifies the
 * resources that the server counts itself; other resources can be limited in any scope.
 */
export function validateQuotaScopes(spec: ScopedQuota, isStandard: (resource: string) => boolean): FieldError[] {
  const limited = Object.keys(spec.hard ?? {}).filter(isStandard);
  return [...validateScopes(spec.scopes ?? [], limited), ...validateSelector(spec.scopeSelector, limited)];
}

function validateScopes(scopes: readonly string[], limited: readonly string[]): FieldError[] {
  const path = 'spec.scopes';
  const refuse = (detail: string): FieldError => fieldError.invalid(path, [...scopes], detail);
  const errors: FieldError[] = [];
  if (scopes.some((scope) => !countedByScope.has(scope))) errors.push(refuse('unsupported scope'));
  if (scopes.some((scope) => !fits(scope, limited))) errors.push(refuse('unsupported scope applied to resource'));
  if (contradict(scopes)) errors.push(refuse('conflicting scopes'));
  return errors;
}

function validateSelector(selector: ScopeSelector | undefined, limited: readonly string[]): FieldError[] {
  const requirements = selector?.matchExpressions ?? [];
  const path = 'spec.scopeSelector.matchExpressions';
  const shown = selector && asJson(selector);
  const errors: FieldError[] = [];
  for (const { scopeName, operator, values = [] } of requirements) {
    if (!countedByScope.has(scopeName)) {
      errors.push(fieldError.invalid(`${path}.scopeName`, scopeName, 'unsupported scope'));
    }
    if (!fits(scopeName, limited)) {
      errors.push(fieldError.invalid(path, shown, 'unsupported scope applied to resource'));
    }
    if (plainScopes.has(scopeName) && operator !== 'Exists') {
      const detail =
        "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
      errors.push(fieldError.invalid(`${path}.operator`, operator, detail));
    }
    errors.push(...validateOperator(operator, values, path));
  }
  if (contradict(requirements.map(({ scopeName }) => scopeName))) {
    errors.push(fieldError.invalid(path, shown, 'conflicting scopes'));
  }
  return errors;
}

function validateOperator(operator: string, values: readonly string[], path: string): FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn': {
      if (values.length > 0) return [];
      const detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
      return [fieldError.required(`${path}.values`, detail)];
    }
    case 'Exists':
    case 'DoesNotExist': {
      if (values.length === 0) return [];
      const detail = "must be no value when `operator` is 'Exists' or 'DoesNotExist' for scope selector";
      return [fieldError.invalid(`${path}.values`, [...values], detail)];
    }
    default:
      return [fieldError.invalid(`${path}.operator`, operator, 'not a valid selector operator')];
  }
}

function fits(scope: string, limited: readonly string[]): boolean {
  const counted = countedByScope.get(scope);
  return !counted || limited.every((resource) => counted.includes(resource));
}

function contradict(scopes: readonly string[]): boolean {
  return contradictions.some((pair) => pair.every((scope) => scopes.includes(scope)));
}
