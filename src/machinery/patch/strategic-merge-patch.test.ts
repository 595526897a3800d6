import { describe, expect, it } from 'vitest';
import { deepFreeze, type JsonObject, type JsonValue } from '../json/value.ts';
import { asTyped } from '../meta/crossings.ts';
import type { Schema } from '../schema/types.ts';
import { PatchError } from './patch-error.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';

const text: Schema = { type: 'string' };
const byName = { 'x-kubernetes-patch-strategy': 'merge', 'x-kubernetes-patch-merge-key': 'name' };
const podSpec: Schema = {
  type: 'object',
  component: 'io.k8s.api.core.v1.PodSpec',
  properties: {
    nodeSelector: { type: 'object', additionalProperties: text },
    restartPolicy: text,
    tolerations: { type: 'array', items: { type: 'object' } },
    volumes: {
      type: 'array',
      ...byName,
      'x-kubernetes-patch-strategy': 'merge,retainKeys',
      items: { type: 'object', properties: { name: text, emptyDir: { type: 'object' }, secret: { type: 'object' } } },
    },
    containers: {
      type: 'array',
      ...byName,
      items: {
        type: 'object',
        properties: {
          name: text,
          image: text,
          args: { type: 'array', items: text },
          env: { type: 'array', ...byName, items: { type: 'object', properties: { name: text, value: text } } },
          ports: {
            type: 'array',
            'x-kubernetes-patch-strategy': 'merge',
            'x-kubernetes-patch-merge-key': 'containerPort',
            items: { type: 'object' },
          },
        },
      },
    },
  },
};
const schema: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        strategy: { type: 'object', 'x-kubernetes-patch-strategy': 'retainKeys', properties: { type: text } },
        template: { type: 'object', properties: { spec: podSpec } },
      },
    },
  },
};

const podOf = (spec: JsonObject): JsonObject => ({ spec: { template: { spec } } });
const live = deepFreeze({
  metadata: { finalizers: ['x/y', 'z/y'] },
  spec: {
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } },
    template: {
      spec: {
        tolerations: [{ key: 'k' }],
        nodeSelector: { a: '1' },
        volumes: [
          { name: 'v', emptyDir: {} },
          { name: 'w', configMap: { name: 'x' } },
        ],
        containers: [
          {
            name: 'a',
            image: 'a',
            args: ['1', '2'],
            env: [
              { name: 'A', value: '1' },
              { name: 'B', value: '2' },
              { name: 'C', value: '3' },
            ],
            ports: [
              { containerPort: 80, name: 'http' },
              { containerPort: 81, name: 'x' },
            ],
          },
          { name: 'b', image: 'b' },
          { name: 'c', image: 'c' },
          { name: 'd', image: 'd' },
        ],
      },
    },
  },
});

interface Pod {
  containers: { name: string; image?: string; args?: string[]; env?: JsonObject[]; ports?: JsonObject[] }[];
  volumes: JsonObject[];
  tolerations: JsonObject[];
  nodeSelector: JsonObject;
}

function patched(patch: JsonObject): Pod {
  const result = asTyped<{
    spec: { template: { spec: Pod } };
  }>(applyStrategicMergePatch(live as JsonValue, deepFreeze(patch), schema));
  return result.spec.template.spec;
}

const images = (patch: JsonObject): string =>
  patched(podOf(patch))
    .containers.map((c) => `${c.name}:${c.image}`)
    .join(' ');

