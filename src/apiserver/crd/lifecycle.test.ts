import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asJson, asTyped, isJsonObject, type JsonObject, type UnstructuredObject } from '../../machinery/index.ts';
import {
  type Answer,
  at,
  type CrdOptions,
  crd,
  crdVersion,
  eventually,
  mergePatch,
  type Namespace,
  onTargets,
  startTestWebhook,
  summary,
  type Target,
  type TestWebhook,
  targets,
  widget,
} from '../testing/index.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

interface Defined {
  group: string;
  /** path of the definition */
  path: string;
  ns: Namespace;
  widgets(version?: string): string;
}

/** Defines widgets in a unique group and waits until they are served. */
async function define(target: Target, options: Partial<CrdOptions> = {}): Promise<Defined> {
  const group = `${target.unique('crd')}.example.com`;
  await target.api.create(crds, crd({ ...options, group }));
  const path = `${crds}/widgets.${group}`;
  target.cleanUp(path);
  const ns = await target.namespace();
  const widgets = (version = 'v1'): string => ns.of(`${group}/${version}`, 'widgets');
  if (!target.ours) {
    await eventually(async () => ((await target.api.get(widgets())).status === 200 ? true : undefined));
  }
  return { group, path, ns, widgets };
}

function conditionsOf(object: UnstructuredObject): Record<string, string> {
  const conditions = at(object, 'status.conditions');
  const list = Array.isArray(conditions) ? conditions.filter(isJsonObject) : [];
  return Object.fromEntries(list.map(({ type, status, reason }) => [String(type), `${status} ${reason}`]));
}

/** Waits until a condition of a definition has the given status. */
function untilCondition(target: Target, path: string, type: string, value: string): Promise<UnstructuredObject> {
  return eventually(async () => {
    const { object } = await target.api.get(path);
    return conditionsOf(object)[type] === value ? object : undefined;
  });
}

/** Changes a definition and returns when the change is in effect. */
async function change(target: Target, path: string, versions: object[]): Promise<Answer> {
  const answer = await target.api.patch(path, mergePatch, { spec: { versions } });
  // A real server needs a moment to serve the new schema and does not signal it.
  if (!target.ours) await new Promise((resolve) => setTimeout(resolve, 2500));
  return answer;
}

