import {
  checkDns1035Label,
  checkDns1123Subdomain,
  checkPathSegmentName,
  checkQualifiedName,
  compilePolicy,
  type FieldError,
  fieldError,
  isCelIdentifier,
  type JsonObject,
  type KubeObject,
  type LabelSelectorObject,
  type Resource,
  type ResourceDefinition,
  validateLabelSelector,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn } from '../common/printing.ts';
import { invalid, validateEnum } from '../common/validation.ts';
import { type MatchCondition, programErrors, validateMatchConditions } from './match-condition.ts';
import { type AdmissionRule, defaultRule, validateRule } from './webhook.ts';

export interface MatchResources {
  namespaceSelector?: LabelSelectorObject;
  objectSelector?: LabelSelectorObject;
  resourceRules?: AdmissionRule[];
  excludeResourceRules?: AdmissionRule[];
  matchPolicy?: string;
}

export interface PolicyValidation {
  expression: string;
  message?: string;
  reason?: string;
  messageExpression?: string;
}

export interface ValidatingAdmissionPolicy extends KubeObject {
  spec?: {
    paramKind?: { apiVersion?: string; kind?: string };
    matchConstraints?: MatchResources;
    validations?: PolicyValidation[];
    failurePolicy?: string;
    auditAnnotations?: { key: string; valueExpression: string }[];
    matchConditions?: MatchCondition[];
    variables?: { name: string; expression: string }[];
  };
  status?: JsonObject;
}

export function defaultMatchResources(match: MatchResources | undefined): void {
  if (!match) return;
  setDefault(match, 'matchPolicy', 'Equivalent');
  setDefault(match, 'namespaceSelector', {});
  setDefault(match, 'objectSelector', {});
  for (const rule of [...(match.resourceRules ?? []), ...(match.excludeResourceRules ?? [])]) defaultRule(rule);
}

export function validateMatchResources(match: MatchResources | undefined, path: string): FieldError[] {
  if (!match) return [];
  const errors = validateEnum(match.matchPolicy, ['Equivalent', 'Exact'], `${path}.matchPolicy`);
  errors.push(...validateLabelSelector(match.namespaceSelector, `${path}.namespaceSelector`));
  errors.push(...validateLabelSelector(match.objectSelector, `${path}.objectSelector`));
  for (const list of ['resourceRules', 'excludeResourceRules'] as const) {
    for (const [index, rule] of (match[list] ?? []).entries()) {
      const at = `${path}.${list}[${index}]`;
      errors.push(...validateResourceNames(rule.resourceNames, `${at}.resourceNames`), ...validateRule(rule, at));
    }
  }
  return errors;
}

function validateResourceNames(names: readonly string[] = [], path: string): FieldError[] {
  return names.flatMap((name, index) => {
    const errors = invalid(`${path}[${index}]`, name, checkPathSegmentName(name));
    return names.indexOf(name) < index ? [...errors, fieldError.duplicate(`${path}[${index}]`, name)] : errors;
  });
}

function validateParamKind({ apiVersion, kind }: { apiVersion?: string; kind?: string }, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!apiVersion) errors.push(fieldError.required(`${path}.apiVersion`));
  else {
    const [group, version, ...rest] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
    const at = `${path}.apiVersion`;
    if (rest.length > 0) {
      errors.push(fieldError.invalid(at, apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
    } else {
      if (group) errors.push(...joined(at, group, checkDns1123Subdomain(group)));
      if (!version) errors.push(fieldError.invalid(at, apiVersion, 'version must be specified'));
      else errors.push(...joined(at, version, checkDns1035Label(version)));
    }
  }
  if (!kind) errors.push(fieldError.required(`${path}.kind`));
  else {
    const problems = checkDns1035Label(kind.toLowerCase());
    if (problems.length > 0) {
      const text = `may have mixed case, but should otherwise match: ${problems.join(',')}`;
      errors.push(fieldError.invalid(`${path}.kind`, kind, text));
    }
  }
  return errors;
}

function joined(path: string, value: string, problems: readonly string[]): FieldError[] {
  return problems.length === 0 ? [] : [fieldError.invalid(path, value, problems.join(','))];
}

function validateVariables(variables: readonly { name: string; expression: string }[]): FieldError[] {
  return variables.flatMap(({ name, expression }, index) => {
    const path = `spec.variables[${index}]`;
    const errors: FieldError[] = [];
    if (!name?.trim()) errors.push(fieldError.required(`${path}.name`, 'name is not specified'));
    else if (!isCelIdentifier(name)) {
      errors.push(fieldError.invalid(`${path}.name`, name, 'must be a valid CEL identifier'));
    }
    if (!expression?.trim()) errors.push(fieldError.required(`${path}.expression`, 'expression is not specified'));
    return errors;
  });
}

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];