// Recorded from kube-apiserver 1.34 with this Deployment.
describe('applyStrategicMergePatch', () => {
  it.each<[string, JsonObject, string]>([
    ['merges items by key and keeps the rest', { containers: [{ name: 'b', image: 'z' }] }, 'a:a b:z c:c d:d'],
    [
      'puts new items first and patched items in patch order',
      {
        containers: [
          { name: 'n', image: 'n' },
          { name: 'c', image: 'cc' },
          { name: 'a', image: 'aa' },
        ],
      },
      'n:n b:b c:cc a:aa d:d',
    ],
    [
      'deletes items by directive',
      {
        containers: [
          { name: 'b', $patch: 'delete' },
          { name: 'n', image: 'n' },
        ],
      },
      'n:n a:a c:c d:d',
    ],
    ['replaces a list by directive', { containers: [{ $patch: 'replace' }, { name: 'n', image: 'n' }] }, 'n:n'],
    ['drops the item that carries the replace directive', { containers: [{ name: 'a', $patch: 'replace' }] }, ''],
    [
      'orders as told, server-only items keep their place',
      {
        '$setElementOrder/containers': [{ name: 'd' }, { name: 'n' }, { name: 'a' }],
        containers: [{ name: 'n', image: 'n' }],
      },
      'b:b c:c d:d n:n a:a',
    ],
    ['orders without changing', { '$setElementOrder/containers': [{ name: 'c' }, { name: 'a' }] }, 'b:b c:c a:a d:d'],
    ['replaces an object by directive', { $patch: 'replace', containers: [{ name: 'o', image: 'o' }] }, 'o:o'],
  ])('applies the patch: %s', (_, patch, expected) => {
    expect(images(patch)).toBe(expected);
  });

  it('orders nested lists and deletes from them', () => {
    const env = {
      name: 'a',
      '$setElementOrder/env': [{ name: 'C' }, { name: 'N' }, { name: 'A' }],
      env: [
        { name: 'N', value: 'n' },
        { name: 'B', $patch: 'delete' },
      ],
    };
    expect(patched(podOf({ containers: [env] })).containers[0]!.env!.map((e) => e['name'])).toEqual(['C', 'N', 'A']);
  });

  it('merges by numeric keys', () => {
    const ports = [{ containerPort: 80, name: 'h2' }, { containerPort: 82 }];
    expect(patched(podOf({ containers: [{ name: 'a', ports }] })).containers[0]!.ports).toEqual([
      { containerPort: 80, name: 'h2' },
      { containerPort: 82 },
      { containerPort: 81, name: 'x' },
    ]);
  });

  it('replaces lists without a strategy', () => {
    const pod = patched(podOf({ tolerations: [{ key: 'z' }], containers: [{ name: 'a', args: ['9'] }] }));
    expect(pod.tolerations).toEqual([{ key: 'z' }]);
    expect(pod.containers[0]!.args).toEqual(['9']);
  });

  it('retains only the named keys', () => {
    const union = { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } };
    const result = applyStrategicMergePatch(live as JsonValue, union, schema) as { spec: { strategy: JsonObject } };
    expect(result.spec.strategy).toEqual({ type: 'Recreate' });
    const volume = { name: 'v', $retainKeys: ['name', 'secret'], secret: { secretName: 's' } };
    expect(patched(podOf({ volumes: [volume] })).volumes[0]).toEqual({ name: 'v', secret: { secretName: 's' } });
  });

  it('treats null as removal and drops nulls that remove nothing', () => {
    const pod = patched(
      podOf({ nodeSelector: { a: null, b: 'c', n: null }, volumes: [{ name: 'w', configMap: null }] }),
    );
    expect(pod.nodeSelector).toEqual({ b: 'c' });
    expect(pod.volumes[1]).toEqual({ name: 'w' });
  });

  it('merges lists of scalars, in metadata of any kind', () => {
    const merge = (patch: JsonObject): JsonValue | undefined =>
      (applyStrategicMergePatch(live as JsonValue, { metadata: patch }, schema) as { metadata: JsonObject }).metadata[
        'finalizers'
      ];
    expect(merge({ finalizers: ['n/n', 'z/y'] })).toEqual(['n/n', 'x/y', 'z/y']);
    expect(merge({ '$deleteFromPrimitiveList/finalizers': ['x/y'] })).toEqual(['z/y']);
    expect(merge({ '$setElementOrder/finalizers': ['z/y', 'x/y'] })).toEqual(['z/y', 'x/y']);
  });

  it('keeps items of new lists whose directive has nothing to act on', () => {
    const container = { name: 'n', env: [{ name: 'X', $patch: 'delete' }, { name: 'Y' }] };
    expect(patched(podOf({ containers: [container] })).containers[0]!.env).toEqual([{ name: 'X' }, { name: 'Y' }]);
    const withAffinity = patched(podOf({ affinity: { $patch: 'delete' } }));
    expect(withAffinity).not.toHaveProperty('affinity');
  });

  it('merges fields unknown to the schema like a merge patch', () => {
    expect(applyStrategicMergePatch({ x: { a: 1, l: [{ name: 'a' }] } }, { x: { b: 2, l: [] } }, schema)).toEqual({
      x: { a: 1, b: 2, l: [] },
    });
  });

  it.each<[JsonObject, number, string]>([
    [podOf({ containers: [{ image: 'q' }] }), 500, 'map: map[image:q] does not contain declared merge key: name'],
    [
      podOf({ containers: [{ $patch: 'bogus', name: 'a' }] }),
      500,
      'unknown patch type: bogus in map: map[$patch:bogus name:a]',
    ],
    [
      podOf({ containers: [{ $patch: 'merge', name: 'a' }] }),
      500,
      'merging lists cannot yet be specified in the patch',
    ],
    [podOf({ $patch: 'bogus' }), 500, 'unknown patch type: bogus in map: map[$patch:bogus]'],
    [podOf({ '$setElementOrder/containers': 'x' }), 500, 'expected a []interface {}, but received a string'],
    [
      podOf({ '$setElementOrder/containers': [{ name: 'z' }], containers: [{ name: 'a', image: 'q' }] }),
      500,
      "The order in patch list:\n[map[image:q name:a]]\n doesn't match $setElementOrder list:\n[map[name:z]]\n",
    ],
    [
      podOf({ '$setElementOrder/nope': [{ name: 'b' }], nope: [{ name: 'b' }] }),
      500,
      'unable to find api field in struct PodSpec for the json field "nope"',
    ],
    [podOf({ $retainKeys: 'x' }), 400, 'invalid patch format of retainKeys'],
    [podOf({ $retainKeys: ['containers'], restartPolicy: 'Always' }), 400, 'invalid patch format of retainKeys'],
    [podOf({ $deleteFromPrimitiveList: ['x'] }), 400, 'invalid patch format of primitive list'],
  ])('refuses %j', (patch, status, message) => {
    expect(() => patched(patch)).toThrowError(expect.objectContaining({ status, message }));
  });

  it('refuses patches that are not objects and ignores null', () => {
    expect(() => applyStrategicMergePatch({}, [], schema)).toThrowError(PatchError);
    expect(applyStrategicMergePatch(live as JsonValue, null, schema)).toBe(live);
  });
});

