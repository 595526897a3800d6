import {
  type Condition,
  checkDns1035Label,
  checkDns1123Subdomain,
  checkPort,
  type FieldError,
  fieldError,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn } from '../common/printing.ts';
import { invalid, notSupported } from '../common/validation.ts';

export interface ApiService extends KubeObject {
  spec: {
    service?: { namespace?: string; name?: string; port?: number };
    group?: string;
    version?: string;
    insecureSkipTLSVerify?: boolean;
    caBundle?: string;
    groupPriorityMinimum?: number;
    versionPriority?: number;
  };
  status?: { conditions?: Condition[] };
}

function validate(object: ApiService): FieldError[] {
  const { service, group = '', version = '', groupPriorityMinimum = 0, versionPriority = 0 } = object.spec;
  const errors: FieldError[] = [];
  const expected = `${version}.${group}`;
  if (object.metadata.name !== expected) {
    const text = `must be \`spec.version+"."+spec.group\`: "${expected}"`;
    errors.push(fieldError.invalid('metadata.name', object.metadata.name ?? '', text));
  }
  if (group === '') {
    if (version !== 'v1') {
      const text = 'only v1 may have an empty group and it better be legacy kube';
      errors.push(fieldError.required('spec.group', text));
    }
  } else errors.push(...invalid('spec.group', group, checkDns1123Subdomain(group)));
  errors.push(...invalid('spec.version', version, checkDns1035Label(version)));
  if (groupPriorityMinimum <= 0 || groupPriorityMinimum > 20000) {
    const text = 'must be positive and less than 20000';
    errors.push(fieldError.invalid('spec.groupPriorityMinimum', groupPriorityMinimum, text));
  }
  if (versionPriority <= 0 || versionPriority > 1000) {
    const text = 'must be positive and less than 1000';
    errors.push(fieldError.invalid('spec.versionPriority', versionPriority, text));
  }
  errors.push(...validateBackend(object, service));
  return errors;
}

function validateBackend(object: ApiService, service: ApiService['spec']['service']): FieldError[] {
  const { caBundle, insecureSkipTLSVerify = false } = object.spec;
  const errors: FieldError[] = [];
  if (!service) {
    if (caBundle) {
      const bytes = `${Buffer.from(caBundle, 'base64').length} bytes`;
      errors.push(fieldError.invalid('spec.caBundle', bytes, 'local APIServices may not have a caBundle'));
    }
    if (insecureSkipTLSVerify) {
      const text = 'local APIServices may not have insecureSkipTLSVerify';
      errors.push(fieldError.invalid('spec.insecureSkipTLSVerify', true, text));
    }
    return errors;
  }
  if (!service.namespace) errors.push(fieldError.required('spec.service.namespace'));
  if (!service.name) errors.push(fieldError.required('spec.service.name'));
  const problems = checkPort(service.port ?? 443);
  if (problems.length > 0) {
    errors.push(fieldError.invalid('spec.service.port', service.port, `port is not valid: ${problems.join(', ')}`));
  }
  if (insecureSkipTLSVerify && caBundle) {
    errors.push(fieldError.invalid('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present'));
  }
  return errors;
}

function availability(object: ApiService): string {
  const condition = object.status?.conditions?.find((candidate) => candidate.type === 'Available');
  if (!condition) return 'Unknown';
  if (condition.status === 'True') return 'True';
  return `${condition.status} (${condition.reason ?? ''})`;
}

export const apiServiceDefinition: ResourceDefinition = defineBuiltin<ApiService>({
  group: 'apiregistration.k8s.io',
  version: 'v1',
  kind: 'APIService',
  plural: 'apiservices',
  categories: ['api-extensions'],
  namespaced: false,
  component: 'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService',
  conditionalUpdatesOnly: true,
  hasStatus: true,
  noGeneration: true,
  columns: [nameColumn, column('Service'), column('Available'), ageColumn],
  row: (object, nowMs) => [
    object.metadata.name ?? '',
    object.spec.service ? `${object.spec.service.namespace}/${object.spec.service.name}` : 'Local',
    availability(object),
    age(object, nowMs),
  ],
  applyDefaults(object) {
    setDefault(object, 'spec', {});
    if (object.spec.service) setDefault(object.spec.service, 'port', 443);
    setDefault(object, 'status', {});
  },
  prepareForCreate(object) {
    object.status = {};
    if (object.spec.service === undefined) {
      // This server serves the group itself, so no availability check is needed.
      object.status.conditions = [
        {
          type: 'Available',
          status: 'True',
          reason: 'Local',
          message: 'Local APIServices are always available',
        },
      ];
    }
  },
  validateCreate: validate,
  validateUpdate: validate,
  validateStatusUpdate: (object) =>
    (object.status?.conditions ?? []).flatMap((condition, index) =>
      ['True', 'False', 'Unknown'].includes(condition.status)
        ? []
        : [notSupported(`status.conditions[${index}].status`, condition.status, ['True', 'False', 'Unknown'])],
    ),
});

export const ApiServices: Resource<ApiService> = resourceOf<ApiService>(apiServiceDefinition);
