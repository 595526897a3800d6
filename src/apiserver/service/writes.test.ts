import { describe, expect, it } from 'vitest';
import { type Random, systemRandom, type UnstructuredObject } from '../../machinery/index.ts';
import {
  type Answer,
  at,
  configMap,
  crd,
  deployment,
  eventually,
  mergePatch,
  type Namespace,
  onTargets,
  startTestServer,
  type Target,
  targets,
  targetsByEngine,
  widget,
} from '../testing/index.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const revisionOf = (answer: Answer): number => Number(answer.object.metadata.resourceVersion);

/** Defines widgets in a unique group. */
async function defineWidgets(
  target: Target,
  version: object = {},
): Promise<{ group: string; path: string; ns: Namespace }> {
  const group = `${target.unique('writes')}.example.com`;
  await target.api.create(crds, crd({ group, version }));
  target.cleanUp(`${crds}/widgets.${group}`);
  const ns = await target.namespace();
  const path = ns.of(`${group}/v1`, 'widgets');
  await eventually(async () => ((await target.api.get(path)).status === 200 ? true : undefined));
  return { group, path, ns };
}

onTargets(targetsByEngine, (on, { real }) => {
  describe('POST of a new object', () => {
    it('is answered 201 with uid, time, generation, revision and field ownership', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).of('apps/v1', 'deployments');
      const answer = await api.post(`${path}?fieldManager=maker`, deployment('made'));
      expect(answer.status).toBe(201);
      const { metadata } = answer.object;
      expect(metadata).toMatchObject({
        uid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
        creationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        generation: 1,
        resourceVersion: expect.stringMatching(/^[1-9]\d*$/),
        managedFields: [
          {
            manager: 'maker',
            operation: 'Update',
            apiVersion: 'apps/v1',
            fieldsType: 'FieldsV1',
            time: metadata.creationTimestamp,
          },
        ],
      });
      expect((await api.get(`${path}/made`)).object.metadata.uid).toBe(metadata.uid);
    });

    it('overwrites fields that only the server may set', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      const sent = configMap('mine', {
        metadata: {
          uid: 'chosen',
          creationTimestamp: '2001-01-01T00:00:00Z',
          deletionTimestamp: '2001-01-01T00:00:00Z',
          deletionGracePeriodSeconds: 5,
          selfLink: '/somewhere',
        },
      });
      const { metadata } = (await api.create(path, sent)).object;
      expect(metadata.uid).not.toBe('chosen');
      expect(metadata.creationTimestamp).not.toBe('2001-01-01T00:00:00Z');
      for (const field of ['deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink', 'generation']) {
        expect(metadata).not.toHaveProperty(field);
      }
    });

    it('ignores the status of a kind with a status subresource', async () => {
      const target = on();
      const deployments = (await target.namespace()).of('apps/v1', 'deployments');
      const made = await target.api.create(deployments, { ...deployment('d'), status: { replicas: 7 } });
      expect(at(made.body, 'status.replicas')).toBeUndefined();
      const { group, path } = await defineWidgets(target);
      const custom = await target.api.create(path, { ...widget(group, 'w'), status: { ready: true } });
      expect(custom.body).not.toHaveProperty('status');
    });

    it('is answered 409 AlreadyExists when the name is taken', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).of('apps/v1', 'deployments');
      await api.create(path, deployment('taken'));
      const answer = await api.post(path, deployment('taken'));
      expect(answer.status).toBe(409);
      expect(answer.body).toEqual({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'deployments.apps "taken" already exists',
        reason: 'AlreadyExists',
        details: { name: 'taken', group: 'apps', kind: 'deployments' },
        code: 409,
      });
    });

    it('with generateName gets the base, cut to 58, and five characters that spell no words', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      const make = async (generateName: string): Promise<string> => {
        const made = await api.create(path, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName } });
        expect(made.object.metadata.generateName).toBe(generateName);
        return made.object.metadata.name!;
      };
      expect(await make('base-')).toMatch(/^base-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
      const long = 'b'.repeat(70);
      expect(await make(long)).toMatch(new RegExp(`^${long.slice(0, 58)}[bcdfghjklmnpqrstvwxz2456789]{5}$`));
    });

    it('is refused without a name or a generateName', async () => {
      const { api, namespace } = on();
      const answer = await api.post((await namespace()).core('configmaps'), configMap(''));
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({
        reason: 'Invalid',
        message: 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
        details: {
          kind: 'ConfigMap',
          causes: [
            {
              reason: 'FieldValueRequired',
              message: 'Required value: name or generateName is required',
              field: 'metadata.name',
            },
          ],
        },
      });
    });

    it('reports other errors too when the name is missing', async () => {
      const target = on();
      const { group, path } = await defineWidgets(target, {
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', required: ['size'], properties: { size: { type: 'integer' } } } },
          },
        },
      });
      const custom = await target.api.post(path, { ...widget(group, ''), spec: {} });
      expect(custom.status).toBe(422);
      expect(custom.body['message']).toContain(
        'is invalid: [metadata.name: Required value: name or generateName is required, spec.size: Required value',
      );
      const deployments = (await target.namespace()).of('apps/v1', 'deployments');
      const builtIn = await target.api.post(deployments, deployment('', { spec: { replicas: -1 } }));
      expect(builtIn.status).toBe(422);
      expect(builtIn.body['message']).toMatch(
        /\[metadata\.name: Required value: .*, spec\.replicas: Invalid value: -1/,
      );
    });

    it('ignores the namespace of a cluster-scoped kind', async () => {
      const { api, unique, cleanUp } = on();
      const name = unique('placeless');
      const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
      const kind = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', rules: [] };
      const role = (labels: Record<string, string>) => ({ ...kind, metadata: { name, namespace: 'default', labels } });
      cleanUp(`${roles}/${name}`);
      const written = [
        await api.create(roles, role({})),
        await api.put(`${roles}/${name}`, role({ a: 'put' })),
        await api.patch(`${roles}/${name}`, mergePatch, {
          metadata: { namespace: 'default', labels: { a: 'patched' } },
        }),
        await api.apply(`${roles}/${name}?fieldManager=m&force=true`, role({ a: 'applied' })),
      ];
      expect(written.map(({ status }) => status)).toEqual([201, 200, 200, 200]);
      for (const { object } of written) expect(object.metadata).not.toHaveProperty('namespace');
    });

    it('takes the namespace from the URL and refuses a different one', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      const made = await api.create(ns.core('configmaps'), configMap('placed'));
      expect(made.object.metadata.namespace).toBe(ns.name);
      const answer = await api.post(ns.core('configmaps'), configMap('lost', { metadata: { namespace: 'default' } }));
      expect(answer.status).toBe(400);
      expect(answer.body['message']).toBe(
        'the namespace of the provided object does not match the namespace sent on the request',
      );
    });

    it('is answered 400 when kind or version do not match the URL', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      const wrongKind = await api.post(ns.core('configmaps'), { ...configMap('x'), kind: 'Secret' });
      expect(wrongKind.status).toBe(400);
      const wrongVersion = await api.post(ns.core('configmaps'), { ...configMap('x'), apiVersion: 'apps/v1' });
      expect(wrongVersion.status).toBe(400);
    });

    // kube-apiserver returns 500 here.
    it.skipIf(real)('is answered 400 when it has a resourceVersion', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      const answer = await api.post(ns.core('configmaps'), configMap('x', { metadata: { resourceVersion: '5' } }));
      expect(answer.status).toBe(400);
      expect(answer.body['message']).toBe('resourceVersion should not be set on objects to be created');
    });

    it('keeps annotations byte for byte', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      const text = '{"a": "é\\u0000 \\t\\n",\n\t"b":"<&>\u2028 😀"}\n';
      const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': text };
      await api.create(ns.core('configmaps'), configMap('annotated', { metadata: { annotations } }));
      const { metadata } = (await api.get(`${ns.core('configmaps')}/annotated`)).object;
      expect(metadata.annotations).toEqual(annotations);
    });
  });

  describe('PUT of an object', () => {
    it('of a custom kind is refused without a resourceVersion', async () => {
      const target = on();
      const { group, path } = await defineWidgets(target);
      await target.api.create(path, widget(group, 'w', { size: 'small' }));
      const answer = await target.api.put(`${path}/w`, widget(group, 'w', { size: 'large' }));
      expect(answer.status).toBe(422);
      expect(answer.body['message']).toBe(
        `widgets.${group} "w" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`,
      );
    });

    it('of a built-in kind may leave out the resourceVersion', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      await api.create(path, configMap('x', { data: { a: '1' } }));
      const answer = await api.put(`${path}/x`, configMap('x', { data: { b: '2' } }));
      expect(answer.status).toBe(200);
      expect(answer.body['data']).toEqual({ b: '2' });
    });

    it('is answered 409 Conflict when it has an older revision', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      const made = await api.create(path, configMap('x'));
      await api.patch(`${path}/x`, mergePatch, { data: { n: '1' } });
      const answer = await api.put(`${path}/x`, { ...made.object, data: { n: '2' } });
      expect(answer.status).toBe(409);
      expect(answer.body).toMatchObject({
        reason: 'Conflict',
        message:
          'Operation cannot be fulfilled on configmaps "x": the object has been modified; please apply your changes to the latest version and try again',
        details: { name: 'x', kind: 'configmaps' },
      });
    });

    it('is answered 409 when its uid is of another object', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      const made = await api.create(path, configMap('x'));
      const answer = await api.put(`${path}/x`, configMap('x', { metadata: { uid: 'other' } }));
      expect(answer.status).toBe(409);
      expect(answer.body['message']).toContain(
        `Precondition failed: UID in precondition: other, UID in object meta: ${made.object.metadata.uid}`,
      );
    });

    it('is answered 400 when its name or namespace does not match the URL', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      await api.create(path, configMap('x'));
      const name = await api.put(`${path}/x`, configMap('y'));
      expect(name.status).toBe(400);
      expect(name.body['message']).toBe('the name of the object (y) does not match the name on the URL (x)');
      const space = await api.put(`${path}/x`, configMap('x', { metadata: { namespace: 'default' } }));
      expect(space.status).toBe(400);
    });

    it('is answered 404 when the object does not exist', async () => {
      const target = on();
      const { group, path, ns } = await defineWidgets(target);
      expect((await target.api.put(`${ns.core('configmaps')}/none`, configMap('none'))).status).toBe(404);
      const custom = widget(group, 'none', {}, { resourceVersion: '1' });
      expect((await target.api.put(`${path}/none`, custom)).status).toBe(404);
    });

    it('creates a missing lease, and needs the revision of an existing one', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).of('coordination.k8s.io/v1', 'leases');
      const lease = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'l' },
        spec: { holderIdentity: 'me' },
      };
      expect((await api.put(`${path}/l`, lease)).status).toBe(201);
      const again = await api.put(`${path}/l`, lease);
      expect(again.status).toBe(422);
      expect(again.body['message']).toContain('metadata.resourceVersion: Invalid value: 0: must be specified');
    });

    it('increments the generation for changes of the spec, not of metadata or status', async () => {
      const target = on();
      const { group, path } = await defineWidgets(target);
      const deployments = (await target.namespace()).of('apps/v1', 'deployments');
      await target.api.create(deployments, deployment('d'));
      await target.api.create(path, widget(group, 'w', { replicas: 1 }));
      for (const url of [`${deployments}/d`, `${path}/w`]) {
        const generation = async (suffix: string, patch: object): Promise<number | undefined> => {
          const answer = await target.api.patch(url + suffix, mergePatch, patch);
          expect(answer.status, answer.text).toBe(200);
          return answer.object.metadata.generation;
        };
        expect(await generation('', { spec: { replicas: 2 } })).toBe(2);
        expect(await generation('', { metadata: { labels: { a: '1' } } })).toBe(2);
        expect(await generation('/status', { status: { observedGeneration: 2 } })).toBe(2);
        expect(await generation('', { spec: { replicas: 3 } })).toBe(3);
        expect(await generation('', { spec: { replicas: 3 } })).toBe(3);
      }
    });

    it('makes no revision when nothing changes', async () => {
      const target = on();
      const { group, path, ns } = await defineWidgets(target);
      const made = await target.api.create(ns.core('configmaps'), configMap('same', { data: { a: '1' } }));
      const again = await target.api.put(`${ns.core('configmaps')}/same`, made.object);
      expect(revisionOf(again)).toBe(revisionOf(made));
      const patched = await target.api.patch(`${ns.core('configmaps')}/same`, mergePatch, { data: { a: '1' } });
      expect(revisionOf(patched)).toBe(revisionOf(made));
      const custom = await target.api.create(path, widget(group, 'same', { size: 'x' }));
      const customAgain = await target.api.put(`${path}/same`, custom.object);
      expect(revisionOf(customAgain)).toBe(revisionOf(custom));
    });

    it('keeps fields that only the server may set', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      const { metadata } = (await api.create(path, configMap('x'))).object;
      const sent = { creationTimestamp: '2001-01-01T00:00:00Z', generation: 7, selfLink: '/x' };
      const answer = await api.put(`${path}/x`, configMap('x', { metadata: sent, data: { a: '1' } }));
      expect(answer.object.metadata).toMatchObject({
        uid: metadata.uid,
        creationTimestamp: metadata.creationTimestamp,
      });
      expect(answer.object.metadata).not.toHaveProperty('generation');
      expect(answer.object.metadata).not.toHaveProperty('selfLink');
    });

    it.each([
      ['deletionTimestamp', '2001-01-01T00:00:00Z'],
      ['deletionGracePeriodSeconds', 5],
    ])('cannot set %s', async (field, value) => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      await api.create(path, configMap('x'));
      const answer = await api.put(`${path}/x`, configMap('x', { metadata: { [field]: value } }));
      expect(answer.status).toBe(422);
      expect(answer.body['message']).toBe(
        `ConfigMap "x" is invalid: metadata.${field}: Invalid value: ${JSON.stringify(value)}: field is immutable`,
      );
    });
  });

  describe('the status of an object', () => {
    it('is the only part its subresource writes, and the main resource writes everything else', async () => {
      const target = on();
      const { group, path } = await defineWidgets(target);
      const made = await target.api.create(path, widget(group, 'w', { size: 'small' }));
      const { resourceVersion } = made.object.metadata;
      const sent = {
        ...widget(group, 'w', { size: 'large' }, { resourceVersion, labels: { a: '1' } }),
        status: { ready: true },
      };
      const status = await target.api.put(`${path}/w/status`, sent);
      expect(status.status).toBe(200);
      expect(status.body).toMatchObject({ spec: { size: 'small' }, status: { ready: true } });
      expect(status.object.metadata.labels).toBeUndefined();
      const main = await target.api.put(`${path}/w`, {
        ...sent,
        metadata: { ...sent.metadata, resourceVersion: status.object.metadata.resourceVersion },
        status: { ready: false },
      });
      expect(main.body).toMatchObject({
        metadata: { labels: { a: '1' } },
        spec: { size: 'large' },
        status: { ready: true },
      });
    });

    it('is answered 404 for a kind without that subresource', async () => {
      const target = on();
      const { group, path, ns } = await defineWidgets(target, { subresources: {} });
      await target.api.create(path, widget(group, 'w'));
      expect((await target.api.get(`${path}/w/status`)).status).toBe(404);
      await target.api.create(ns.core('configmaps'), configMap('c'));
      expect((await target.api.get(`${ns.core('configmaps')}/c/status`)).status).toBe(404);
    });

    it('is an ordinary field when the kind has no status subresource', async () => {
      const target = on();
      const { group, path } = await defineWidgets(target, { subresources: {} });
      const made = await target.api.create(path, { ...widget(group, 'w'), status: { ready: true } });
      expect(made.body['status']).toEqual({ ready: true });
      const changed = await target.api.patch(`${path}/w`, mergePatch, { status: { ready: false } });
      expect(changed.object.metadata.generation).toBe(2);
    });
  });

  describe('DELETE of an object', () => {
    it('is answered 200 with a Status that names the deleted object', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).of('apps/v1', 'replicasets');
      const made = await api.create(path, { ...deployment('x'), kind: 'ReplicaSet' });
      const answer = await api.delete(`${path}/x?propagationPolicy=Background`);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Success',
        details: { name: 'x', group: 'apps', kind: 'replicasets', uid: made.object.metadata.uid },
      });
      expect((await api.get(`${path}/x`)).status).toBe(404);
      expect((await api.delete(`${path}/x`)).status).toBe(404);
    });

    it('marks an object with finalizers and answers with it', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      await api.create(path, configMap('held', { metadata: { finalizers: ['example.com/hold'] } }));
      const answer = await api.delete(`${path}/held`);
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({
        kind: 'ConfigMap',
        metadata: { name: 'held', deletionTimestamp: expect.any(String), deletionGracePeriodSeconds: 0 },
      });
      const again = await api.delete(`${path}/held`);
      expect(again.status).toBe(200);
      expect(revisionOf(again)).toBe(revisionOf(answer));
      const gone = await api.patch(`${path}/held`, mergePatch, { metadata: { finalizers: null } });
      expect(gone.status).toBe(200);
      expect((await api.get(`${path}/held`)).status).toBe(404);
    });

    it('cannot be undone, and new finalizers are refused afterwards', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      await api.create(path, configMap('held', { metadata: { finalizers: ['example.com/a', 'example.com/b'] } }));
      const marked = await api.delete(`${path}/held`);
      const added = await api.patch(`${path}/held`, mergePatch, {
        metadata: { finalizers: ['example.com/a', 'example.com/b', 'example.com/c'] },
      });
      expect(added.status).toBe(422);
      expect(added.body['message']).toContain(
        'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/c"}',
      );
      const revived = await api.patch(`${path}/held`, mergePatch, { metadata: { deletionTimestamp: null } });
      expect(revived.object.metadata.deletionTimestamp).toBe(marked.object.metadata.deletionTimestamp);
      const fewer = await api.patch(`${path}/held`, mergePatch, { metadata: { finalizers: ['example.com/b'] } });
      expect(fewer.object.metadata.finalizers).toEqual(['example.com/b']);
      await api.patch(`${path}/held`, mergePatch, { metadata: { finalizers: [] } });
      expect((await api.get(`${path}/held`)).status).toBe(404);
    });

    it.each([
      ['Foreground', 'foregroundDeletion'],
      ['Orphan', 'orphan'],
    ])('with policy %s in body or query adds a finalizer for the garbage collector', async (policy, finalizer) => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      for (const [name, query, body] of [
        ['by-body', '', { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: policy }],
        ['by-query', `?propagationPolicy=${policy}`, undefined],
      ] as const) {
        await api.create(path, configMap(name));
        const answer = await api.delete(`${path}/${name}${query}`, body);
        expect(answer.body).toMatchObject({ metadata: { finalizers: [finalizer], deletionGracePeriodSeconds: 0 } });
      }
    });

    it('is answered 409 when its preconditions do not hold', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      const { uid, resourceVersion } = (await api.create(path, configMap('x'))).object.metadata;
      const wrongUid = await api.delete(`${path}/x`, { preconditions: { uid: 'other' } });
      expect(wrongUid.status).toBe(409);
      expect(wrongUid.body['message']).toBe(
        `Operation cannot be fulfilled on ConfigMap "x": the UID in the precondition (other) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
      );
      const wrongVersion = await api.delete(`${path}/x`, { preconditions: { resourceVersion: '1' } });
      expect(wrongVersion.status).toBe(409);
      expect(wrongVersion.body['message']).toContain(
        `the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${resourceVersion})`,
      );
      expect((await api.delete(`${path}/x`, { preconditions: { uid, resourceVersion } })).status).toBe(200);
    });

    it('is answered 422 with an unknown policy or with two policies', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      await api.create(path, configMap('x'));
      const unknown = await api.delete(`${path}/x`, { propagationPolicy: 'Slowly' });
      expect(unknown.status).toBe(422);
      expect(unknown.body['message']).toContain('propagationPolicy: Unsupported value: "Slowly"');
      const both = await api.delete(`${path}/x`, { propagationPolicy: 'Orphan', orphanDependents: true });
      expect(both.status).toBe(422);
    });
  });

  describe('DELETE of a collection', () => {
    it('deletes what the selectors match and answers with the list', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('secrets');
      for (const [name, go] of Object.entries({ a: 'yes', b: 'no', c: 'yes' })) {
        await api.create(path, { ...configMap(name, { metadata: { labels: { go } } }), kind: 'Secret' });
      }
      const answer = await api.delete(`${path}?labelSelector=go%3Dyes`);
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({ kind: 'SecretList', apiVersion: 'v1' });
      expect(answer.items.map(({ metadata }) => metadata.name)).toEqual(['a', 'c']);
      const left = (await api.get(path)).items.map(({ metadata }) => metadata.name);
      expect(left).toEqual(['b']);
    });

    it('respects finalizers and options', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('secrets');
      await api.create(path, {
        ...configMap('held', { metadata: { finalizers: ['example.com/hold'] } }),
        kind: 'Secret',
      });
      await api.create(path, { ...configMap('free'), kind: 'Secret' });
      const tried = await api.delete(`${path}?dryRun=All`);
      expect(tried.status).toBe(200);
      expect((await api.get(path)).items).toHaveLength(2);
      await api.delete(path, { propagationPolicy: 'Background' });
      const [left, ...more] = (await api.get(path)).items;
      expect(more).toEqual([]);
      expect(left!.metadata).toMatchObject({ name: 'held', deletionTimestamp: expect.any(String) });
      await api.patch(`${path}/held`, mergePatch, { metadata: { finalizers: null } });
    });
  });

  describe('dryRun', () => {
    it('runs all steps and stores nothing', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      const created = await api.post(`${path}?dryRun=All`, configMap('tried'));
      expect(created.status).toBe(201);
      expect(created.object.metadata.uid).toBeTypeOf('string');
      expect(created.object.metadata).not.toHaveProperty('resourceVersion');
      expect((await api.get(`${path}/tried`)).status).toBe(404);

      const made = await api.create(path, configMap('real', { data: { a: '1' } }));
      expect((await api.post(`${path}?dryRun=All`, configMap('real'))).status).toBe(409);
      const replaced = await api.put(`${path}/real?dryRun=All`, configMap('real', { data: { a: '2' } }));
      expect(replaced.body).toMatchObject({ data: { a: '2' } });
      const patched = await api.patch(`${path}/real?dryRun=All`, mergePatch, { data: { a: '3' } });
      expect(patched.body).toMatchObject({ data: { a: '3' } });
      const applied = await api.apply(
        `${path}/real?dryRun=All&fieldManager=me&force=true`,
        configMap('real', { data: { a: '4' } }),
      );
      expect(applied.body).toMatchObject({ data: { a: '4' } });
      expect((await api.delete(`${path}/real?dryRun=All`)).status).toBe(200);
      expect((await api.delete(`${path}/real`, { dryRun: ['All'] })).status).toBe(200);
      expect((await api.get(`${path}/real`)).object).toEqual(made.object);
    });

    it.each(['Some', 'all'])('of %s is answered 422', async (value) => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      const answer = await api.post(`${path}?dryRun=${value}`, configMap('x'));
      expect(answer.status).toBe(422);
      expect(answer.body['message']).toContain(`dryRun: Unsupported value: ["${value}"]: supported values: "All"`);
    });
  });
});

onTargets(targets, (on) => {
  describe('fieldValidation', () => {
    const unknown = { ...configMap('x'), surprise: 1 };
    const duplicate = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"1","a":"2"}}';

    it('Strict refuses unknown and duplicate fields', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      const first = await api.post(`${path}?fieldValidation=Strict`, unknown);
      expect([first.status, first.body['message']]).toEqual([
        400,
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "surprise"',
      ]);
      const second = await api.post(`${path}?fieldValidation=Strict`, duplicate);
      expect([second.status, second.body['message']]).toEqual([
        400,
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "data.a"',
      ]);
    });

    it('Warn is the default: it warns, stores the rest and takes the last of duplicate fields', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      for (const query of ['?fieldValidation=Warn', '']) {
        const first = await api.post(path + query, { ...unknown, metadata: { generateName: 'x' } });
        expect(first.status).toBe(201);
        expect(first.warnings).toEqual(['299 - "unknown field \\"surprise\\""']);
        expect(first.body).not.toHaveProperty('surprise');
      }
      const second = await api.post(path, duplicate);
      expect(second.warnings).toEqual(['299 - "duplicate field \\"data.a\\""']);
      expect(second.body['data']).toEqual({ a: '2' });
    });

    it('Ignore stores the rest without warnings', async () => {
      const { api, namespace } = on();
      const answer = await api.post(`${(await namespace()).core('configmaps')}?fieldValidation=Ignore`, unknown);
      expect([answer.status, answer.warnings]).toEqual([201, []]);
    });

    it('any other value is answered 422', async () => {
      const { api, namespace } = on();
      const answer = await api.post(`${(await namespace()).core('configmaps')}?fieldValidation=Maybe`, unknown);
      expect(answer.status).toBe(422);
      expect(answer.body['message']).toContain('fieldValidation: Unsupported value: "Maybe"');
    });

    it('applies to custom kinds, updates, patches and nested fields', async () => {
      const target = on();
      const { group, path } = await defineWidgets(target);
      const strict = await target.api.post(
        `${path}?fieldValidation=Strict`,
        widget(group, 'w', { deep: { er: 1 }, size: 's' }),
      );
      expect([strict.status, strict.body['message']]).toEqual([
        400,
        'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.deep"',
      ]);
      await target.api.create(path, widget(group, 'w', { size: 's' }));
      const patched = await target.api.patch(`${path}/w?fieldValidation=Strict`, mergePatch, { spec: { deep: 1 } });
      expect(patched.status).toBe(422);
      expect(patched.body['message']).toContain('strict decoding error: unknown field "spec.deep"');
      const warned = await target.api.patch(`${path}/w`, mergePatch, { spec: { deep: 1, size: 't' } });
      expect([warned.status, warned.warnings]).toEqual([200, ['299 - "unknown field \\"spec.deep\\""']]);
      expect(warned.body['spec']).toEqual({ size: 't' });
    });
  });

  describe('validation', () => {
    it('failures are answered 422 with every cause and its field', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).of('apps/v1', 'deployments');
      const answer = await api.post(
        path,
        deployment('d', { spec: { replicas: -1, selector: { matchLabels: { app: 'other' } } } }),
      );
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({
        reason: 'Invalid',
        details: {
          name: 'd',
          group: 'apps',
          kind: 'Deployment',
          causes: expect.arrayContaining([
            {
              reason: 'FieldValueInvalid',
              message: 'Invalid value: -1: must be greater than or equal to 0',
              field: 'spec.replicas',
            },
          ]),
        },
      });
      expect(answer.body['message']).toContain('spec.replicas: Invalid value: -1: must be greater than or equal to 0');
    });

    it('custom kinds are validated against their schema', async () => {
      const target = on();
      const { group, path } = await defineWidgets(target, {
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: {
                  size: { type: 'string', enum: ['small', 'large'] },
                  replicas: { type: 'integer', minimum: 1 },
                  mode: { type: 'string', default: 'auto' },
                },
              },
            },
          },
        },
      });
      const wrong = await target.api.post(path, widget(group, 'w', { size: 'huge', replicas: 0 }));
      expect(wrong.status).toBe(422);
      expect(wrong.body['message']).toContain(`Widget.${group} "w" is invalid: [`);
      expect(at(wrong.body, 'details.causes')).toEqual(
        expect.arrayContaining([
          {
            reason: 'FieldValueInvalid',
            message: 'Invalid value: 0: spec.replicas in body should be greater than or equal to 1',
            field: 'spec.replicas',
          },
          {
            reason: 'FieldValueNotSupported',
            message: 'Unsupported value: "huge": supported values: "small", "large"',
            field: 'spec.size',
          },
        ]),
      );
      const missing = await target.api.post(path, widget(group, 'w', {}));
      expect(missing.body['message']).toBe(`Widget.${group} "w" is invalid: spec.size: Required value`);
      const made = await target.api.create(path, widget(group, 'w', { size: 'small' }));
      expect(made.body['spec']).toEqual({ size: 'small', mode: 'auto' });
    });

    it('a refused update leaves the stored object as it was', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).of('apps/v1', 'deployments');
      const made = await api.create(path, deployment('d'));
      const answer = await api.patch(`${path}/d`, mergePatch, { spec: { replicas: -5 } });
      expect(answer.status).toBe(422);
      expect(revisionOf(await api.get(`${path}/d`))).toBe(revisionOf(made));
    });

    it('names follow the naming rules of their kind', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      const upper = await api.post(ns.core('configmaps'), configMap('Upper'));
      expect(upper.status).toBe(422);
      expect(upper.body['message']).toContain(
        'metadata.name: Invalid value: "Upper": a lowercase RFC 1123 subdomain must consist of',
      );
      const dotted = await api.post('/api/v1/namespaces', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'a.b' },
      });
      expect(dotted.status).toBe(422);
      expect(dotted.body['message']).toBe(
        'Namespace "a.b" is invalid: metadata.name: Invalid value: "a.b": must not contain dots',
      );
    });
  });

  describe('owner references', () => {
    const owner = (uid: string): object => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'owner',
      uid,
      blockOwnerDeletion: true,
    });

    it('are kept, and a duplicate is dropped with a warning', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      const { uid } = (await api.create(path, configMap('owner'))).object.metadata;
      const answer = await api.post(
        path,
        configMap('owned', { metadata: { ownerReferences: [owner(uid!), owner(uid!)] } }),
      );
      expect(answer.status).toBe(201);
      expect(answer.object.metadata.ownerReferences).toEqual([owner(uid!)]);
      expect(answer.warnings).toEqual([
        `299 - ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uid}"`,
      ]);
    });

    it('are refused when two of them are controllers', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      const references = ['u-1', 'u-2'].map((uid) => ({ ...owner(uid), controller: true }));
      const answer = await api.post(path, configMap('owned', { metadata: { ownerReferences: references } }));
      expect(answer.status).toBe(422);
      expect(answer.body['message']).toContain('Only one reference can have Controller set to true');
    });
  });
});

describe('generated names that collide', () => {
  const start = async (texts: string[]) => {
    let next = 0;
    const random: Random = { ...systemRandom, text: () => texts[Math.min(next++, texts.length - 1)]! };
    const server = await startTestServer({ random });
    const make = (): Promise<Answer> =>
      server.api().post('/api/v1/namespaces/default/configmaps', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { generateName: 'x-' },
      });
    return { server, make };
  };

  it('are generated again', async () => {
    const { server, make } = await start(['aaaaa', 'aaaaa', 'aaaaa', 'bbbbb']);
    const names = [await make(), await make()].map(
      ({ object }: { object: UnstructuredObject }) => object.metadata.name,
    );
    await server.stop();
    expect(names).toEqual(['x-aaaaa', 'x-bbbbb']);
  });

  it('are answered 409 AlreadyExists after a few attempts', async () => {
    const { server, make } = await start(['aaaaa']);
    await make();
    const answer = await make();
    await server.stop();
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({ reason: 'AlreadyExists' });
  });
});
