import {
  checkQualifiedName,
  deepEqual,
  type FieldError,
  fieldError,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
} from '../../machinery/index.ts';
import { canonicalizeResources, setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn } from '../common/printing.ts';
import { invalid, validateNonNegativeQuantity } from '../common/validation.ts';
import { type ScopedQuota, validateQuotaScopes } from './resource-quota-scopes.ts';

export interface ResourceQuota extends KubeObject {
  spec?: ScopedQuota;
  status?: { hard?: Record<string, string>; used?: Record<string, string> };
}

const standardNames = new Set([
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'persistentvolumeclaims',
  'configmaps',
  'services.nodeports',
  'services.loadbalancers',
]);

function validateAmounts(amounts: Record<string, string> | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const name in amounts) {
    const at = `${path}[${name}]`;
    const problems = checkQualifiedName(name);
    errors.push(...invalid(at, name, problems));
    if (problems.length === 0 && !name.includes('/') && !standardNames.has(name) && !name.includes('hugepages-')) {
      errors.push(fieldError.invalid(at, name, 'must be a standard resource type or fully qualified'));
      errors.push(fieldError.invalid(at, name, 'must be a standard resource for quota'));
    }
    errors.push(...validateNonNegativeQuantity(amounts[name], at));
  }
  return errors;
}

function validate(quota: ResourceQuota): FieldError[] {
  const errors = validateAmounts(quota.spec?.hard, 'spec.hard');
  errors.push(...validateQuotaScopes(quota.spec ?? {}, (name) => standardNames.has(name)));
  return errors;
}

function usage(quota: ResourceQuota, shown: 'limits' | 'requests'): string {
  const { hard = {}, used = {} } = quota.status ?? {};
  return Object.keys(hard)
    .filter((name) => name.startsWith('limits.') === (shown === 'limits'))
    .sort()
    .map((name) => `${name}: ${used[name] ?? '0'}/${hard[name]}`)
    .join(', ');
}

export const resourceQuotaDefinition: ResourceDefinition = defineBuiltin<ResourceQuota>({
  group: '',
  version: 'v1',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  shortNames: ['quota'],
  namespaced: true,
  component: 'io.k8s.api.core.v1.ResourceQuota',
  hasStatus: true,
  noGeneration: true,
  columns: [nameColumn, column('Request'), column('Limit'), ageColumn],
  row: (quota, nowMs) => [
    quota.metadata.name ?? '',
    usage(quota, 'requests'),
    usage(quota, 'limits'),
    age(quota, nowMs),
  ],
  applyDefaults(quota) {
    setDefault(quota, 'spec', {});
    setDefault(quota, 'status', {});
    canonicalizeResources(quota.spec?.hard);
    canonicalizeResources(quota.status?.hard);
    canonicalizeResources(quota.status?.used);
  },
  prepareForCreate(quota) {
    quota.status = {};
  },
  validateCreate: validate,
  validateUpdate(quota, old) {
    const errors = validate(quota);
    if (!deepEqual([...(quota.spec?.scopes ?? [])].sort(), [...(old.spec?.scopes ?? [])].sort())) {
      errors.push(fieldError.invalid('spec.scopes', quota.spec?.scopes ?? null, 'field is immutable'));
    }
    return errors;
  },
  validateStatusUpdate: (quota) => [
    ...validateAmounts(quota.status?.hard, 'status.hard'),
    ...validateAmounts(quota.status?.used, 'status.used'),
  ],
});

export const ResourceQuotas: Resource<ResourceQuota> = resourceOf<ResourceQuota>(resourceQuotaDefinition);
