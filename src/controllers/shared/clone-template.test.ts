import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../machinery/index.ts';
import { cloneOf } from './clone-template.ts';

const clone = (spec: JsonObject) =>
  cloneOf({
    template: {
      apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
      kind: 'KubeadmConfigTemplate',
      metadata: { name: 't' },
      ...spec,
    },
    reference: { apiGroup: 'bootstrap.cluster.x-k8s.io', kind: 'KubeadmConfigTemplate', name: 't' },
    kind: {
      resource: {
        group: 'bootstrap.cluster.x-k8s.io',
        version: 'v1beta2',
        kind: 'KubeadmConfig',
        plural: 'kubeadmconfigs',
        namespaced: true,
      },
      contract: 'v1beta2',
    },
    name: 'c',
    namespace: 'n',
    labels: {},
    annotations: {},
    owner: { apiVersion: 'v1', kind: 'K', name: 'o', uid: 'u' },
  });

describe('a clone of a template', () => {
  it('has the spec of the template', () => {
    expect(clone({ spec: { template: { spec: { format: 'ignition' } } } })['spec']).toEqual({ format: 'ignition' });
    expect(clone({ spec: { template: { spec: {} } } })['spec']).toEqual({});
  });

  it('has no spec when the template has none', () => {
    expect(clone({})).not.toHaveProperty('spec');
    expect(clone({ spec: { template: {} } })).not.toHaveProperty('spec');
  });
});
