import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkHttpPath,
  checkPathSegmentName,
  type FieldError,
  fieldError,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
  validateImmutable,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn } from '../common/printing.ts';
import { invalid, notSupported } from '../common/validation.ts';

export interface IngressClass extends KubeObject {
  spec?: {
    controller?: string;
    parameters?: { apiGroup?: string; kind: string; name: string; scope?: string; namespace?: string };
  };
}

function validateController(controller: string): FieldError[] {
  const path = 'spec.controller';
  const errors: FieldError[] = [];
  if (controller.length > 250) errors.push(fieldError.tooLong(path, controller, 250));
  if (controller === '') return [...errors, fieldError.required(path)];
  const slash = controller.indexOf('/');
  const host = controller.slice(0, Math.max(slash, 0));
  const rest = controller.slice(slash + 1);
  if (slash < 0 || host === '' || rest === '') {
    errors.push(fieldError.invalid(path, controller, 'must be a domain-prefixed path (such as "acme.io/foo")'));
    return errors;
  }
  errors.push(...invalid(path, host, checkDns1123Subdomain(host)));
  errors.push(...invalid(path, rest, checkHttpPath(rest)));
  return errors;
}

function validate(object: IngressClass): FieldError[] {
  const errors = validateController(object.spec?.controller ?? '');
  const parameters = object.spec?.parameters;
  if (!parameters) return errors;
  const path = 'spec.parameters';
  if (parameters.apiGroup !== undefined) {
    errors.push(...invalid(`${path}.apiGroup`, parameters.apiGroup, checkDns1123Subdomain(parameters.apiGroup)));
  }
  for (const field of ['kind', 'name'] as const) {
    const value = parameters[field];
    if (!value) errors.push(fieldError.required(`${path}.${field}`));
    else errors.push(...invalid(`${path}.${field}`, value, checkPathSegmentName(value)));
  }
  const scope = parameters.scope ?? '';
  if (scope !== 'Cluster' && scope !== 'Namespace') {
    errors.push(notSupported(`${path}.scope`, scope, ['Cluster', 'Namespace']));
  } else if (scope === 'Namespace') {
    if (!parameters.namespace) {
      errors.push(fieldError.required(`${path}.namespace`, "`parameters.scope` is set to 'Namespace'"));
    } else {
      errors.push(...invalid(`${path}.namespace`, parameters.namespace, checkDns1123Label(parameters.namespace)));
    }
  } else if (parameters.namespace !== undefined) {
    errors.push(fieldError.forbidden(`${path}.namespace`, "`parameters.scope` is set to 'Cluster'"));
  }
  return errors;
}

function formatParameters(object: IngressClass): string {
  const parameters = object.spec?.parameters;
  if (!parameters) return '<none>';
  const kind = parameters.apiGroup === undefined ? parameters.kind : `${parameters.kind}.${parameters.apiGroup}`;
  return `${kind}/${parameters.name}`;
}

export const ingressClassDefinition: ResourceDefinition = defineBuiltin<IngressClass>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'IngressClass',
  plural: 'ingressclasses',
  namespaced: false,
  component: 'io.k8s.api.networking.v1.IngressClass',
  columns: [nameColumn, column('Controller'), column('Parameters'), ageColumn],
  row: (object, nowMs) => [
    object.metadata.name ?? '',
    object.spec?.controller ?? '',
    formatParameters(object),
    age(object, nowMs),
  ],
  applyDefaults(object) {
    setDefault(object, 'spec', {});
    if (object.spec?.parameters) setDefault(object.spec.parameters, 'scope', 'Cluster');
  },
  validateCreate: validate,
  validateUpdate: (object, old) => [
    ...validate(object),
    ...validateImmutable(object.spec?.controller, old.spec?.controller, 'spec.controller'),
  ],
});

export const IngressClasses: Resource<IngressClass> = resourceOf<IngressClass>(ingressClassDefinition);
