import { describe, expect, it } from 'vitest';
import { type KubeObject, ManualClock, type Resource, seededRandom } from '../../machinery/index.ts';
// Tests may import other rooms; the memory client acts as server.
import { type MemoryClient, memoryClient, settle } from '../../runtime/testkit/index.ts';
import type { Client } from '../types.ts';
import { createInformerFactory, type InformerFactory } from './factory.ts';
import { partsOf } from './parted.ts';
import { ContentNotCachedError, hasContent } from './without-content.ts';

interface Secret extends KubeObject {
  type?: string;
  data?: Record<string, string>;
}

const secrets: Resource<Secret> = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };
const parted = { resource: secrets, labels: ['cluster', 'tenant'], types: ['authority', 'objects'] };
const by = { fieldManager: 'test' };

const secret = (name: string, more: { labels?: Record<string, string>; type?: string } = {}): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name,
    namespace: 'n',
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': 'the content again' },
    ...(more.labels && { labels: more.labels }),
  },
  ...(more.type !== undefined && { type: more.type }),
  data: { key: 'Y29udGVudA==' },
});

interface World {
  server: MemoryClient;
  factory: InformerFactory;
  /** options of each watch */
  asked: { metadataOnly?: boolean; labelSelector?: string; fieldSelector?: string }[];
  stop(): Promise<void>;
}

async function start(objects: readonly Secret[]): Promise<World> {
  const clock = new ManualClock();
  const server = memoryClient({ clock });
  for (const object of objects) await server.create(secrets, object, by);
  const asked: World['asked'] = [];
  const client: Client = {
    ...server,
    watch: (resource, options = {}) => {
      asked.push(options);
      return server.watch(resource, options);
    },
  };
  const factory = createInformerFactory({ client, clock, random: seededRandom(1), parted: [parted] });
  factory.informer(secrets);
  const end = new AbortController();
  const running = factory.run(end.signal);
  await factory.waitForSync();
  return {
    server,
    factory,
    asked,
    async stop() {
      end.abort();
      await running;
    },
  };
}

describe('an informer in parts', () => {
  const names = (world: World, whole: boolean): string[] =>
    world.factory
      .informer(secrets)
      .lister.list({ filter: (object) => hasContent(object) === whole })
      .map(({ metadata }) => metadata.name ?? '')
      .sort();

  it('keeps selected objects in full, each once, and only the metadata of others', async () => {
    const world = await start([
      secret('labelled', { labels: { cluster: 'a' } }),
      secret('twice', { labels: { cluster: 'a', tenant: 'b' }, type: 'authority' }),
      secret('other-label', { labels: { tenant: '' } }),
      secret('typed', { type: 'authority' }),
      secret('typed-too', { type: 'objects' }),
      secret('foreign', { labels: { app: 'web' } }),
      secret('foreign-type', { type: 'kubernetes.io/tls' }),
    ]);
    expect(names(world, true)).toEqual(['labelled', 'other-label', 'twice', 'typed', 'typed-too']);
    expect(names(world, false)).toEqual(['foreign', 'foreign-type']);
    const { lister } = world.factory.informer(secrets);
    expect(lister.size).toBe(7);
    expect(lister.get({ namespace: 'n', name: 'typed' })?.data).toEqual({ key: 'Y29udGVudA==' });
    const foreign = lister.get({ namespace: 'n', name: 'foreign' });
    expect(() => foreign?.data).toThrow(ContentNotCachedError);
    expect(foreign?.metadata.labels).toEqual({ app: 'web' });
    expect(JSON.stringify(foreign)).not.toMatch(/content/i);
    await world.stop();
  });

  it('requests only metadata of objects outside its parts', async () => {
    const world = await start([]);
    expect(world.asked.filter(({ metadataOnly }) => metadataOnly !== true).length).toBe(4);
    for (const { metadataOnly, labelSelector, fieldSelector } of world.asked) {
      if (metadataOnly === true) {
        expect(labelSelector).toBe('!cluster,!tenant');
        expect(fieldSelector).toBe('type!=authority,type!=objects');
      } else expect(labelSelector).not.toBeUndefined();
    }
    expect(partsOf({ ...parted, types: [] }).at(-1)).toEqual({
      labelSelector: '!cluster,!tenant',
      metadataOnly: true,
    });
    await world.stop();
  });

  it('moves an object between parts when its labels change', async () => {
    const world = await start([secret('s')]);
    const told: string[] = [];
    world.factory.informer(secrets).addHandler({ onAdd: (object) => told.push(object.metadata.name ?? '') });
    expect(names(world, false)).toEqual(['s']);
    const key = { namespace: 'n', name: 's' };
    await world.server.patch(secrets, key, 'merge', { metadata: { labels: { cluster: 'a' } } }, by);
    await settle();
    expect([names(world, true), names(world, false)]).toEqual([['s'], []]);
    await world.server.patch(secrets, key, 'merge', { metadata: { labels: { cluster: null } } }, by);
    await settle();
    expect([names(world, true), names(world, false)]).toEqual([[], ['s']]);
    expect(told).toEqual(['s', 's', 's']);
    await world.stop();
  });

  it('returns the part that receives a written object', async () => {
    const world = await start([]);
    const informer = world.factory.informer(secrets);
    const written = await world.server.create(secrets, secret('s', { labels: { tenant: 'b' } }), by);
    const part = informer.partWith?.(written);
    expect(part?.labelSelector).toBe('!cluster,tenant');
    expect(await part?.waitForResourceVersion(written.metadata.resourceVersion ?? '', { timeoutMs: 1 })).toBe(true);
    expect(informer.partWith?.(secret('t', { type: 'objects' }))?.fieldSelector).toBe('type=objects');
    expect(informer.partWith?.(secret('u'))?.fieldSelector).toBe('type!=authority,type!=objects');
    await world.stop();
  });

  it('is not used for requests with a selector of their own', async () => {
    const world = await start([secret('foreign')]);
    const own = world.factory.informer(secrets, { fieldSelector: 'metadata.name=foreign' });
    await own.waitForSync();
    expect(own.lister.get({ namespace: 'n', name: 'foreign' })?.data).toEqual({ key: 'Y29udGVudA==' });
    await world.stop();
  });
});
