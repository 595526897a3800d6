import { describe, expect, it } from 'vitest';
import { at, crd, mergePatch, onTargets, targets } from '../testing/index.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const most = '9223372036854775807';
const least = '-9223372036854775808';
const odd = '9007199254740993';

const spec = {
  type: 'object',
  properties: {
    big: { type: 'integer', format: 'int64', minimum: -1e19 },
    limited: { type: 'integer', maximum: 9007199254740992 },
    any: { type: 'number' },
    either: { 'x-kubernetes-int-or-string': true },
    set: { type: 'array', items: { type: 'integer' }, 'x-kubernetes-list-type': 'set' },
    open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
  'x-kubernetes-validations': [{ rule: '!has(self.big) || self.big != 9007199254740995', message: 'not this one' }],
};

onTargets(targets, (on) => {
  describe('integers beyond the precision of a double', () => {
    const begin = async (): Promise<{ path: string; apiVersion: string }> => {
      const target = on();
      const group = `${target.unique('large')}.example.com`;
      const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
      const additionalPrinterColumns = [{ name: 'Big', type: 'integer', jsonPath: '.spec.big' }];
      await target.api.create(crds, crd({ group, version: { schema, additionalPrinterColumns } }));
      target.cleanUp(`${crds}/widgets.${group}`);
      const apiVersion = `${group}/v1`;
      return { apiVersion, path: (await target.namespace()).of(apiVersion, 'widgets') };
    };
    /** The body is raw text, because JavaScript cannot represent such a number. */
    const widget = (apiVersion: string, members: string): Buffer =>
      Buffer.from(`{"apiVersion":"${apiVersion}","kind":"Widget","metadata":{"name":"w"},"spec":{${members}}}`);
    const json = { 'content-type': 'application/json' };

    it('are stored and returned exactly, whichever way they are written', async () => {
      const { api } = on();
      const { path, apiVersion } = await begin();
      const made = await api.post(
        path,
        widget(
          apiVersion,
          `"big":${most},"set":[${odd},9007199254740992],"open":{"x":[${least}]},"either":${odd},"any":${odd}`,
        ),
        json,
      );
      expect(made.status).toBe(201);
      for (const text of [made.text, (await api.get(`${path}/w`)).text, (await api.get(path)).text]) {
        expect(text).toContain(`"big":${most}`);
        expect(text).toContain(`"x":[${least}]`);
        expect(text).toContain(`"set":[${odd},9007199254740992]`);
        expect(text).toContain(`"either":${odd}`);
      }
      const patched = await api.patch(`${path}/w`, mergePatch, { spec: { limited: 1 } });
      expect(patched.text).toContain(`"big":${most}`);
      const merged = await api.patch(`${path}/w`, mergePatch, Buffer.from(`{"spec":{"big":${odd}}}`));
      expect(merged.text).toContain(`"big":${odd}`);
      const steps = Buffer.from(
        `[{"op":"test","path":"/spec/big","value":${odd}},{"op":"replace","path":"/spec/big","value":${least}}]`,
      );
      const stepped = await api.patch(`${path}/w`, 'application/json-patch+json', steps);
      expect(stepped.text).toContain(`"big":${least}`);
      const other = Buffer.from(`[{"op":"test","path":"/spec/big","value":${odd}}]`);
      expect((await api.patch(`${path}/w`, 'application/json-patch+json', other)).status).toBe(422);
      const applied = await api.patch(
        `${path}/w?fieldManager=m&force=true`,
        'application/apply-patch+yaml',
        Buffer.from(`apiVersion: ${apiVersion}\nkind: Widget\nspec:\n  big: ${odd}\n  set: [9007199254740995]\n`),
      );
      expect(applied.text).toContain(`"big":${odd}`);
      expect(applied.text).toContain(`"v:9007199254740995":{}`);
      expect(applied.text).toContain(`"set":[${odd},9007199254740992,9007199254740995]`);
    });

    it('are compared exactly by rules, bounds and columns', async () => {
      const { api } = on();
      const { path, apiVersion } = await begin();
      const above = await api.post(path, widget(apiVersion, `"limited":${odd}`), json);
      expect(above.status).toBe(422);
      expect(above.text).toContain(`spec.limited: Invalid value: ${odd}`);
      const ruled = await api.post(path, widget(apiVersion, '"big":9007199254740995'), json);
      expect(ruled.status).toBe(422);
      expect(ruled.text).toContain('not this one');
      expect((await api.post(path, widget(apiVersion, `"big":${odd}`), json)).status).toBe(201);
      const table = await api.get(path, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
      expect(table.text).toContain(`"cells":["w",${odd}]`);
    });
  });
});

onTargets(targets.slice(0, 1), (on) => {
  it('integers beyond the precision of a double are refused in built-in kinds', async () => {
    const { api, namespace } = on();
    const path = (await namespace()).core('pods');
    const body = Buffer.from(
      `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"activeDeadlineSeconds":${odd},"containers":[{"name":"c","image":"i"}]}}`,
    );
    const answer = await api.post(path, body, { 'content-type': 'application/json' });
    expect(answer.status).toBe(400);
    expect(at(answer.body, 'message')).toContain(`the integer ${odd} is too large to be kept exactly`);
  });
});
