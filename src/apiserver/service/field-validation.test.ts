import { describe, expect, it } from 'vitest';
import { applyPatch, crd, jsonPatch, mergePatch, onTargets, strategicPatch, targets } from '../testing/index.ts';

const yaml = { 'content-type': 'application/yaml' };
const warning = (text: string): string => `299 - "${text.replaceAll('"', '\\"')}"`;

onTargets(targets, (on) => {
  describe('unknown and duplicate fields', () => {
    const json =
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","bogus":1,"name":"b"},"data":{"a":"1","a":"2"},"zzz":1,"aaa":2}';
    const text =
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\n  bogus: 1\n  name: b\ndata:\n  a: "1"\n  a: "2"\nzzz: 1\naaa: 2\n';

    it('are reported in the order of the JSON', async () => {
      const ns = await on().namespace();
      const path = `${ns.core('configmaps')}?dryRun=All`;
      const problems = [
        'unknown field "metadata.bogus"',
        'duplicate field "metadata.name"',
        'duplicate field "data.a"',
        'unknown field "zzz"',
        'unknown field "aaa"',
      ];
      const strict = await on().api.post(`${path}&fieldValidation=Strict`, json);
      expect(strict.status).toBe(400);
      expect(strict.body['message']).toBe(
        `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: ${problems.join(', ')}`,
      );
      const warned = await on().api.post(`${path}&fieldValidation=Warn`, json);
      expect(warned.status).toBe(201);
      expect(warned.warnings.join(', ')).toBe(problems.map(warning).join(', '));
    });

    it('are reported with their lines for YAML', async () => {
      const ns = await on().namespace();
      const path = `${ns.core('configmaps')}?dryRun=All`;
      const unknown = ['unknown field "aaa"', 'unknown field "metadata.bogus"', 'unknown field "zzz"'];
      const lines = ['line 6: key "name" already set in map', 'line 9: key "a" already set in map'];
      const strict = await on().api.post(`${path}&fieldValidation=Strict`, text, yaml);
      expect(strict.body['message']).toBe(
        `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: yaml: unmarshal errors:\n  ${lines.join('\n  ')}, ${unknown.join(', ')}`,
      );
      const warned = await on().api.post(`${path}&fieldValidation=Warn`, text, yaml);
      expect(warned.warnings.join(', ')).toBe([...lines, ...unknown].map(warning).join(', '));
      const ignored = await on().api.post(`${path}&fieldValidation=Ignore`, text, yaml);
      expect([ignored.status, ignored.warnings]).toEqual([201, []]);
    });

    it('of a patch are reported as unknown or duplicate', async () => {
      const ns = await on().namespace();
      const { api } = on();
      await api.create(ns.core('configmaps'), { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'p' } });
      const path = `${ns.core('configmaps')}/p?dryRun=All&fieldValidation=`;
      const patch = '{"data":{"a":"1","a":"2"},"zzz":1,"aaa":2,"metadata":{"bogus":1}}';
      const merged = await api.patch(`${path}Warn`, mergePatch, patch);
      const unknown = ['unknown field "aaa"', 'unknown field "metadata.bogus"', 'unknown field "zzz"'];
      expect(merged.warnings.join(', ')).toBe(['duplicate field "data.a"', ...unknown].map(warning).join(', '));
      const strategic = await api.patch(`${path}Strict`, strategicPatch, patch);
      expect(strategic.status).toBe(422);
      expect(strategic.body['message']).toContain(
        'patch: Invalid value: "map[aaa:2 data:map[a:2] metadata:map[bogus:1] zzz:1]": strict decoding error: duplicate field "data.a"',
      );
      const operations = '[{"op":"add","op":"add","foo":1,"path":"/data","value":{"a":"1"}}]';
      const operated = await api.patch(`${path}Warn`, jsonPatch, operations);
      expect(operated.warnings.join(', ')).toBe(
        ['json patch duplicate field "[0].op"', 'json patch unknown field "[0].foo"'].map(warning).join(', '),
      );
    });
  });

  describe('server-side apply of invalid fields', () => {
    it.each(['Strict', 'Warn', 'Ignore'])('refuses unknown fields under %s', async (validation) => {
      const ns = await on().namespace();
      const query = `?fieldManager=m&fieldValidation=${validation}`;
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, foo: 'bar' };
      const answer = await on().api.patch(`${ns.core('configmaps')}/a${query}`, applyPatch, object);
      expect(answer.body['message']).toMatch(
        /^failed to create typed patch object \(.*\/a; \/v1, Kind=ConfigMap\): \.foo: field not declared in schema$/,
      );
      const named = { ...object, foo: undefined, metadata: { name: 'a', bogus: 1 } };
      const metadata = await on().api.patch(`${ns.core('configmaps')}/a${query}`, applyPatch, named);
      expect(metadata.body['message']).toContain('.metadata.bogus: field not declared in schema');
      expect((await on().api.get(`${ns.core('configmaps')}/a`)).status).toBe(404);
    });

    it('refuses unknown fields of custom kinds too', async () => {
      const { api } = on();
      const group = `${on().unique('applied')}.example.com`;
      await api.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd({ group }));
      on().cleanUp(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.${group}`);
      const ns = await on().namespace();
      const path = `${ns.of(`${group}/v1`, 'widgets')}/x?fieldManager=m`;
      const object = { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'x' }, spec: { unk: 1 } };
      const answer = await expectServed(() => api.patch(path, applyPatch, object));
      expect(answer).toContain('.spec.unk: field not declared in schema');
    });

    it('refuses, warns about or accepts duplicate keys as fieldValidation says, with line numbers', async () => {
      const ns = await on().namespace();
      const path = `${ns.core('configmaps')}/a?fieldManager=m&fieldValidation=`;
      const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: "1"\n  a: "2"\n';
      const strict = await on().api.patch(`${path}Strict`, applyPatch, body);
      expect(strict.status).toBe(400);
      expect(strict.body['message']).toBe(
        'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 7: key "a" already set in map',
      );
      const warned = await on().api.patch(`${path}Warn`, applyPatch, body);
      expect([warned.status, warned.warnings]).toEqual([201, [warning('line 7: key "a" already set in map')]]);
      const json = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"1","a":"2"}}';
      const once = await on().api.patch(`${path}Warn`, applyPatch, json);
      expect(once.warnings).toEqual([warning('line 1: key "a" already set in map')]);
      const ignored = await on().api.patch(`${path}Ignore`, applyPatch, body);
      expect([ignored.status, ignored.warnings]).toEqual([200, []]);
    });
  });

  describe('a review resource', () => {
    const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
    };
    const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

    it('is answered 406 when only a Table is accepted', async () => {
      const answer = await on().api.post(reviews, review, { accept: table });
      expect(answer.status).toBe(406);
      expect(answer.body).toMatchObject({
        reason: 'NotAcceptable',
        message:
          'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
      });
    });

    it('is answered in another accepted form', async () => {
      const either = await on().api.post(reviews, review, { accept: `${table},application/json` });
      expect([either.status, either.object.kind]).toEqual([201, 'SelfSubjectAccessReview']);
      const accept = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
      const partial = await on().api.post(reviews, review, { accept });
      expect([partial.status, partial.object.kind]).toEqual([201, 'PartialObjectMetadata']);
    });
  });
});

/** Returns the response once the kind is served; a real server needs a moment. */
async function expectServed(send: () => Promise<{ status: number; text: string }>): Promise<string> {
  for (;;) {
    const { status, text } = await send();
    if (status !== 404) return text;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
