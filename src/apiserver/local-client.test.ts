import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigMaps, Deployments, Namespaces, Pods } from '../api/index.ts';
import {
  ApiStatusError,
  clone,
  isAlreadyExists,
  isConflict,
  isExpired,
  isInvalid,
  isNotFound,
  ManualClock,
  type Resource,
  type UnstructuredObject,
} from '../machinery/index.ts';
import type { LocalClient } from './local-client.ts';
import {
  type Api,
  advanceUntil,
  at,
  configMap,
  crd,
  deployment,
  pod,
  startTestServer,
  type TestServer,
  widget,
} from './testing/index.ts';

type Any = Resource<UnstructuredObject>;
const maps = ConfigMaps as Any;
const deployments = Deployments as Any;
const pods = Pods as Resource as Any;
const by = { fieldManager: 'controller' };
const path = '/api/v1/namespaces/default/configmaps';

function make(name: string, data: Record<string, string> = {}, metadata: object = {}): UnstructuredObject {
  return configMap(name, { metadata: { namespace: 'default', ...metadata }, data });
}

const key = (name: string): { namespace: string; name: string } => ({ namespace: 'default', name });

async function failureOf(promise: Promise<unknown>): Promise<ApiStatusError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiStatusError)) throw new Error(`expected an ApiStatusError, got ${String(error)}`);
  return error;
}

