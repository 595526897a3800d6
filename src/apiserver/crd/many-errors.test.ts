import { describe, expect, it } from 'vitest';
import { crd, onTargets, targets } from '../testing/index.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

onTargets(targets, (on) => {
  describe('an object with more errors than a call can have arguments', () => {
    it.each([
      ['of the wrong type', '"spec":{"list":[ITEMS]}', '""'],
      ['repeated in a set', '"spec":{"set":[ITEMS]}', '1'],
      ['in the nearest branch', '"spec":{"either":{"list":[ITEMS]}}', '""'],
    ])('is refused as invalid when its elements are %s', async (_, members, item) => {
      const { api, unique, cleanUp, namespace } = on();
      const group = `${unique('many')}.example.com`;
      const integers = { type: 'array', items: { type: 'integer' } };
      const spec = {
        type: 'object',
        properties: {
          list: integers,
          set: { ...integers, 'x-kubernetes-list-type': 'set' },
          either: {
            type: 'object',
            properties: { list: { type: 'array', items: { type: 'string' } } },
            anyOf: [{ properties: { list: { items: { minLength: 1 } } } }],
          },
        },
      };
      const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
      await api.create(crds, crd({ group, version: { schema } }));
      cleanUp(`${crds}/widgets.${group}`);
      const path = (await namespace()).of(`${group}/v1`, 'widgets');
      const items = new Array(200_000).fill(item).join(',');
      const body = `{"apiVersion":"${group}/v1","kind":"Widget","metadata":{"name":"w"},${members.replace('ITEMS', items)}}`;
      const answer = await api.post(path, Buffer.from(body), { 'content-type': 'application/json' });
      expect(answer.status).toBe(422);
    });
  });
});
