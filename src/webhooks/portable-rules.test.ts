import { describe, expect, it } from 'vitest';
import { ownDefinitions, TenantControlPlanes } from '../api/index.ts';
import { must, type ResourceDefinition, systemClock, systemRandom } from '../machinery/index.ts';
import { type AdmissionOptions, validate } from './admission.ts';
import type { AdmissionRequest } from './admission-review.ts';
import { customResourceDefinitionFor, validatingConfiguration } from './configurations.ts';
import { hasLaterRules, withoutLaterRules } from './portable-rules.ts';
import { ReviewedKinds } from './reviewed-kinds.ts';

const named = (kind: string): ResourceDefinition =>
  must(
    ownDefinitions.find((one) => one.kind === kind),
    kind,
  );

const options: AdmissionOptions = {
  kinds: new ReviewedKinds(ownDefinitions),
  clock: systemClock,
  random: systemRandom,
  readLive: async () => {
    throw new Error('nothing is scaled here');
  },
};

function created(podCidr: string): AdmissionRequest {
  const { group, version, kind, plural } = TenantControlPlanes;
  return {
    uid: 'u',
    operation: 'CREATE',
    resource: { group, version, resource: plural },
    subResource: '',
    requestVersion: version,
    name: 'plane',
    namespace: 'default',
    user: { name: 'someone', uid: '', groups: [] },
    dryRun: false,
    patchedBy: undefined,
    object: {
      apiVersion: `${group}/${version}`,
      kind,
      metadata: { name: 'plane', namespace: 'default' },
      spec: {
        controlPlane: { service: { serviceType: 'ClusterIP' } },
        kubernetes: { version: 'v1.33.4', kubelet: {} },
        networkProfile: { podCidr },
      },
    },
    oldObject: undefined,
  };
}

describe('rules unknown to older API servers', () => {
  it('are in no published definition, and all other rules stay', () => {
    const published = ownDefinitions.map((one) => JSON.stringify(customResourceDefinitionFor(one, {})));
    expect(published.filter((text) => /\b(isIP|isCIDR|quantity|format\.\w+)\(/.test(text))).toEqual([]);
    const tenant = JSON.stringify(customResourceDefinitionFor(named('TenantControlPlane'), {}));
    expect(tenant).toContain('changing the cluster domain is not supported');
  });

  it('are checked by the webhook, even where a definition needs none otherwise', async () => {
    expect(hasLaterRules(named('TenantControlPlane'))).toBe(true);
    const { webhooks = [] } = validatingConfiguration({
      definitions: [{ ...named('TenantControlPlane'), schemaSaysAll: true }],
      endpoint: { url: 'https://127.0.0.1:1' },
    });
    expect(webhooks).toHaveLength(1);
    expect(await validate(created('10.244.0.0/33'), options)).toMatchObject({
      allowed: false,
      status: { code: 422, details: { causes: [{ field: 'spec.networkProfile.podCidr' }] } },
    });
    expect(await validate(created('10.244.0.0/16'), options)).toMatchObject({ allowed: true });
  });

  it('leave no empty list and are not confused with a field of that name', () => {
    const schema = {
      type: 'object',
      properties: {
        'x-kubernetes-validations': { type: 'array' },
        address: { type: 'string', 'x-kubernetes-validations': [{ rule: 'isIP(self)' }] },
        both: { type: 'string', 'x-kubernetes-validations': [{ rule: 'isCIDR(self)' }, { rule: "self != ''" }] },
      },
    };
    expect(withoutLaterRules(schema)).toEqual({
      type: 'object',
      properties: {
        'x-kubernetes-validations': { type: 'array' },
        address: { type: 'string' },
        both: { type: 'string', 'x-kubernetes-validations': [{ rule: "self != ''" }] },
      },
    });
  });
});
