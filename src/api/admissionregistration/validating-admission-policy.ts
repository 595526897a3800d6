import {
  type FieldError,
  fieldError,
  type JsonObject,
  type KubeObject,
  type LabelSelectorObject,
  type Resource,
  type ResourceDefinition,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn } from '../common/printing.ts';
import { validateEnum } from '../common/validation.ts';
import { type AdmissionRule, defaultRule, validateRule } from './webhook.ts';

export interface MatchResources {
  namespaceSelector?: LabelSelectorObject;
  objectSelector?: LabelSelectorObject;
  resourceRules?: AdmissionRule[];
  excludeResourceRules?: AdmissionRule[];
  matchPolicy?: string;
}

export interface ValidatingAdmissionPolicy extends KubeObject {
  spec?: {
    paramKind?: { apiVersion?: string; kind?: string };
    matchConstraints?: MatchResources;
    validations?: { expression: string; message?: string; reason?: string; messageExpression?: string }[];
    failurePolicy?: string;
    auditAnnotations?: JsonObject[];
    matchConditions?: JsonObject[];
    variables?: JsonObject[];
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
  const errors: FieldError[] = [];
  for (const list of ['resourceRules', 'excludeResourceRules'] as const) {
    for (const [index, rule] of (match?.[list] ?? []).entries()) {
      errors.push(...validateRule(rule, `${path}.${list}[${index}]`));
    }
  }
  return errors;
}

function validate(policy: ValidatingAdmissionPolicy): FieldError[] {
  const { matchConstraints, validations = [], auditAnnotations = [], failurePolicy } = policy.spec ?? {};
  const errors = validateEnum(failurePolicy, ['Fail', 'Ignore'], 'spec.failurePolicy');
  if (!matchConstraints) errors.push(fieldError.required('spec.matchConstraints'));
  else {
    errors.push(...validateMatchResources(matchConstraints, 'spec.matchConstraints'));
    if ((matchConstraints.resourceRules ?? []).length === 0) {
      errors.push(fieldError.required('spec.matchConstraints.resourceRules'));
    }
  }
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const text = 'validations or auditAnnotations must contain at least one item';
    errors.push(fieldError.required('spec.validations', text), fieldError.required('spec.auditAnnotations', text));
  }
  for (const [index, { expression }] of validations.entries()) {
    if (!expression?.trim()) {
      errors.push(fieldError.required(`spec.validations[${index}].expression`, 'expression is not specified'));
    }
  }
  return errors;
}

/** Stored and served; expressions are not evaluated. */
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
    setDefault(policy, 'spec', {});
    setDefault(policy.spec!, 'failurePolicy', 'Fail');
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
