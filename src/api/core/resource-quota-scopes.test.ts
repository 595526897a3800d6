import { describe, expect, it } from 'vitest';
import { fieldErrorBody } from '../../machinery/index.ts';
import { type ScopedQuota, validateQuotaScopes } from './resource-quota-scopes.ts';

function problems(spec: ScopedQuota): string[] {
  const errors = validateQuotaScopes(spec, (resource) => !resource.includes('/'));
  return errors.map((error) => `${error.field}: ${fieldErrorBody(error)}`);
}

const applied = (scopes: string): string =>
  `spec.scopes: Invalid value: ${scopes}: unsupported scope applied to resource`;
const selector = 'spec.scopeSelector.matchExpressions';

describe('the scopes of a ResourceQuota', () => {
  it.each<[string, ScopedQuota]>([
    ['none', { hard: { services: '1' } }],
    ['BestEffort counting pods', { hard: { pods: '1' }, scopes: ['BestEffort'] }],
    ['NotBestEffort limiting cpu', { hard: { 'requests.cpu': '1', pods: '2' }, scopes: ['NotBestEffort'] }],
    ['any scope for resources of others', { hard: { 'example.com/gpu': '1' }, scopes: ['BestEffort'] }],
    [
      'a class of volumes',
      {
        hard: { 'requests.storage': '1Gi' },
        scopeSelector: { matchExpressions: [{ scopeName: 'VolumeAttributesClass', operator: 'In', values: ['fast'] }] },
      },
    ],
    [
      'a plain scope that exists',
      { scopeSelector: { matchExpressions: [{ scopeName: 'BestEffort', operator: 'Exists' }] } },
    ],
  ])('accepts %s', (_, spec) => {
    expect(problems(spec)).toEqual([]);
  });

  // Messages of kube-apiserver 1.34.
  it.each<[string, ScopedQuota, string[]]>([
    [
      'an unknown scope',
      { hard: { services: '1' }, scopes: ['Bogus'] },
      ['spec.scopes: Invalid value: ["Bogus"]: unsupported scope'],
    ],
    [
      'a scope that does not count what is limited',
      { hard: { services: '1' }, scopes: ['BestEffort'] },
      [applied('["BestEffort"]')],
    ],
    ['amounts for pods that ask for none', { hard: { cpu: '1' }, scopes: ['BestEffort'] }, [applied('["BestEffort"]')]],
    [
      'scopes that contradict each other',
      { hard: { pods: '1' }, scopes: ['BestEffort', 'NotBestEffort'] },
      ['spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes'],
    ],
    [
      'a selector without the values it needs',
      { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In' }] } },
      [
        `${selector}.values: Required value: must be at least one value when \`operator\` is 'In' or 'NotIn' for scope selector`,
      ],
    ],
    [
      'a selector with values it cannot use',
      { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'Exists', values: ['a'] }] } },
      [
        `${selector}.values: Invalid value: ["a"]: must be no value when \`operator\` is 'Exists' or 'DoesNotExist' for scope selector`,
      ],
    ],
    [
      'an unknown operator',
      { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'Foo' }] } },
      [`${selector}.operator: Invalid value: "Foo": not a valid selector operator`],
    ],
  ])('refuses %s', (_, spec, expected) => {
    expect(problems(spec)).toEqual(expected);
  });
});
