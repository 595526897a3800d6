import { expect, it } from 'vitest';
import { onTargets, targets } from '../testing/index.ts';

onTargets(targets, (on) => {
  it('keeps empty defaults in the schemas of a CustomResourceDefinition and drops empty lists around them', async () => {
    const { api, cleanUp, unique } = on();
    const plural = unique('gadget').replace('-', '');
    const group = 'unset.example.com';
    const list = { type: 'array', default: [], items: { type: 'string' } };
    const map = { type: 'object', default: {}, additionalProperties: { type: 'string' }, required: [] };
    const spec = { type: 'object', properties: { list, map } };
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    cleanUp(`${path}/${plural}.${group}`);
    const answer = await api.create(path, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        names: { kind: plural, plural },
        scope: 'Namespaced',
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
          },
        ],
      },
    });
    const { versions } = answer.object.spec as { versions: { schema: { openAPIV3Schema: object } }[] };
    const { required: _, ...mapWithoutEmpty } = map;
    expect(versions[0]?.schema.openAPIV3Schema).toEqual({
      type: 'object',
      properties: { spec: { type: 'object', properties: { list, map: mapWithoutEmpty } } },
    });
  });
});
