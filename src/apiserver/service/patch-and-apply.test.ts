import { describe, expect, it } from 'vitest';
import type { ManagedFieldsEntry, UnstructuredObject } from '../../machinery/index.ts';
import {
  type Answer,
  at,
  configMap,
  crd,
  deployment,
  eventually,
  jsonPatch,
  mergePatch,
  onTargets,
  pod,
  strategicPatch,
  type Target,
  targets,
  targetsByEngine,
  widget,
} from '../testing/index.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

async function defineWidgets(
  target: Target,
  spec: Record<string, object> = {},
): Promise<{ group: string; path: string }> {
  const group = `${target.unique('patch')}.example.com`;
  await target.api.create(crds, crd({ group, spec }));
  target.cleanUp(`${crds}/widgets.${group}`);
  const path = (await target.namespace()).of(`${group}/v1`, 'widgets');
  await eventually(async () => ((await target.api.get(path)).status === 200 ? true : undefined));
  return { group, path };
}

const managersOf = (object: UnstructuredObject): string[] =>
  (object.metadata.managedFields ?? []).map(
    ({ manager, operation, subresource }) => `${operation} ${manager}${subresource ? `/${subresource}` : ''}`,
  );
const entryOf = (object: UnstructuredObject, manager: string): ManagedFieldsEntry =>
  object.metadata.managedFields!.find((entry) => entry.manager === manager)!;

