import {
  type FieldError,
  fieldError,
  formatLabelSelectorObject,
  type KubeObject,
  type LabelSelectorObject,
  type Resource,
  type ResourceDefinition,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn } from '../common/printing.ts';
import { validateEnum, validateRequiredText } from '../common/validation.ts';
import { defaultMatchResources, type MatchResources, validateMatchResources } from './validating-admission-policy.ts';

export interface ValidatingAdmissionPolicyBinding extends KubeObject {
  spec?: {
    policyName?: string;
    paramRef?: { name?: string; namespace?: string; selector?: LabelSelectorObject; parameterNotFoundAction?: string };
    matchResources?: MatchResources;
    validationActions?: string[];
  };
}

function validate(binding: ValidatingAdmissionPolicyBinding): FieldError[] {
  const { policyName, matchResources, validationActions = [] } = binding.spec ?? {};
  const errors = validateRequiredText(policyName, 'spec.policyName');
  errors.push(...validateMatchResources(matchResources, 'spec.matchResources'));
  const path = 'spec.validationActions';
  for (const [index, action] of validationActions.entries()) {
    errors.push(...validateEnum(action, ['Audit', 'Deny', 'Warn'], `${path}[${index}]`));
    if (validationActions.indexOf(action) < index) errors.push(fieldError.duplicate(`${path}[${index}]`, action));
  }
  if (validationActions.includes('Deny') && validationActions.includes('Warn')) {
    const text =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
    errors.push(fieldError.invalid(path, validationActions, text));
  }
  if (validationActions.length === 0) {
    errors.push(fieldError.required(path, 'at least one validation action is required'));
  }
  return errors;
}

function formatParameters(binding: ValidatingAdmissionPolicyBinding): string {
  const reference = binding.spec?.paramRef;
  if (reference?.name) return `${reference.namespace || '*'}/${reference.name}`;
  return reference?.selector ? formatLabelSelectorObject(reference.selector) : '<unset>';
}

export const validatingAdmissionPolicyBindingDefinition: ResourceDefinition =
  defineBuiltin<ValidatingAdmissionPolicyBinding>({
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    plural: 'validatingadmissionpolicybindings',
    categories: ['api-extensions'],
    namespaced: false,
    component: 'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBinding',
    conditionalUpdatesOnly: true,
    columns: [nameColumn, column('PolicyName'), column('ParamRef'), ageColumn],
    row: (binding, nowMs) => [
      binding.metadata.name ?? '',
      binding.spec?.policyName ?? '',
      formatParameters(binding),
      age(binding, nowMs),
    ],
    applyDefaults(binding) {
      setDefault(binding, 'spec', {});
      defaultMatchResources(binding.spec?.matchResources);
    },
    validateCreate: validate,
    validateUpdate: validate,
  });

export const ValidatingAdmissionPolicyBindings: Resource<ValidatingAdmissionPolicyBinding> =
  resourceOf<ValidatingAdmissionPolicyBinding>(validatingAdmissionPolicyBindingDefinition);
