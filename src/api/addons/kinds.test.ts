import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../machinery/index.ts';
import { created, defaulted, make, refusedBySchema, updated } from '../admission.test-support.ts';
import { clusterResourceSetBindingKind, clusterResourceSetKind } from './kinds.ts';

const spec: JsonObject = {
  clusterSelector: { matchLabels: { credentials: 'yes' } },
  resources: [{ kind: 'Secret', name: 'clouds-yaml' }],
  strategy: 'Reconcile',
};
const set = (changes: JsonObject = {}) => make('ClusterResourceSet', { ...spec, ...changes });

describe('a ClusterResourceSet', () => {
  it('gets the strategy ApplyOnce unless another one is set', () => {
    const { strategy: _, ...rest } = spec;
    expect(defaulted(make('ClusterResourceSet', rest))['spec']).toMatchObject({ strategy: 'ApplyOnce' });
    expect(defaulted(set())['spec']).toMatchObject({ strategy: 'Reconcile' });
  });

  it.each<[string, JsonObject, RegExp[]]>([
    ['a good one', {}, []],
    ['a selector that selects nothing', { clusterSelector: {} }, [/spec\.clusterSelector: .*must not be empty/]],
    [
      'a selector that is none',
      { clusterSelector: { matchExpressions: [{ key: 'a', operator: 'Near' }] } },
      [/spec\.clusterSelector\.matchExpressions\[0\]\.operator/],
    ],
  ])('is validated on creation with %s', (_, changes, expected) => {
    expect(created(set(changes))).toEqual(expected.map((text) => expect.stringMatching(text)));
  });

  it('refuses changes of selector and strategy, but not of resources', () => {
    expect(updated(set({ clusterSelector: { matchLabels: { other: 'x' } } }), set())).toEqual([
      expect.stringMatching(/spec\.clusterSelector: .*field is immutable/),
    ]);
    expect(updated(set({ strategy: 'ApplyOnce' }), set())).toEqual([
      expect.stringMatching(/spec\.strategy: .*field is immutable/),
    ]);
    expect(updated(set({ resources: [{ kind: 'ConfigMap', name: 'other' }] }), set())).toEqual([]);
  });

  it('accepts only Secrets and ConfigMaps as resources', () => {
    expect(refusedBySchema(set({ resources: [{ kind: 'Deployment', name: 'x' }] }))).toEqual([
      expect.stringContaining('spec.resources[0].kind'),
    ]);
    expect(refusedBySchema(set({ resources: [] }))).toEqual([expect.stringContaining('spec.resources')]);
  });

  it.each(['v1beta1', 'v1alpha4', 'v1alpha3'])(
    'is converted from %s to the hub and back with the conditions that version knows',
    async (version) => {
      const convert = clusterResourceSetKind.definition.convert!;
      const condition = { type: 'ResourcesApplied', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
      const old = {
        ...set(),
        apiVersion: `addons.cluster.x-k8s.io/${version}`,
        status: { conditions: [condition], observedGeneration: 1 },
      };
      const hub = await convert(old, 'v1beta2');
      expect(hub['spec']).toEqual(spec);
      expect(hub['status']).toMatchObject({ deprecated: { v1beta1: { conditions: [condition] } } });
      expect((await convert(hub, version))['status']).toMatchObject({ conditions: [condition] });
    },
  );
});

describe('a ClusterResourceSetBinding', () => {
  const binding = (clusterName: string) => make('ClusterResourceSetBinding', { clusterName });

  it('refuses a change of spec.clusterName', () => {
    expect(updated(binding('b'), binding('a'))).toEqual([expect.stringMatching(/spec\.clusterName: .*immutable/)]);
    expect(updated(binding('a'), binding('a'))).toEqual([]);
  });

  it('gets clusterName from its own name when written in v1alpha4', async () => {
    const old = { ...make('ClusterResourceSetBinding', {}), apiVersion: 'addons.cluster.x-k8s.io/v1alpha4' };
    const hub = await clusterResourceSetBindingKind.definition.convert!(old, 'v1beta2');
    expect(defaulted(hub)['spec']).toEqual({ clusterName: 'x' });
  });
});