onTargets(targetsByEngine, (on) => {
  describe('PATCH', () => {
    it('without a revision is retried, so that concurrent patches are all applied', async () => {
      const { api, namespace } = on();
      const path = `${(await namespace()).core('configmaps')}`;
      await api.create(path, configMap('shared'));
      const keys = Array.from({ length: 20 }, (_, i) => `k${i}`);
      const answers = await Promise.all(
        keys.map((key) => api.patch(`${path}/shared`, mergePatch, { data: { [key]: 'x' } })),
      );
      // kube-apiserver gives up after five retries, so only writes with status 200 must be present.
      const kept = keys.filter((_, i) => answers[i]!.status === 200);
      expect(kept.length).toBeGreaterThan(0);
      const stored = Object.keys((await api.get(`${path}/shared`)).body['data'] as object);
      expect(stored.sort()).toEqual(kept.sort());
    });

    it('with an older revision is answered 409', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      const { resourceVersion } = (await api.create(path, configMap('x'))).object.metadata;
      const first = await api.patch(`${path}/x`, mergePatch, { metadata: { resourceVersion }, data: { a: '1' } });
      expect(first.status).toBe(200);
      const second = await api.patch(`${path}/x`, mergePatch, { metadata: { resourceVersion }, data: { a: '2' } });
      expect(second.status).toBe(409);
      expect(second.body).toMatchObject({ reason: 'Conflict' });
    });

    it('of an object that does not exist is answered 404', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      expect((await api.patch(`${path}/none`, mergePatch, {})).status).toBe(404);
    });

    it('is answered 400 when it changes name or namespace', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      await api.create(path, configMap('x'));
      for (const metadata of [{ name: 'y' }, { namespace: 'default' }]) {
        const answer = await api.patch(`${path}/x`, mergePatch, { metadata });
        expect(answer.status, JSON.stringify(metadata)).toBe(400);
      }
      const uid = await api.patch(`${path}/x`, mergePatch, { metadata: { uid: 'other' } });
      expect(uid.status).toBe(422);
      expect(uid.body['message']).toBe(
        'ConfigMap "x" is invalid: metadata.uid: Invalid value: "other": field is immutable',
      );
    });

    it('as JSON Patch can test, add, remove, replace, move and copy', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      await api.create(path, configMap('x', { data: { a: '1', b: '2', c: '3' } }));
      const answer = await api.patch(`${path}/x`, jsonPatch, [
        { op: 'test', path: '/data/a', value: '1' },
        { op: 'add', path: '/data/d', value: '4' },
        { op: 'remove', path: '/data/b' },
        { op: 'replace', path: '/data/a', value: 'one' },
        { op: 'move', from: '/data/c', path: '/data/e' },
        { op: 'copy', from: '/data/d', path: '/data/f' },
      ]);
      expect(answer.status).toBe(200);
      expect(answer.body['data']).toEqual({ a: 'one', d: '4', e: '3', f: '4' });
      const refused = await api.patch(`${path}/x`, jsonPatch, [{ op: 'test', path: '/data/a', value: 'two' }]);
      expect(refused.status).toBe(422);
      expect((await api.patch(`${path}/x`, jsonPatch, [{ op: 'remove', path: '/data/none' }])).status).toBe(422);
      expect((await api.patch(`${path}/x`, jsonPatch, 'no json')).status).toBe(400);
    });

    it('as JSON Patch with more than 10000 operations is answered 413', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      await api.create(path, configMap('x', { data: { a: '1' } }));
      const test = { op: 'test', path: '/data/a', value: '1' };
      const answer = await api.patch(
        `${path}/x`,
        jsonPatch,
        Array.from({ length: 10_001 }, () => test),
      );
      expect(answer.status).toBe(413);
      expect(answer.body).toMatchObject({
        reason: 'RequestEntityTooLarge',
        message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
      });
    });

    it('as merge patch replaces lists and removes keys set to null', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      await api.create(path, configMap('x', { data: { a: '1', b: '2' }, metadata: { finalizers: ['example.com/a'] } }));
      const answer = await api.patch(`${path}/x`, mergePatch, {
        data: { a: null, c: '3' },
        metadata: { finalizers: [] },
      });
      expect(answer.body['data']).toEqual({ b: '2', c: '3' });
      expect(answer.object.metadata).not.toHaveProperty('finalizers');
    });

    it('as strategic merge patch of a built-in kind merges lists by their keys', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).of('apps/v1', 'deployments');
      const containers = [
        { name: 'a', image: 'a:1' },
        { name: 'b', image: 'b:1' },
      ];
      const made = deployment('d');
      const template = { metadata: { labels: { app: 'd' } }, spec: { containers } };
      await api.create(path, { ...made, spec: { ...(made['spec'] as object), template } });
      const answer = await api.patch(`${path}/d`, strategicPatch, {
        spec: {
          template: {
            spec: {
              containers: [
                { name: 'b', image: 'b:2' },
                { name: 'a', $patch: 'delete' },
              ],
            },
          },
        },
      });
      expect(answer.status).toBe(200);
      const images = at(answer.body, 'spec.template.spec.containers') as { name: string; image: string }[];
      expect(images.map(({ name, image }) => `${name}=${image}`)).toEqual(['b=b:2']);
    });

    it('as strategic merge patch of a custom kind is answered 415', async () => {
      const target = on();
      const { group, path } = await defineWidgets(target);
      await target.api.create(path, widget(group, 'w'));
      const answer = await target.api.patch(`${path}/w`, strategicPatch, { spec: {} });
      expect(answer.status).toBe(415);
      expect(answer.body['message']).toBe(
        'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
      );
    });

    it('of an unknown patch type is answered 415', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      await api.create(path, configMap('x'));
      const answer = await api.patch(`${path}/x`, 'application/json', {});
      expect(answer.status).toBe(415);
    });

    it('is answered 422 and stores nothing when its result is invalid', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      await api.create(path, configMap('x', { data: { a: '1' } }));
      const answer = await api.patch(`${path}/x`, mergePatch, { data: { a: { deep: true } } });
      expect([answer.status, answer.body['reason']]).toEqual([422, 'Invalid']);
      expect((await api.get(`${path}/x`)).body['data']).toEqual({ a: '1' });
    });

    it('is answered 422 with force unless it is an apply', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      await api.create(path, configMap('x'));
      const answer = await api.patch(`${path}/x?force=true`, mergePatch, {});
      expect(answer.status).toBe(422);
      expect(answer.body['message']).toBe(
        'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
      );
    });
  });

  describe('server-side apply', () => {
    it('is refused without a field manager', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      const answer = await api.apply(`${path}/x`, configMap('x'));
      expect(answer.status).toBe(422);
      expect(answer.body['message']).toBe(
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
      );
    });

    it('is refused with managedFields in the body', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      await api.create(path, configMap('x'));
      const answer = await api.apply(
        `${path}/x?fieldManager=me`,
        configMap('x', { metadata: { managedFields: [{ manager: 'me' }] } }),
      );
      expect(answer.status).toBe(400);
      expect(answer.body['message']).toBe('metadata.managedFields must be nil');
    });

    it.each<[string, object | null, string]>([
      ['the whole spec', null, 'spec: Invalid value: "null": spec in body must be of type object: "null"'],
      [
        'a member',
        { size: null },
        'spec.size: Invalid value: "null": spec.size in body must be of type string: "null"',
      ],
      [
        'a member of an element',
        { parts: [{ name: null }] },
        'spec.parts[0].name: Invalid value: "null": spec.parts[0].name in body must be of type string: "null"',
      ],
    ])('refuses null in a custom kind: %s', async (_, spec, problem) => {
      const part = { type: 'object', properties: { name: { type: 'string' } } };
      const { group, path } = await defineWidgets(on(), { parts: { type: 'array', items: part } });
      const answer = await on().api.apply(`${path}/x?fieldManager=me`, { ...widget(group, 'x'), spec });
      expect(answer.status).toBe(422);
      expect(answer.body['message']).toBe(`Widget.${group} "x" is invalid: ${problem}`);
    });

    it('does not remove values of other managers by null', async () => {
      const { group, path } = await defineWidgets(on());
      await on().api.create(path, widget(group, 'x', { size: 'mine' }));
      const apply = (spec: object | null): Promise<Answer> =>
        on().api.apply(`${path}/x?fieldManager=me&force=true`, { ...widget(group, 'x'), spec });
      expect((await apply({ size: null })).status).toBe(422);
      const nothing = await apply(null);
      expect(nothing.status).toBe(200);
      expect(nothing.body['spec']).toEqual({ size: 'mine' });
    });

    it('accepts null in a custom kind when the field is nullable or has a default', async () => {
      const { group, path } = await defineWidgets(on(), {
        note: { type: 'string', nullable: true },
        level: { type: 'integer', default: 3 },
      });
      const answer = await on().api.apply(`${path}/x?fieldManager=me`, widget(group, 'x', { note: null, level: null }));
      expect(answer.status).toBe(201);
      expect(answer.body['spec']).toEqual({ note: null, level: 3 });
    });

    it('creates a missing object (201), and repeating it (200) makes no new revision', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      const apply = (): Promise<Answer> =>
        api.apply(
          `${path}/x?fieldManager=me`,
          'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: "1"}\n',
        );
      const first = await apply();
      expect(first.status).toBe(201);
      expect(managersOf(first.object)).toEqual(['Apply me']);
      expect(entryOf(first.object, 'me').fieldsV1).toEqual({ 'f:data': { 'f:a': {} } });
      const again = await apply();
      expect(again.status).toBe(200);
      expect(again.object.metadata.resourceVersion).toBe(first.object.metadata.resourceVersion);
      expect(again.object.metadata.managedFields).toEqual(first.object.metadata.managedFields);
    });

    it('conflicts over fields of another manager, naming manager and field, unless forced', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      await api.apply(`${path}/x?fieldManager=one`, configMap('x', { data: { a: '1', b: '1' } }));
      const desired = configMap('x', { data: { a: '2' } });
      const answer = await api.apply(`${path}/x?fieldManager=two`, desired);
      expect(answer.status).toBe(409);
      expect(answer.body).toMatchObject({
        reason: 'Conflict',
        message: 'Apply failed with 1 conflict: conflict with "one": .data.a',
        details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.a' }] },
      });
      const forced = await api.apply(`${path}/x?fieldManager=two&force=true`, desired);
      expect(forced.status).toBe(200);
      expect(forced.body['data']).toEqual({ a: '2', b: '1' });
      expect(entryOf(forced.object, 'one').fieldsV1).toEqual({ 'f:data': { 'f:b': {} } });
      expect(entryOf(forced.object, 'two').fieldsV1).toEqual({ 'f:data': { 'f:a': {} } });
    });

    it('shares ownership without conflict when the value is the same', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      await api.apply(`${path}/x?fieldManager=one`, configMap('x', { data: { a: '1' } }));
      const shared = await api.apply(`${path}/x?fieldManager=two`, configMap('x', { data: { a: '1' } }));
      expect(managersOf(shared.object).sort()).toEqual(['Apply one', 'Apply two']);
      const left = await api.apply(`${path}/x?fieldManager=one`, configMap('x'));
      expect(left.body['data']).toEqual({ a: '1' });
    });

    it('removes fields that its manager left out and nobody else owns', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      await api.apply(
        `${path}/x?fieldManager=me`,
        configMap('x', { data: { a: '1', b: '1' }, metadata: { labels: { l: '1' } } }),
      );
      await api.patch(`${path}/x?fieldManager=other`, mergePatch, { data: { c: '1' } });
      const answer = await api.apply(`${path}/x?fieldManager=me`, configMap('x', { data: { b: '1' } }));
      expect(answer.body['data']).toEqual({ b: '1', c: '1' });
      expect(answer.object.metadata.labels).toBeUndefined();
    });

    it('conflicts with managers that used update too', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      await api.post(`${path}?fieldManager=creator`, configMap('x', { data: { a: '1' } }));
      const answer = await api.apply(`${path}/x?fieldManager=me`, configMap('x', { data: { a: '2' } }));
      expect(answer.status).toBe(409);
      expect(answer.body['message']).toMatch(/^Apply failed with 1 conflict: conflict with "creator" using v1/);
    });

    it('owns list items by their merge keys', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('pods');
      const container = (name: string): object => ({ name, image: 'registry.example/x:1' });
      const desired = (names: string[]): object => ({ ...pod('p'), spec: { containers: names.map(container) } });
      const made = await api.apply(`${path}/p?fieldManager=me`, desired(['a', 'b']));
      expect(made.status, made.text).toBe(201);
      expect(Object.keys(at(entryOf(made.object, 'me').fieldsV1, 'f:spec.f:containers') as object)).toEqual([
        'k:{"name":"a"}',
        'k:{"name":"b"}',
      ]);
    });

    it('treats lists of custom kinds as map, set or atomic according to their schema', async () => {
      const target = on();
      const strings = { type: 'array', items: { type: 'string' } };
      const { group, path } = await defineWidgets(target, {
        set: { ...strings, 'x-kubernetes-list-type': 'set' },
        atomic: strings,
        map: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['key'],
          items: {
            type: 'object',
            required: ['key'],
            properties: { key: { type: 'string' }, value: { type: 'string' } },
          },
        },
        whole: {
          type: 'object',
          'x-kubernetes-map-type': 'atomic',
          properties: { x: { type: 'string' }, y: { type: 'string' } },
        },
      });
      const apply = (manager: string, spec: object, force = false): Promise<Answer> =>
        target.api.apply(`${path}/w?fieldManager=${manager}&force=${force}`, widget(group, 'w', spec));
      const first = await apply('one', {
        set: ['a'],
        atomic: ['a'],
        map: [{ key: 'a', value: '1' }],
        whole: { x: '1' },
      });
      expect(first.status, first.text).toBe(201);
      const merged = await apply('two', { set: ['b'], map: [{ key: 'b', value: '2' }] });
      expect(merged.status, merged.text).toBe(200);
      expect(merged.body['spec']).toMatchObject({
        set: ['a', 'b'],
        map: [
          { key: 'a', value: '1' },
          { key: 'b', value: '2' },
        ],
      });
      for (const [spec, field] of [
        [{ atomic: ['b'] }, '.spec.atomic'],
        [{ whole: { y: '2' } }, '.spec.whole'],
        [{ map: [{ key: 'a', value: '9' }] }, '.spec.map[key="a"].value'],
      ] as const) {
        const refused = await apply('two', { set: ['b'], ...spec });
        expect(at(refused.body, 'details.causes.0.field')).toBe(field);
      }
      const forced = await apply('two', { whole: { y: '2' } }, true);
      expect(at(forced.body, 'spec.whole')).toEqual({ y: '2' });
    });

    it('owns only status fields through the status subresource', async () => {
      const target = on();
      const { group, path } = await defineWidgets(target);
      await target.api.apply(`${path}/w?fieldManager=me`, widget(group, 'w', { size: 's' }));
      const status = { ...widget(group, 'w', { size: 'ignored' }), status: { ready: true } };
      const answer = await target.api.apply(`${path}/w/status?fieldManager=me`, status);
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body).toMatchObject({ spec: { size: 's' }, status: { ready: true } });
      expect(managersOf(answer.object)).toEqual(['Apply me', 'Apply me/status']);
      const [, entry] = answer.object.metadata.managedFields!;
      expect(entry!.fieldsV1).toEqual({ 'f:status': { 'f:ready': {} } });
    });

    it('takes ownership over from client-side apply of the same field manager', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      const text = JSON.stringify(configMap('x', { data: { a: '1' } }));
      const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': text };
      await api.post(
        `${path}?fieldManager=kubectl-client-side-apply`,
        configMap('x', { data: { a: '1' }, metadata: { annotations } }),
      );
      const answer = await api.apply(`${path}/x?fieldManager=kubectl`, configMap('x', { data: { a: '2' } }));
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body['data']).toEqual({ a: '2' });
    });
  });

  describe('managed fields', () => {
    it('move from the former owner to the writer for changed fields', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      await api.post(`${path}?fieldManager=one`, configMap('x', { data: { a: '1', b: '1' } }));
      const answer = await api.patch(`${path}/x?fieldManager=two`, mergePatch, { data: { a: '2' } });
      expect(entryOf(answer.object, 'one').fieldsV1).toMatchObject({ 'f:data': { '.': {}, 'f:b': {} } });
      expect(entryOf(answer.object, 'two').fieldsV1).toEqual({ 'f:data': { 'f:a': {} } });
    });

    it('name a client without field manager after its user agent', async () => {
      const { namespace, connect } = on();
      const path = (await namespace()).core('configmaps');
      const answer = await connect('h2', { 'user-agent': 'gadget/1.2 (linux)' }).post(
        path,
        configMap('x', { data: { a: '1' } }),
      );
      expect(managersOf(answer.object)).toEqual(['Update gadget']);
    });

    it('get no entry for a manager that changed nothing', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      await api.post(`${path}?fieldManager=one`, configMap('x', { data: { a: '1' } }));
      const answer = await api.patch(`${path}/x?fieldManager=two`, mergePatch, { data: { a: '1' } });
      expect(managersOf(answer.object)).toEqual(['Update one']);
    });

    it('merge the oldest entries when there are more than ten updaters', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      await api.post(`${path}?fieldManager=m0`, configMap('x', { data: { k0: '1' } }));
      let answer: Answer | undefined;
      for (let i = 1; i <= 12; i++) {
        answer = await api.patch(`${path}/x?fieldManager=m${i}`, mergePatch, { data: { [`k${i}`]: '1' } });
      }
      const managers = managersOf(answer!.object);
      expect(managers).toContain('Update ancient-changes');
      expect(managers.length).toBeLessThanOrEqual(11);
    });

    it('can be cleared by an empty list', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      await api.create(path, configMap('x', { data: { a: '1' } }));
      const answer = await api.patch(`${path}/x`, mergePatch, { metadata: { managedFields: [{}] } });
      expect(answer.status).toBe(200);
      expect(answer.object.metadata).not.toHaveProperty('managedFields');
    });
  });
});

onTargets(targets, (on) => {
  describe('the field manager', () => {
    it('is refused when longer than 128 characters or not printable', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      const long = await api.post(`${path}?fieldManager=${'m'.repeat(129)}`, configMap('x'));
      expect(long.status).toBe(422);
      expect(long.body['message']).toContain('fieldManager: Too long: may not be more than 128');
      const odd = await api.post(`${path}?fieldManager=a%0Ab`, configMap('x'));
      expect(odd.status).toBe(422);
      expect(odd.body['message']).toContain('fieldManager: Invalid value: "a\\nb"');
    });
  });
});
