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
  it('applies once unless it says otherwise', () => {
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
  ])('is created from %s, or refused', (_, changes, expected) => {
    expect(created(set(changes))).toEqual(expected.map((text) => expect.stringMatching(text)));
  });

  it('keeps selector and strategy', () => {
    expect(updated(set({ clusterSelector: { matchLabels: { other: 'x' } } }), set())).toEqual([
      expect.stringMatching(/spec\.clusterSelector: .*field is immutable/),
    ]);
    expect(updated(set({ strategy: 'ApplyOnce' }), set())).toEqual([
      expect.stringMatching(/spec\.strategy: .*field is immutable/),
    ]);
    expect(updated(set({ resources: [{ kind: 'ConfigMap', name: 'other' }] }), set())).toEqual([]);
  });

  it('takes Secrets and ConfigMaps only', () => {
    expect(refusedBySchema(set({ resources: [{ kind: 'Deployment', name: 'x' }] }))).toEqual([
      expect.stringContaining('spec.resources[0].kind'),
    ]);
    expect(refusedBySchema(set({ resources: [] }))).toEqual([expect.stringContaining('spec.resources')]);
  });

  it.each(['v1beta1', 'v1alpha4', 'v1alpha3'])(
    'is read in %s with the conditions that version knows',
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

  it('belongs to one cluster', () => {
    expect(updated(binding('b'), binding('a'))).toEqual([expect.stringMatching(/spec\.clusterName: .*immutable/)]);
    expect(updated(binding('a'), binding('a'))).toEqual([]);
  });

  it('of an old version is for the cluster it is named after', async () => {
    const old = { ...make('ClusterResourceSetBinding', {}), apiVersion: 'addons.cluster.x-k8s.io/v1alpha4' };
    const hub = await clusterResourceSetBindingKind.definition.convert!(old, 'v1beta2');
    expect(defaulted(hub)['spec']).toEqual({ clusterName: 'x' });
  });
});