onTargets(targets, (on) => {
  describe('a custom kind', () => {
    it('is served as soon as its definition is created, and has the condition Established', async () => {
      const target = on();
      const { group, path, widgets } = await define(target);
      const made = await target.api.post(widgets(), widget(group, 'first', { size: 'large' }));
      expect(made.status).toBe(201);
      expect(made.body).toMatchObject({ apiVersion: `${group}/v1`, kind: 'Widget', spec: { size: 'large' } });
      const definition = await untilCondition(target, path, 'Established', 'True InitialNamesAccepted');
      expect(conditionsOf(definition)['NamesAccepted']).toBe('True NoConflicts');
      expect(at(definition, 'status.storedVersions')).toEqual(['v1']);
      expect(at(definition, 'status.acceptedNames')).toMatchObject({
        plural: 'widgets',
        kind: 'Widget',
        listKind: 'WidgetList',
      });
    });

    it('appears in discovery with its names and disappears when its definition is deleted', async () => {
      const target = on();
      const names = { shortNames: [target.unique('wg')], categories: ['things'] };
      const { group, path } = await define(target, { names });
      const find = async (): Promise<JsonObject | undefined> => {
        const { body } = await target.api.get('/apis', { accept: aggregated });
        const items = body['items'] as JsonObject[];
        return items.find((item) => at(item, 'metadata.name') === group);
      };
      const found = await eventually(find);
      expect(at(found, 'versions.0')).toMatchObject({
        version: 'v1',
        resources: [
          {
            resource: 'widgets',
            responseKind: { group, version: 'v1', kind: 'Widget' },
            scope: 'Namespaced',
            singularResource: 'widget',
            ...names,
            subresources: [{ subresource: 'status' }],
          },
        ],
      });
      expect((await target.api.get(`/apis/${group}`)).body).toMatchObject({ kind: 'APIGroup', name: group });
      const { body } = await target.api.get(`/apis/${group}/v1`);
      expect((body['resources'] as JsonObject[]).map(({ name }) => name)).toEqual(['widgets', 'widgets/status']);
      await target.api.delete(path);
      await eventually(async () => ((await target.api.get(path)).status === 404 ? true : undefined));
      await eventually(async () => ((await find()) === undefined ? true : undefined));
      expect((await target.api.get(`/apis/${group}/v1`)).status).toBe(404);
      expect((await target.api.get(`/apis/${group}/v1/widgets`)).status).toBe(404);
    });

    it('has no namespace when its scope is Cluster', async () => {
      const target = on();
      const group = `${target.unique('crd')}.example.com`;
      await target.api.create(crds, crd({ group, scope: 'Cluster' }));
      target.cleanUp(`${crds}/widgets.${group}`);
      const path = `/apis/${group}/v1/widgets`;
      await eventually(async () => ((await target.api.get(path)).status === 200 ? true : undefined));
      const made = await target.api.post(path, widget(group, 'w'));
      expect([made.status, made.object.metadata.namespace]).toEqual([201, undefined]);
      expect((await target.api.get(`/apis/${group}/v1/namespaces/default/widgets`)).status).toBe(404);
    });

    it('is not served when its names are taken in its group', async () => {
      const target = on();
      const { group } = await define(target);
      const names = { singular: 'gadget', listKind: 'GadgetList' };
      const rival = crd({ group, plural: 'gadgets', kind: 'Widget', names });
      await target.api.create(crds, rival);
      target.cleanUp(`${crds}/gadgets.${group}`);
      const path = `${crds}/gadgets.${group}`;
      const definition = await untilCondition(target, path, 'NamesAccepted', 'False KindConflict');
      expect(conditionsOf(definition)['Established']).toBe('False NotAccepted');
      expect((await target.api.get(`/apis/${group}/v1/gadgets`)).status).toBe(404);
    });

    it('applies a new schema at once to pruning, validation and defaulting', async () => {
      const target = on();
      const { group, path, widgets } = await define(target);
      const before = await target.api.create(widgets(), widget(group, 'old', { size: 'small', colour: 'red' }));
      expect(before.body['spec']).toEqual({ size: 'small' });
      await change(target, path, [
        crdVersion('v1', {
          properties: { colour: { type: 'string', default: 'blue' }, size: { type: 'string', maxLength: 5 } },
        }),
      ]);
      const after = await target.api.create(widgets(), widget(group, 'new', { size: 'small' }));
      expect(after.body['spec']).toEqual({ size: 'small', colour: 'blue' });
      const refused = await target.api.post(widgets(), widget(group, 'bad', { size: 'enormous' }));
      expect(refused.status).toBe(422);
      // Defaults are applied on read, too; the stored object is unchanged.
      const read = await target.api.get(`${widgets()}/old`);
      expect(read.body['spec']).toEqual({ size: 'small', colour: 'blue' });
      expect(read.object.metadata.resourceVersion).toBe(before.object.metadata.resourceVersion);
      const listed = (await target.api.get(widgets())).items;
      expect(listed.map(({ spec }) => spec)).toEqual([
        { size: 'small', colour: 'blue' },
        { size: 'small', colour: 'blue' },
      ]);
      const watch = await target.api.watch(`${widgets()}?watch=true`);
      expect((await watch.take(2)).map(({ object }) => at(object, 'spec.colour'))).toEqual(['blue', 'blue']);
      watch.close();
    });

    it('is validated by its CEL rules', async () => {
      const target = on();
      const rule = { rule: 'self.replicas <= 3', message: 'at most three' };
      const fixed = { rule: 'self == oldSelf', message: 'cannot change' };
      const { group, widgets } = await define(target, {
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  spec: {
                    type: 'object',
                    properties: {
                      replicas: { type: 'integer' },
                      id: { type: 'string', 'x-kubernetes-validations': [fixed] },
                    },
                    'x-kubernetes-validations': [rule],
                  },
                },
              },
            },
          },
        ],
      });
      const many = await target.api.post(widgets(), widget(group, 'w', { replicas: 4 }));
      expect(many.status).toBe(422);
      expect(many.body['message']).toBe(
        `Widget.${group} "w" is invalid: spec: Invalid value: at most three`.replace(
          'value: at',
          'value: "object": at',
        ),
      );
      await target.api.create(widgets(), widget(group, 'w', { replicas: 3, id: 'a' }));
      const changed = await target.api.patch(`${widgets()}/w`, mergePatch, { spec: { id: 'b' } });
      expect(changed.status).toBe(422);
      expect(changed.body['message']).toContain('spec.id: Invalid value: "string": cannot change');
    });
  });

  describe('the versions of a custom kind', () => {
    const two = (storage: 'v1' | 'v2'): object[] => [
      crdVersion('v1', { storage: storage === 'v1', properties: { legacy: { type: 'string' } } }),
      crdVersion('v2', { storage: storage === 'v2', deprecated: false }),
    ];

    it('differ only in apiVersion without conversion, and each prunes by its own schema', async () => {
      const target = on();
      const { group, widgets } = await define(target, { versions: two('v1') });
      await target.api.create(widgets('v1'), widget(group, 'w', { size: 's', legacy: 'x' }));
      const read = await target.api.get(`${widgets('v2')}/w`);
      expect(read.body).toMatchObject({ apiVersion: `${group}/v2`, spec: { size: 's' } });
      const made = await target.api.create(widgets('v2'), widget(group, 'w2', { size: 't', legacy: 'y' }, {}, 'v2'));
      expect(made.body['spec']).toEqual({ size: 't' });
      const listed = (await target.api.get(widgets('v1'))).items;
      expect(listed.map(({ apiVersion }) => apiVersion)).toEqual([`${group}/v1`, `${group}/v1`]);
    });

    it('are recorded in storedVersions when storage moves, and older objects stay readable', async () => {
      const target = on();
      const { group, path, widgets } = await define(target, { versions: two('v1') });
      await target.api.create(widgets('v1'), widget(group, 'old', { size: 's' }));
      await change(target, path, two('v2'));
      await target.api.create(widgets('v1'), widget(group, 'new', { size: 't' }));
      expect(at((await target.api.get(path)).body, 'status.storedVersions')).toEqual(['v1', 'v2']);
      for (const version of ['v1', 'v2']) {
        const { items } = await target.api.get(widgets(version));
        expect(items.map(({ apiVersion, metadata }) => `${apiVersion} ${metadata.name}`)).toEqual([
          `${group}/${version} new`,
          `${group}/${version} old`,
        ]);
      }
      const gone = await target.api.patch(path, mergePatch, { spec: { versions: [two('v2')[1]] } });
      expect(gone.status).toBe(422);
      expect(gone.body['message']).toContain(
        'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions',
      );
    });

    it('answer 404 when they are not served', async () => {
      const target = on();
      const { group, widgets } = await define(target, {
        versions: [crdVersion('v1'), crdVersion('v2', { served: false, storage: false })],
      });
      expect((await target.api.get(widgets('v2'))).status).toBe(404);
      const { body } = await target.api.get(`/apis/${group}`);
      expect((body['versions'] as JsonObject[]).map(({ version }) => version)).toEqual(['v1']);
    });

    it('warn when they are deprecated', async () => {
      const target = on();
      const { group, widgets } = await define(target, {
        versions: [
          crdVersion('v1', { deprecated: true }),
          crdVersion('v2', { storage: false, deprecated: true, deprecationWarning: 'please stop' }),
        ],
      });
      expect((await target.api.get(widgets('v1'))).warnings).toEqual([`299 - "${group}/v1 Widget is deprecated"`]);
      expect((await target.api.get(widgets('v2'))).warnings).toEqual(['299 - "please stop"']);
    });

    it('are listed with the newest and most stable first', async () => {
      const target = on();
      const version = (name: string, storage = false): object => crdVersion(name, { storage });
      const { group } = await define(target, {
        versions: [version('v1', true), version('v2beta1'), version('v10'), version('v1alpha1'), version('v2')],
      });
      const { body } = await target.api.get(`/apis/${group}`);
      const order = (body['versions'] as JsonObject[]).map(({ version: name }) => name);
      expect(order).toEqual(['v10', 'v2', 'v1', 'v2beta1', 'v1alpha1']);
    });
  });

  describe('deleting a definition', () => {
    it('deletes its objects, and a new definition starts with none', async () => {
      const target = on();
      const { group, path, widgets } = await define(target);
      await target.api.create(widgets(), widget(group, 'a'));
      const watch = await target.api.watch(`${widgets()}?watch=true`);
      await watch.take(1);
      await target.api.delete(path);
      expect(summary(await watch.take(1))).toEqual(['DELETED a']);
      await eventually(async () => ((await target.api.get(path)).status === 404 ? true : undefined));
      expect((await watch.rest()).filter(({ type }) => type !== 'ERROR')).toEqual([]);
      await eventually(async () => ((await target.api.get(widgets())).status === 404 ? true : undefined));
      await target.api.create(crds, crd({ group }));
      const items = await eventually(async () => {
        const answer = await target.api.get(widgets());
        return answer.status === 200 ? answer.items : undefined;
      });
      expect(items).toEqual([]);
    });

    it('waits for objects with finalizers, which can be changed while new ones are refused', async () => {
      const target = on();
      const { group, path, widgets } = await define(target);
      await target.api.create(widgets(), widget(group, 'held', {}, { finalizers: ['example.com/hold'] }));
      await target.api.create(widgets(), widget(group, 'free'));
      await target.api.delete(path);
      await untilCondition(target, path, 'Terminating', 'True InstanceDeletionInProgress');
      await eventually(async () => ((await target.api.get(`${widgets()}/free`)).status === 404 ? true : undefined));
      const refused = await target.api.post(widgets(), widget(group, 'late'));
      expect(refused.status).toBe(403);
      expect(refused.body['message']).toBe(
        `widgets.${group} "late" is forbidden: create not allowed while custom resource definition is terminating`,
      );
      const held = await eventually(async () => {
        const { object } = await target.api.get(`${widgets()}/held`);
        return object.metadata.deletionTimestamp ? object : undefined;
      });
      expect(held.metadata.finalizers).toEqual(['example.com/hold']);
      const freed = await target.api.patch(`${widgets()}/held`, mergePatch, { metadata: { finalizers: null } });
      expect(freed.status).toBe(200);
      await eventually(async () => ((await target.api.get(path)).status === 404 ? true : undefined));
    });
  });
});