describe('patches of long lists', () => {
  const schema: Schema = { type: 'object', properties: { spec: podSpec } };
  let looked = 0;
  /** An element that counts reads of its merge key. */
  const counted = (name: string, more: JsonObject = {}): JsonObject =>
    Object.defineProperty({ ...more } as JsonObject, 'name', {
      enumerable: true,
      get() {
        looked++;
        return name;
      },
    });
  const elements = (count: number, more?: JsonObject): JsonObject[] =>
    Array.from({ length: count }, (_, index) => counted(`n${index}`, more));

  /** Number of merge key reads while the patch was applied. */
  function looks(live: JsonObject, patch: JsonObject): number {
    looked = 0;
    applyStrategicMergePatch({ spec: live }, { spec: patch }, schema);
    return looked;
  }

  it.each([
    ['merged', (n: number) => ({ volumes: elements(n, { emptyDir: {} }) })],
    ['added', (n: number) => ({ volumes: elements(n).map((_, index) => counted(`new${index}`)) })],
    ['deleted', (n: number) => ({ volumes: elements(n, { $patch: 'delete' }) })],
    ['ordered', (n: number) => ({ '$setElementOrder/volumes': elements(n).reverse(), volumes: [] })],
    ['replaced', (n: number) => ({ volumes: [{ $patch: 'replace' }, ...elements(n)] })],
  ])('long lists are %s in about as many steps as they have elements', (_, patchOf) => {
    const steps = (count: number): number => looks({ volumes: elements(count) }, patchOf(count) as JsonObject);
    expect(steps(4000)).toBeLessThan(6 * steps(1000));
  });
});