function validateValidation(validation: PolicyValidation, path: string): FieldError[] {
  const { expression, message, messageExpression, reason } = validation;
  const errors: FieldError[] = [];
  if (!expression?.trim()) errors.push(fieldError.required(`${path}.expression`, 'expression is not specified'));
  if (messageExpression && messageExpression.trim() === '') {
    errors.push(fieldError.invalid(`${path}.messageExpression`, messageExpression, 'must be non-empty if specified'));
  }
  if (message && message.trim() === '') {
    errors.push(fieldError.invalid(`${path}.message`, message, 'must be non-empty if specified'));
  } else if (message && /[\r\n]/.test(message.trim())) {
    errors.push(fieldError.invalid(`${path}.message`, message, 'must not contain line breaks'));
  }
  if (reason !== undefined) errors.push(...validateEnum(reason, reasons, `${path}.reason`));
  return errors;
}

function validate(policy: ValidatingAdmissionPolicy): FieldError[] {
  const spec = policy.spec ?? {};
  const { matchConstraints, paramKind, variables = [], validations = [], auditAnnotations = [] } = spec;
  const errors = validateEnum(spec.failurePolicy, ['Fail', 'Ignore'], 'spec.failurePolicy');
  if (paramKind) errors.push(...validateParamKind(paramKind, 'spec.paramKind'));
  if (!matchConstraints) errors.push(fieldError.required('spec.matchConstraints'));
  else {
    errors.push(...validateMatchResources(matchConstraints, 'spec.matchConstraints'));
    if ((matchConstraints.resourceRules ?? []).length === 0) {
      errors.push(fieldError.required('spec.matchConstraints.resourceRules'));
    }
  }
  const hasParams = paramKind !== undefined;
  errors.push(...validateMatchConditions(spec.matchConditions, 'spec.matchConditions', { hasParams }));
  errors.push(...validateVariables(variables));
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const text = 'validations or auditAnnotations must contain at least one item';
    errors.push(fieldError.required('spec.validations', text), fieldError.required('spec.auditAnnotations', text));
  }
  for (const [index, validation] of validations.entries()) {
    errors.push(...validateValidation(validation, `spec.validations[${index}]`));
  }
  for (const [index, { key, valueExpression }] of auditAnnotations.entries()) {
    const path = `spec.auditAnnotations[${index}]`;
    const name = `${policy.metadata.name}/${key}`;
    errors.push(...invalid(`${path}.key`, name, checkQualifiedName(name)));
    if (!valueExpression?.trim()) {
      errors.push(fieldError.required(`${path}.valueExpression`, 'valueExpression is not specified'));
    }
  }
  // Errors of the match conditions are already in the list.
  for (const { path, program } of compilePolicy({ ...spec, matchConditions: [] }).problems) {
    errors.push(...programErrors(program, `spec.${path}`));
  }
  return errors;
}

export const validatingAdmissionPolicyDefinition: ResourceDefinition = defineBuiltin<ValidatingAdmissionPolicy>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingAdmissionPolicy',
  plural: 'validatingadmissionpolicies',
  categories: ['api-extensions'],
  namespaced: false,
  component: 'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicy',
  conditionalUpdatesOnly: true,
  hasStatus: true,
  columns: [nameColumn, column('Validations', 'integer'), column('ParamKind'), ageColumn],
  row(policy, nowMs) {
    const kind = policy.spec?.paramKind;
    return [
      policy.metadata.name ?? '',
      (policy.spec?.validations ?? []).length,
      kind ? `${kind.apiVersion ?? ''}/${kind.kind ?? ''}` : '<unset>',
      age(policy, nowMs),
    ];
  },
  applyDefaults(policy) {
    setDefault(setDefault(policy, 'spec', {}), 'failurePolicy', 'Fail');
    defaultMatchResources(policy.spec?.matchConstraints);
    setDefault(policy, 'status', {});
  },
  prepareForCreate(policy) {
    policy.status = {};
  },
  validateCreate: validate,
  validateUpdate: validate,
});

export const ValidatingAdmissionPolicies: Resource<ValidatingAdmissionPolicy> = resourceOf<ValidatingAdmissionPolicy>(
  validatingAdmissionPolicyDefinition,
);
