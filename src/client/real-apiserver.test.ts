import { afterAll, describe, expect, it } from 'vitest';
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  type KubeObject,
  type Resource,
  systemClock,
  systemRandom,
} from '../machinery/index.ts';
import { discover, restMapper } from './discovery.ts';
import { type HttpClient, httpClient } from './http/client.ts';
import { createInformer } from './informer/informer.ts';
import { loadKubeconfig } from './kubeconfig/load.ts';

// Requires a real kube-apiserver: set CAPSTAN_REAL_KUBECONFIG to a kubeconfig with cluster-admin rights.
const kubeconfig = process.env['CAPSTAN_REAL_KUBECONFIG'];

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}
const configMaps: Resource<ConfigMap> = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};
const namespaces: Resource<KubeObject> = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
};
const by = { fieldManager: 'capstan-client-test' };
const namespace = `capstan-client-${systemRandom.text(5)}`;
const configMap = (name: string, data: Record<string, string>, finalizers?: string[]): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, ...(finalizers && { finalizers }) },
  data,
});

describe.skipIf(kubeconfig === undefined)('the client against a real kube-apiserver (CAPSTAN_REAL_KUBECONFIG)', () => {
  let client: HttpClient | undefined;
  const connect = async (): Promise<HttpClient> => {
    if (!client) {
      client = httpClient(await loadKubeconfig({ path: kubeconfig!, env: process.env }));
      await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, by);
    }
    return client;
  };
  afterAll(async () => {
    await client?.delete(namespaces, { name: namespace }).catch(() => {});
    await client?.close();
  });

  it('reads, writes, patches, applies and deletes', async () => {
    const api = await connect();
    const key = { namespace, name: 'crud' };
    const made = await api.create(configMaps, configMap('crud', { a: '1' }), by);
    expect(made).toMatchObject({ kind: 'ConfigMap', data: { a: '1' } });
    expect(isAlreadyExists(await api.create(configMaps, configMap('crud', {}), by).catch((e: unknown) => e))).toBe(
      true,
    );
    const updated = await api.update(configMaps, { ...made, data: { a: '2' } }, by);
    expect(isConflict(await api.update(configMaps, { ...made, data: { a: '3' } }, by).catch((e: unknown) => e))).toBe(
      true,
    );
    expect(Number(updated.metadata.resourceVersion)).toBeGreaterThan(Number(made.metadata.resourceVersion));
    await api.patch(configMaps, key, 'merge', { data: { b: '1' } }, by);
    await api.patch(configMaps, key, 'json', [{ op: 'add', path: '/data/c', value: '1' }], by);
    await api.patch(configMaps, key, 'strategic', { data: { d: '1' } }, by);
    await api.apply(configMaps, configMap('crud', { a: '9' }), { fieldManager: 'other', force: true });
    expect((await api.get(configMaps, key)).data).toEqual({ a: '9', b: '1', c: '1', d: '1' });
    const list = await api.list(configMaps, { namespace, fieldSelector: 'metadata.name=crud' });
    expect(list.items.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([['ConfigMap', 'crud']]);
    expect(await api.delete(configMaps, key)).toBeUndefined();
    expect(isNotFound(await api.get(configMaps, key).catch((e: unknown) => e))).toBe(true);
  });

  it('returns objects that finalizers hold back from delete', async () => {
    const api = await connect();
    await api.create(configMaps, configMap('held', {}, ['capstan.dev/test']), by);
    const held = await api.delete(configMaps, { namespace, name: 'held' });
    expect(held?.metadata.deletionTimestamp).toBeTruthy();
    await api.patch(configMaps, { namespace, name: 'held' }, 'merge', { metadata: { finalizers: null } }, by);
    expect(isNotFound(await api.get(configMaps, { namespace, name: 'held' }).catch((e: unknown) => e))).toBe(true);
  });

  it('keeps an informer current with streaming lists and with paged lists', async () => {
    const api = await connect();
    await api.create(configMaps, configMap('before', { n: '0' }), by);
    for (const streaming of [true, false]) {
      const seen: string[] = [];
      const errors: unknown[] = [];
      const requests: string[] = [];
      const informer = createInformer({
        client: {
          ...api,
          list: (resource, options) => {
            requests.push('list');
            return api.list(resource, options);
          },
          watch: (resource, options) => {
            requests.push(options?.sendInitialEvents === true ? 'watch-list' : 'watch');
            if (streaming || options?.sendInitialEvents !== true) return api.watch(resource, options);
            // Without the match mode, the real server refuses the streaming list with the same 422 as servers without
            // support.
            const { resourceVersionMatch: _, ...refused } = options;
            return api.watch(resource, refused);
          },
        },
        resource: configMaps,
        namespace,
        clock: systemClock,
        random: systemRandom,
        onError: (error) => errors.push(error),
      });
      informer.addHandler({
        onAdd: ({ metadata }, initial) => seen.push(`${initial ? 'initial' : 'add'} ${metadata.name}`),
        onUpdate: ({ metadata, data }) => seen.push(`update ${metadata.name} ${data?.['n']}`),
        onDelete: ({ metadata }) => seen.push(`delete ${metadata.name}`),
      });
      const stop = new AbortController();
      const running = informer.run(stop.signal);
      await informer.waitForSync();
      const made = await api.create(configMaps, configMap('live', { n: '1' }), by);
      const changed = await api.update(configMaps, { ...made, data: { n: '2' } }, by);
      expect(await informer.waitForResourceVersion(changed.metadata.resourceVersion!, { timeoutMs: 5000 })).toBe(true);
      expect(informer.lister.get({ namespace, name: 'live' })).toMatchObject({ kind: 'ConfigMap', data: { n: '2' } });
      await api.delete(configMaps, { namespace, name: 'live' });
      const last = await api.create(configMaps, configMap(`last-${streaming}`, {}), by);
      expect(await informer.waitForResourceVersion(last.metadata.resourceVersion!, { timeoutMs: 5000 })).toBe(true);
      stop.abort();
      await running;
      expect(seen).toContain('initial before');
      expect(seen.slice(seen.indexOf('add live'))).toEqual([
        'add live',
        'update live 2',
        'delete live',
        `add last-${streaming}`,
      ]);
      expect(requests).toEqual(streaming ? ['watch-list'] : ['watch-list', 'list', 'watch']);
      expect(errors).toEqual([]);
    }
  });

  it('discovers the same resources in the aggregated and the old form', async () => {
    const api = await connect();
    const aggregated = await discover(api);
    const old = await discover({ raw: (path, options) => api.raw(path, { ...options, accept: 'application/json' }) });
    const names = (snapshot: typeof old): string[] =>
      snapshot.resources
        .map(({ plural, group, version, namespaced }) => `${plural}.${group}/${version} ${namespaced}`)
        .sort();
    expect(names(aggregated)).toEqual(names(old));
    expect(aggregated.resources.length).toBeGreaterThan(40);
    const mapper = restMapper(api);
    expect(await mapper.resolve('deploy')).toMatchObject({ group: 'apps', plural: 'deployments' });
    expect(await mapper.resolve('events.events.k8s.io')).toMatchObject({ group: 'events.k8s.io' });
  });
});
