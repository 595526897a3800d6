import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../machinery/index.ts';
import type { HookCaller } from '../../shared/index.ts';
import type { PatchedTemplate } from './engine.ts';
import { externalPatches } from './external.ts';

const signal = new AbortController().signal;
const cluster = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Cluster',
  metadata: { name: 'c', namespace: 'tenant' },
  spec: {},
};
const patch = { name: 'p', external: { generatePatchesExtension: 'generate-patches.e' } };

function template(more: JsonObject): PatchedTemplate {
  return {
    item: {
      uid: 'u',
      holderReference: { apiVersion: 'v1', kind: 'K', namespace: 'tenant', name: 'h', fieldPath: 'spec' },
    },
    place: { part: 'infrastructureCluster' },
    object: { apiVersion: 'example.org/v1', kind: 'Template', metadata: { name: 't', namespace: 'tenant' }, ...more },
    variables: [],
  };
}

/** Runs an extension that computes its patch from the request. */
async function generated(given: PatchedTemplate, answer: (sent: JsonObject) => JsonObject[]) {
  const hooks = {
    ask: async (
      _hook: string,
      _handler: string,
      _cluster: unknown,
      { items }: { items: { object: JsonObject }[] },
    ) => ({
      items: items.map(({ object }) => ({
        uid: 'u',
        patchType: 'JSONPatch',
        patch: Buffer.from(JSON.stringify(answer(object))).toString('base64'),
      })),
    }),
  };
  const external = externalPatches(hooks as Partial<HookCaller> as HookCaller, cluster, signal);
  return (await external.generate(patch, [given], []))[0]?.object;
}

describe('patches of extensions', () => {
  it('are applied to the object sent to the extension, even an empty template', async () => {
    const made = await generated(template({}), (sent) => [
      sent['spec'] === undefined
        ? { op: 'add', path: '/spec', value: { template: 1 } }
        : { op: 'add', path: '/spec/template', value: 1 },
    ]);
    expect(made).toMatchObject({ metadata: { name: 't' }, spec: { template: 1 } });
  });

  it('add labels and annotations to a template without any', async () => {
    const made = await generated(template({ spec: { a: 1 } }), () => [
      { op: 'add', path: '/metadata/labels', value: { l: '1' } },
      { op: 'add', path: '/metadata/annotations', value: { a: '1' } },
    ]);
    expect(made).toMatchObject({ metadata: { labels: { l: '1' }, annotations: { a: '1' } }, spec: { a: 1 } });
  });
});