onTargets(targets, (on) => {
  describe('a CustomResourceDefinition', () => {
    it.each([
      ['whose name is not plural.group', { metadata: { name: 'gadgets.example.com' } }, 'metadata.name: Invalid value'],
      [
        'without a storage version',
        { versions: [crdVersion('v1', { storage: false })] },
        'must have exactly one version marked as storage version',
      ],
      [
        'without a schema',
        { versions: [{ name: 'v1', served: true, storage: true }] },
        'schema.openAPIV3Schema: Required value',
      ],
      [
        'whose schema has no types',
        {
          versions: [
            { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { properties: { a: {} } } } },
          ],
        },
        'must not be empty for specified object fields',
      ],
    ])('%s is refused with 422', async (_, options, message) => {
      const target = on();
      const group = `${target.unique('crd')}.example.com`;
      const { metadata, ...rest } = options as { metadata?: { name: string } };
      const object = crd({ group, ...rest });
      const answer = await target.api.post(crds, { ...object, ...(metadata && { metadata }) });
      expect(answer.status).toBe(422);
      expect(answer.body['message']).toContain(message);
    });

    it('ignores a status that the client sends', async () => {
      const target = on();
      const group = `${target.unique('crd')}.example.com`;
      const status = { conditions: [], storedVersions: ['v7'], acceptedNames: { plural: 'x', kind: 'X' } };
      const made = await target.api.create(crds, { ...crd({ group }), status });
      target.cleanUp(`${crds}/widgets.${group}`);
      expect(at(made.body, 'status.storedVersions')).toEqual(['v1']);
    });
  });

  describe('conversion by webhook', () => {
    let hook: TestWebhook;
    beforeAll(async () => {
      hook = await startTestWebhook();
    });
    afterAll(() => hook.stop());

    /** v1 has the field size, v2 has width. */
    function convert(review: JsonObject): JsonObject {
      const request = review['request'] as JsonObject;
      const desired = String(request['desiredAPIVersion']);
      const convertedObjects = asTyped<UnstructuredObject[]>(request['objects']!).map((object) => {
        const { size, width, ...rest } = (object.spec ?? {}) as Record<string, string>;
        const value = size ?? width;
        const key = desired.endsWith('/v2') ? 'width' : 'size';
        return { ...object, apiVersion: desired, spec: { ...rest, ...(value !== undefined && { [key]: value }) } };
      });
      return {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'ConversionReview',
        response: {
          uid: request['uid'],
          result: { status: 'Success' },
          convertedObjects: asJson(convertedObjects),
        },
      };
    }

    const defineConverted = (target: Target): Promise<Defined> =>
      define(target, {
        versions: [crdVersion('v1'), crdVersion('v2', { storage: false, properties: { width: { type: 'string' } } })],
        conversion: {
          strategy: 'Webhook',
          webhook: {
            conversionReviewVersions: ['v1'],
            clientConfig: { url: `${hook.url}/convert`, caBundle: hook.caBundle },
          },
        },
      });

    it('is called to read, list, watch and write versions other than the stored one', async () => {
      const target = on();
      hook.answer(convert);
      const { group, widgets } = await defineConverted(target);
      await target.api.create(widgets('v1'), widget(group, 'a', { size: '1' }));
      const made = await target.api.create(widgets('v2'), widget(group, 'b', { width: '2' }, {}, 'v2'));
      expect(made.body).toMatchObject({ apiVersion: `${group}/v2`, spec: { width: '2' } });
      expect((await target.api.get(`${widgets('v1')}/b`)).body['spec']).toEqual({ size: '2' });
      expect((await target.api.get(`${widgets('v2')}/a`)).body['spec']).toEqual({ width: '1' });
      const listed = (await target.api.get(widgets('v2'))).items;
      expect(listed.map(({ apiVersion, spec }) => [apiVersion, spec])).toEqual([
        [`${group}/v2`, { width: '1' }],
        [`${group}/v2`, { width: '2' }],
      ]);
      const patched = await target.api.patch(`${widgets('v2')}/a`, mergePatch, { spec: { width: '3' } });
      expect(patched.body['spec']).toEqual({ width: '3' });
      const watch = await target.api.watch(`${widgets('v2')}?watch=true`);
      const events = await watch.take(2);
      await target.api.patch(`${widgets('v1')}/a`, mergePatch, { spec: { size: '4' } });
      await target.api.delete(`${widgets('v1')}/b`);
      events.push(...(await watch.take(2)));
      watch.close();
      expect(events.slice(2).map(({ type, object }) => [type, object.apiVersion, object.spec])).toEqual([
        ['MODIFIED', `${group}/v2`, { width: '4' }],
        ['DELETED', `${group}/v2`, { width: '2' }],
      ]);
      expect(hook.received[0]!.review).toMatchObject({
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'ConversionReview',
      });
    });

    it('may change labels and annotations, but no other metadata', async () => {
      const target = on();
      hook.answer((review) => {
        const answer = convert(review);
        for (const object of asTyped<UnstructuredObject[]>(at(answer, 'response.convertedObjects')!)) {
          object.metadata = { ...object.metadata, labels: { converted: 'yes' }, finalizers: ['example.com/smuggled'] };
        }
        return answer;
      });
      const { group, widgets } = await defineConverted(target);
      await target.api.create(widgets('v1'), widget(group, 'a'));
      const { metadata } = (await target.api.get(`${widgets('v2')}/a`)).object;
      expect(metadata.labels).toEqual({ converted: 'yes' });
      expect(metadata).not.toHaveProperty('finalizers');
    });

    it('passes on the message of the webhook when it fails', async () => {
      const target = on();
      hook.answer(convert);
      const { group, widgets } = await defineConverted(target);
      await target.api.create(widgets('v1'), widget(group, 'a'));
      hook.answer((review) => ({
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'ConversionReview',
        response: { uid: at(review, 'request.uid')!, result: { status: 'Failure', message: 'out of paper' } },
      }));
      const answer = await target.api.get(`${widgets('v2')}/a`);
      expect(answer.status).toBe(500);
      expect(answer.body['message']).toContain('conversion webhook for');
      expect(answer.body['message']).toContain('out of paper');
      expect((await target.api.get(`${widgets('v1')}/a`)).status).toBe(200);
    });
  });
});