describe('the local client', () => {
  let server: TestServer;
  let local: LocalClient;
  let api: Api;
  beforeAll(async () => {
    server = await startTestServer();
    local = server.local;
    api = server.api();
  });
  afterAll(() => server.stop());

  describe('answers like HTTP', () => {
    it('to create, get and list requests', async () => {
      const made = await local.create(maps, make('a', { x: '1' }), by);
      expect((await api.get(`${path}/a`)).object).toEqual(made);
      const other = (await api.create(path, configMap('b', { metadata: { labels: { on: 'yes' } } }))).object;
      expect(await local.get(maps, key('b'))).toEqual(other);
      const list = await local.list(maps, { namespace: 'default' });
      const listed = await api.get(path);
      expect(list).toEqual(listed.body);
      const selected = await local.list(maps, { labelSelector: 'on=yes' });
      expect(selected.items.map(({ metadata }) => metadata.name)).toEqual(['b']);
      const page = await local.list(maps, { namespace: 'default', limit: 1 });
      expect(page.metadata).toMatchObject({ remainingItemCount: 1 });
      const rest = await local.list(maps, { namespace: 'default', continue: page.metadata.continue! });
      expect(rest.items).toHaveLength(1);
    });

    it('to failures, with the same Status', async () => {
      await local.create(maps, make('there'), by);
      const cases: [() => Promise<unknown>, () => Promise<{ body: unknown }>, (error: unknown) => boolean][] = [
        [() => local.get(maps, key('none')), () => api.get(`${path}/none`), isNotFound],
        [() => local.create(maps, make('there'), by), () => api.post(path, configMap('there')), isAlreadyExists],
        [() => local.create(maps, make('Wrong'), by), () => api.post(path, configMap('Wrong')), isInvalid],
        [() => local.delete(maps, key('none')), () => api.delete(`${path}/none`), isNotFound],
        [
          () => local.update(maps, make('there', {}, { resourceVersion: '1' }), by),
          () => api.put(`${path}/there`, configMap('there', { metadata: { resourceVersion: '1' } })),
          isConflict,
        ],
        [
          () => local.delete(maps, key('there'), { preconditions: { uid: 'other' } }),
          () => api.delete(`${path}/there`, { preconditions: { uid: 'other' } }),
          isConflict,
        ],
      ];
      for (const [attempt, answer, matches] of cases) {
        const error = await failureOf(attempt());
        expect(matches(error)).toBe(true);
        expect(error.status).toEqual((await answer()).body);
      }
    });

    it('to patch, status, apply and delete requests', async () => {
      await local.create(deployments, { ...deployment('d', { metadata: { namespace: 'default' } }) }, by);
      const where = key('d');
      const scaled = await local.patch(deployments, where, 'merge', { spec: { replicas: 3 } }, by);
      expect(scaled).toMatchObject({ spec: { replicas: 3 }, metadata: { generation: 2 } });
      const strategic = { spec: { template: { spec: { containers: [{ name: 'second', image: 'b:1' }] } } } };
      const wider = await local.patch(deployments, where, 'strategic', strategic, by);
      expect(at(wider, 'spec.template.spec.containers')).toHaveLength(2);
      const tested = [{ op: 'test', path: '/spec/replicas', value: 3 }];
      await local.patch(deployments, where, 'json', tested, by);
      const status = { status: { replicas: 3, observedGeneration: 3 } };
      const updated = await local.update(deployments, { ...clone(wider), ...status }, { ...by, subresource: 'status' });
      expect(updated).toMatchObject({ ...status, metadata: { generation: 3 } });
      const desired = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { ...where }, spec: { paused: true } };
      const applied = await local.apply(deployments, desired, { fieldManager: 'applier' });
      expect(applied).toMatchObject({ spec: { paused: true } });
      expect(await local.delete(deployments, where)).toBeUndefined();
      await local.create(maps, make('held', {}, { finalizers: ['example.com/hold'] }), by);
      const held = await local.delete(maps, key('held'));
      expect(held?.metadata.deletionTimestamp).toBeTypeOf('string');
      await local.patch(maps, key('held'), 'merge', { metadata: { finalizers: null } }, by);
      await local.deleteCollection(maps, { namespace: 'default', labelSelector: 'on=yes' });
      expect((await failureOf(local.get(maps, key('b')))).code).toBe(404);
    });

    it('to scale, eviction and other subresources', async () => {
      await local.create(deployments, { ...deployment('s', { metadata: { namespace: 'default' } }) }, by);
      const patch = { spec: { replicas: 4 } };
      const scale = await local.patch(deployments, key('s'), 'merge', patch, { ...by, subresource: 'scale' });
      expect(scale).toMatchObject({ kind: 'Scale', spec: { replicas: 4 } });
      const asked = { ...scale, spec: { replicas: 5 } };
      expect(await local.update(deployments, asked, { ...by, subresource: 'scale' })).toMatchObject({
        kind: 'Scale',
        spec: { replicas: 5 },
      });
      expect(await local.get(deployments, key('s'))).toMatchObject({ kind: 'Deployment', spec: { replicas: 5 } });
      await local.create(pods, { ...pod('p', { metadata: { namespace: 'default' } }) }, by);
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: key('p') };
      expect(await local.createSubresource(pods, key('p'), 'eviction', eviction, by)).toMatchObject({
        status: 'Success',
      });
      expect((await failureOf(local.get(pods, key('p')))).code).toBe(404);
    });

    it('to a dry run', async () => {
      await local.create(maps, make('tried'), { ...by, dryRun: true });
      expect((await failureOf(local.get(maps, key('tried')))).code).toBe(404);
    });
  });

  describe('object sharing', () => {
    it('returns the same frozen instance of an object to all readers', async () => {
      await local.create(maps, make('shared', { x: '1' }), by);
      const first = await local.get(maps, key('shared'));
      const second = await local.get(maps, key('shared'));
      const [listed] = (await local.list(maps, { namespace: 'default', fieldSelector: 'metadata.name=shared' })).items;
      expect(second).toBe(first);
      expect(listed).toBe(first);
      expect(() => {
        (first['data'] as Record<string, string>)['x'] = '2';
      }).toThrow(TypeError);
      expect(await local.get(maps, key('shared'))).toMatchObject({ data: { x: '1' } });
    });

    it('does not change or keep the objects that the caller passes in', async () => {
      const sent = make('kept', { x: '1' });
      const before = clone(sent);
      await local.create(maps, sent, by);
      expect(sent).toEqual(before);
      const patch = { data: { deep: 'x' } };
      await local.patch(maps, key('kept'), 'merge', patch, by);
      patch.data.deep = 'changed';
      expect(await local.get(maps, key('kept'))).toMatchObject({ data: { deep: 'x' } });
    });

    it('leaves an object unchanged that was read before an update', async () => {
      await local.create(maps, make('old', { x: '1' }), by);
      const before = await local.get(maps, key('old'));
      await local.patch(maps, key('old'), 'merge', { data: { x: '2' } }, by);
      expect(before).toMatchObject({ data: { x: '1' } });
    });
  });

  describe('strictness', () => {
    it('refuses unknown fields', async () => {
      const error = await failureOf(local.create(maps, { ...make('typo'), dta: {} }, by));
      expect([error.code, error.message]).toEqual([400, expect.stringContaining('unknown field "dta"')]);
    });

    it('refuses a namespaced object without a namespace that exists', async () => {
      const nowhere = await failureOf(local.create(maps, { ...configMap('lost') }, by));
      expect(nowhere.code).toBe(400);
      expect((await failureOf(local.get(maps, { name: 'lost' }))).code).toBe(400);
      const missing = await failureOf(local.create(maps, make('lost', {}, { namespace: 'missing' }), by));
      expect(missing.code).toBe(404);
      await local.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'found' } }, by);
      expect(await local.create(maps, make('lost', {}, { namespace: 'found' }), by)).toMatchObject({
        metadata: { namespace: 'found' },
      });
    });

    it('answers reviews without storing them and refuses unknown kinds', async () => {
      const reviews: Any = {
        group: 'authorization.k8s.io',
        version: 'v1',
        kind: 'SelfSubjectAccessReview',
        plural: 'selfsubjectaccessreviews',
        namespaced: false,
      };
      const review = {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        metadata: {},
        spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
      };
      expect(await local.create(reviews, review, by)).toMatchObject({ status: { allowed: true } });
      expect((await failureOf(local.list({ ...reviews, plural: 'nothings' }))).code).toBe(404);
    });
  });

  describe('local watches', () => {
    it('deliver present objects and changes until they are stopped', async () => {
      await local.create(maps, make('w1', {}, { labels: { watch: 'yes' } }), by);
      const stop = new AbortController();
      const seen: string[] = [];
      for await (const { type, object } of local.watch(maps, { labelSelector: 'watch=yes', signal: stop.signal })) {
        seen.push(`${type} ${object.metadata.name}`);
        if (seen.length === 1) {
          await local.create(maps, make('w2', {}, { labels: { watch: 'yes' } }), by);
          await local.patch(maps, key('w1'), 'merge', { metadata: { labels: { watch: 'no' } } }, by);
          await local.delete(maps, key('w2'));
        }
        if (seen.length === 4) stop.abort();
      }
      expect(seen).toEqual(['ADDED w1', 'ADDED w2', 'DELETED w1', 'DELETED w2']);
    });

    it('deliver the same instances that reads return', async () => {
      await local.create(maps, make('same'), by);
      for await (const { object } of local.watch(maps, { fieldSelector: 'metadata.name=same', namespace: 'default' })) {
        expect(object).toBe(await local.get(maps, key('same')));
        break;
      }
    });

    it('begin with the current state and a bookmark when sendInitialEvents is set', async () => {
      const options = {
        namespace: 'kube-public',
        sendInitialEvents: true,
        resourceVersionMatch: 'NotOlderThan',
        allowWatchBookmarks: true,
      } as const;
      for await (const { type, object } of local.watch(maps, options)) {
        expect(type).toBe('BOOKMARK');
        expect(object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
        break;
      }
    });

    it('end when the definition of their custom kind is deleted', async () => {
      const group = 'local.example.com';
      const widgets: Any = { group, version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: true };
      const crds: Any = {
        group: 'apiextensions.k8s.io',
        version: 'v1',
        kind: 'CustomResourceDefinition',
        plural: 'customresourcedefinitions',
        namespaced: false,
      };
      await local.create(crds, crd({ group }), by);
      await local.create(widgets, widget(group, 'w', {}, { namespace: 'default' }), by);
      const seen: string[] = [];
      for await (const { type } of local.watch(widgets, {})) {
        seen.push(type);
        if (seen.length === 1) await local.delete(crds, { name: `widgets.${group}` });
      }
      expect(seen).toEqual(['ADDED', 'DELETED']);
    });
  });
});

describe('watches of the local client over time', () => {
  it('a watch from a revision older than the history fails with Expired', async () => {
    const server = await startTestServer({ history: { minRevisions: 2, maxRevisions: 2, minAgeMs: 0 } });
    for (let i = 0; i < 5; i++) await server.local.create(maps, make(`c${i}`), by);
    const error = await failureOf(
      (async () => {
        for await (const _ of server.local.watch(maps, { resourceVersion: '1' }));
      })(),
    );
    await server.stop();
    expect(isExpired(error)).toBe(true);
  });

  it('a watch ends after timeoutSeconds', async () => {
    const clock = new ManualClock(Date.now());
    const server = await startTestServer({ clock });
    const ended = (async () => {
      for await (const _ of server.local.watch(maps, { timeoutSeconds: 60 }));
      return clock.now();
    })();
    const started = clock.now();
    const finished = await advanceUntil(clock, ended);
    await server.stop();
    expect(finished - started).toBeGreaterThanOrEqual(60_000);
  });
});
