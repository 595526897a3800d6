import { describe, expect, it } from 'vitest';
import type { WatchEvent } from '../../client/index.ts';
import { memoryClient } from '../../client/index.ts';
import { isAlreadyExists, isConflict, isExpired, isInvalid, isNotFound, ManualClock } from '../../machinery/index.ts';
import { settle } from './eventually.ts';
import { type Widget, Widgets, widget } from './test-kinds.ts';

const by = { fieldManager: 'test' };
const key = { namespace: 'default', name: 'w' };

async function failure(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

function collect(events: AsyncIterable<WatchEvent<Widget>>): string[] {
  const seen: string[] = [];
  void (async () => {
    try {
      for await (const { type, object } of events) seen.push(`${type} ${object.metadata.name ?? '-'}`);
      seen.push('END');
    } catch (error) {
      seen.push(`ERROR ${error instanceof Error ? error.message : ''}`);
    }
  })();
  return seen;
}

describe('the memory client', () => {
  it('creates an object once, with everything the server fills in', async () => {
    const client = memoryClient();
    const made = await client.create(Widgets, { ...widget('w', { spec: { size: 1 } }), status: { phase: 'no' } }, by);
    expect(made.metadata).toMatchObject({
      generation: 1,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
    });
    expect(made.status).toBeUndefined();
    expect(isAlreadyExists(await failure(client.create(Widgets, widget('w'), by)))).toBe(true);
  });

  it('refuses an update made from an old version and ignores a write that changes nothing', async () => {
    const client = memoryClient();
    const first = await client.create(Widgets, widget('w', { spec: { size: 1 } }), by);
    const second = await client.update(Widgets, { ...first, spec: { size: 2 } }, by);
    expect(second.metadata.generation).toBe(2);
    expect(isConflict(await failure(client.update(Widgets, { ...first, spec: { size: 3 } }, by)))).toBe(true);
    const same = await client.patch(Widgets, key, 'merge', { spec: { size: 2 } }, by);
    expect(same.metadata.resourceVersion).toBe(second.metadata.resourceVersion);
  });

  it('keeps the status apart from the rest', async () => {
    const client = memoryClient();
    await client.create(Widgets, widget('w', { spec: { size: 1 } }), by);
    const status = await client.patch(
      Widgets,
      key,
      'merge',
      { spec: { size: 9 }, status: { phase: 'Up' } },
      { ...by, subresource: 'status' },
    );
    expect(status).toMatchObject({ spec: { size: 1 }, status: { phase: 'Up' }, metadata: { generation: 1 } });
    const main = await client.patch(Widgets, key, 'merge', { spec: { size: 2 }, status: { phase: 'Down' } }, by);
    expect(main).toMatchObject({ spec: { size: 2 }, status: { phase: 'Up' }, metadata: { generation: 2 } });
  });

  it('holds an object with finalizers until the last is removed', async () => {
    const client = memoryClient();
    await client.create(Widgets, widget('w', { finalizers: ['a', 'b'] }), by);
    const held = await client.delete(Widgets, key);
    expect(held?.metadata.deletionTimestamp).toBe('2026-01-01T00:00:00Z');
    await client.patch(Widgets, key, 'merge', { metadata: { finalizers: ['b'] } }, by);
    expect((await client.get(Widgets, key)).metadata.finalizers).toEqual(['b']);
    await client.patch(Widgets, key, 'merge', { metadata: { finalizers: null } }, by);
    expect(isNotFound(await failure(client.get(Widgets, key)))).toBe(true);
  });

  it.each([
    ['Foreground', ['foregroundDeletion']],
    ['Orphan', ['orphan']],
  ] as const)('marks an object deleted with %s for the garbage collector', async (propagationPolicy, finalizers) => {
    const client = memoryClient();
    await client.create(Widgets, widget('w'), by);
    expect((await client.delete(Widgets, key, { propagationPolicy }))?.metadata.finalizers).toEqual(finalizers);
  });

  it('streams objects that match a selector and reports leaving it as a delete', async () => {
    const client = memoryClient();
    const stop = new AbortController();
    const seen = collect(client.watch(Widgets, { labelSelector: 'colour=red', signal: stop.signal }));
    await client.create(Widgets, widget('w', { labels: { colour: 'red' } }), by);
    await client.create(Widgets, widget('x', { labels: { colour: 'blue' } }), by);
    await client.patch(Widgets, key, 'merge', { metadata: { labels: { colour: 'blue' } } }, by);
    await client.patch(Widgets, key, 'merge', { metadata: { labels: { colour: 'red' } } }, by);
    await client.delete(Widgets, key);
    await settle();
    stop.abort();
    await settle();
    expect(seen).toEqual(['ADDED w', 'DELETED w', 'ADDED w', 'DELETED w', 'END']);
    expect(client.openWatches()).toBe(0);
  });

  it('replays from a version, refuses a forgotten one and sends bookmarks', async () => {
    const clock = new ManualClock();
    const client = memoryClient({ clock });
    const first = await client.create(Widgets, widget('a'), by);
    await client.create(Widgets, widget('b'), by);
    const version = { resourceVersion: first.metadata.resourceVersion! };
    const replayed = collect(client.watch(Widgets, { ...version, allowWatchBookmarks: true }));
    await settle();
    await clock.advance(60_000);
    await settle();
    expect(replayed).toEqual(['ADDED b', 'BOOKMARK -']);
    client.compact();
    const events = client.watch(Widgets, version)[Symbol.asyncIterator]();
    expect(isExpired(await failure(Promise.resolve(events.next())))).toBe(true);
  });

  it('supports streaming lists, or refuses them when told to', async () => {
    const desired = {
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan' as const,
      allowWatchBookmarks: true,
    };
    const client = memoryClient();
    await client.create(Widgets, widget('a'), by);
    const seen = collect(client.watch(Widgets, desired));
    await settle();
    expect(seen).toEqual(['ADDED a', 'BOOKMARK -']);
    const old = memoryClient({ refuseStreamingLists: true }).watch(Widgets, desired)[Symbol.asyncIterator]();
    expect(isInvalid(await failure(Promise.resolve(old.next())))).toBe(true);
  });

  it('pages a list over one snapshot', async () => {
    const client = memoryClient();
    for (const name of ['a', 'b', 'c']) await client.create(Widgets, widget(name), by);
    const first = await client.list(Widgets, { limit: 2 });
    await client.create(Widgets, widget('d'), by);
    expect(first.metadata.remainingItemCount).toBe(1);
    const second = await client.list(Widgets, { limit: 2, continue: first.metadata.continue! });
    expect([...first.items, ...second.items].map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c']);
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  it('returns objects that cannot be changed by mistake', async () => {
    const client = memoryClient();
    const made = await client.create(Widgets, widget('w', { spec: { size: 1 } }), by);
    expect(() => {
      made.spec!.size = 2;
    }).toThrow(TypeError);
  });
});
