import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Clock, KubeObject, Resource } from '../../machinery/index.ts';
import { ManualClock, seededRandom, statusError } from '../../machinery/index.ts';
import {
  type FaultRule,
  faultyClient,
  type MemoryClient,
  memoryClient,
  runUntil,
  settle,
} from '../../runtime/testkit/index.ts';
// Tests may import other rooms; the memory client acts as server.
import { createInformerFactory } from './factory.ts';
import { createInformer, dropManagedFields, type InformerOptions } from './informer.ts';
import type { Informer } from './types.ts';

interface Widget extends KubeObject {
  spec?: { size?: number };
}
const widgets: Resource<Widget> = {
  group: 'test.capstan.dev',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
};
const widget = (
  name: string,
  more: { spec?: Widget['spec']; labels?: Record<string, string>; namespace?: string } = {},
): Widget => ({
  apiVersion: 'test.capstan.dev/v1',
  kind: 'Widget',
  metadata: { name, namespace: more.namespace ?? 'default', ...(more.labels && { labels: more.labels }) },
  ...(more.spec && { spec: more.spec }),
});
const by = { fieldManager: 'test' };

interface World {
  clock: ManualClock;
  server: MemoryClient;
  informer: Informer<Widget>;
  events: string[];
  errors: string[];
  stop(): Promise<void>;
}

function start(
  options: { rules?: FaultRule[]; server?: MemoryClient; informer?: Partial<InformerOptions<Widget>> } = {},
): World {
  const clock = (options.server?.clock as ManualClock | undefined) ?? new ManualClock();
  const server = options.server ?? memoryClient({ clock });
  const errors: string[] = [];
  const informer = createInformer<Widget>({
    client: faultyClient(server, options.rules ?? []),
    resource: widgets,
    clock,
    random: seededRandom(3),
    onError: (error, during) => errors.push(`${during}: ${error instanceof Error ? error.message : ''}`),
    ...options.informer,
  });
  const events: string[] = [];
  informer.addHandler({
    onAdd: ({ metadata }, initial) => events.push(`${initial ? 'initial' : 'add'} ${metadata.name}`),
    onUpdate: ({ metadata, spec }, old) => events.push(`update ${metadata.name} ${old.spec?.size}->${spec?.size}`),
    onDelete: ({ metadata }, unknown) => events.push(`delete ${metadata.name}${unknown ? ' (missed)' : ''}`),
  });
  const stopper = new AbortController();
  const running = informer.run(stopper.signal);
  return {
    clock,
    server,
    informer,
    events,
    errors,
    async stop() {
      stopper.abort();
      await running;
    },
  };
}

describe.each([
  ['streaming lists', false],
  ['paged lists', true],
] as const)('an informer over %s', (_, refuseStreamingLists) => {
  const newServer = (): MemoryClient => memoryClient({ clock: new ManualClock(), refuseStreamingLists });

  it('fills its cache, then follows every change', async () => {
    const server = newServer();
    await server.create(widgets, widget('a', { spec: { size: 1 } }), by);
    const world = start({ server });
    expect(world.informer.hasSynced()).toBe(false);
    await world.informer.waitForSync();
    await server.create(widgets, widget('b'), by);
    await server.patch(widgets, { namespace: 'default', name: 'a' }, 'merge', { spec: { size: 2 } }, by);
    await server.delete(widgets, { namespace: 'default', name: 'a' });
    await settle();
    expect(world.events).toEqual(['initial a', 'add b', 'update a 1->2', 'delete a']);
    expect(world.informer.lister.list().map(({ metadata }) => metadata.name)).toEqual(['b']);
    expect(world.errors).toEqual([]);
    await world.stop();
    expect(server.openWatches()).toBe(0);
    expect(world.clock.untilNext()).toBeUndefined();
  });

  it('lists again after 410 and reports missed changes, with tombstones for deletes', async () => {
    const server = newServer();
    await server.create(widgets, widget('gone', { spec: { size: 1 } }), by);
    await server.create(widgets, widget('changed', { spec: { size: 1 } }), by);
    const rules: FaultRule[] = [];
    const world = start({ server, rules });
    await world.informer.waitForSync();
    world.events.length = 0;
    // The next watch fails to open, and meanwhile the history is compacted.
    rules.push({ verb: 'watch', times: 1, error: () => new Error('connection refused') });
    server.endWatches();
    await settle();
    await server.delete(widgets, { namespace: 'default', name: 'gone' });
    await server.patch(widgets, { namespace: 'default', name: 'changed' }, 'merge', { spec: { size: 2 } }, by);
    await server.create(widgets, widget('new'), by);
    server.compact();
    await runUntil(world.clock, () => world.events.length >= 3);
    expect([...world.events].sort()).toEqual(['add new', 'delete gone (missed)', 'update changed 1->2']);
    expect(world.errors.some((text) => text.includes('too old resource version'))).toBe(true);
    await world.stop();
  });

  it('resumes without a list when the connection breaks', async () => {
    const server = newServer();
    const world = start({ server });
    await world.informer.waitForSync();
    const lists = server.requests.filter(({ verb }) => verb === 'list').length;
    server.endWatches();
    await settle();
    await server.create(widgets, widget('late'), by);
    await runUntil(world.clock, () => world.events.includes('add late'));
    expect(server.requests.filter(({ verb }) => verb === 'list')).toHaveLength(lists);
    await world.stop();
  });

  it('reconnects when bookmarks stay away', async () => {
    const server = newServer();
    const world = start({ server, informer: { bookmarkPeriodMs: 10_000 } });
    await world.informer.waitForSync();
    await settle();
    const watches = (): number => server.requests.filter(({ verb }) => verb === 'watch').length;
    const before = watches();
    await world.clock.advance(19_999);
    await settle();
    expect(watches()).toBe(before);
    await world.clock.advance(10_001);
    await settle();
    expect(watches()).toBe(before + 1);
    expect(server.openWatches()).toBe(1);
    expect(world.errors).toEqual([]);
    await world.stop();
  });

  it('detects a dead connection even when the computer clock was set back', async () => {
    const server = newServer();
    const timers = server.clock as ManualClock;
    let set = 0;
    const clock: Clock = {
      now: () => timers.now() + set,
      monotonic: () => timers.monotonic(),
      after: (ms, callback) => timers.after(ms, callback),
    };
    const world = start({ server, informer: { bookmarkPeriodMs: 10_000, clock } });
    await world.informer.waitForSync();
    await settle();
    const watches = (): number => server.requests.filter(({ verb }) => verb === 'watch').length;
    const before = watches();
    set = -3_600_000;
    await world.clock.advance(30_000);
    await settle();
    expect(watches()).toBe(before + 1);
    await world.stop();
  });

  it('retries with growing delays while the server is away', async () => {
    const server = newServer();
    const rules: FaultRule[] = [{ error: () => new Error('connection refused') }];
    const world = start({ server, rules });
    await settle();
    for (let i = 0; i < 12; i++) await world.clock.advance(world.clock.untilNext() ?? 0);
    const tries = world.errors.length;
    expect(tries).toBeGreaterThan(5);
    expect(world.informer.lastError()).toBeInstanceOf(Error);
    await world.clock.advance(60_000);
    expect(world.errors.length - tries).toBeLessThanOrEqual(4);
    rules.length = 0;
    await runUntil(world.clock, () => world.informer.hasSynced());
    expect(world.informer.lastError()).toBeUndefined();
    await world.stop();
  });

  it('ends with the objects of the server after any mix of writes, breaks and lost history', async () => {
    const name = fc.constantFrom('a', 'b', 'c');
    const step = fc.oneof(
      fc.record({ op: fc.constant('put' as const), name, size: fc.integer({ min: 0, max: 9 }) }),
      fc.record({ op: fc.constant('delete' as const), name }),
      fc.record({ op: fc.constantFrom('break' as const, 'compact' as const, 'pause' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const server = newServer();
        const world = start({ server });
        const shadow = new Map<string, number | undefined>();
        world.informer.addHandler({
          onAdd: ({ metadata, spec }) => {
            expect(shadow.has(metadata.name!)).toBe(false);
            shadow.set(metadata.name!, spec?.size);
          },
          onUpdate: ({ metadata, spec }) => shadow.set(metadata.name!, spec?.size),
          onDelete: ({ metadata }) => expect(shadow.delete(metadata.name!)).toBe(true),
        });
        for (const action of steps) {
          if (action.op === 'put')
            await server.apply(widgets, widget(action.name, { spec: { size: action.size } }), by);
          else if (action.op === 'delete')
            await server.delete(widgets, { namespace: 'default', name: action.name }).catch(() => {});
          else if (action.op === 'break') server.endWatches();
          else if (action.op === 'compact') server.compact();
          else await settle(3);
        }
        const wanted = (await server.list(widgets)).items;
        const version = String(server.revision);
        const seen = world.informer.waitForResourceVersion(version, { timeoutMs: 3_600_000 });
        let done = false;
        void seen.then(() => {
          done = true;
        });
        await runUntil(world.clock, () => done && world.informer.hasSynced());
        expect(await seen).toBe(true);
        expect(new Set(world.informer.lister.list())).toEqual(new Set(wanted));
        expect(new Map([...shadow].sort())).toEqual(
          new Map(wanted.map(({ metadata, spec }) => [metadata.name!, spec?.size])),
        );
        await world.stop();
      }),
      { numRuns: 60 },
    );
  });
});

describe('an informer', () => {
  it('falls back to lists when a streaming list stays silent', async () => {
    const clock = new ManualClock();
    const server = memoryClient({ clock });
    await server.create(widgets, widget('a'), by);
    const silent = {
      ...server,
      watch: ((resource, options) => {
        const { sendInitialEvents, ...rest } = options ?? {};
        return server.watch(resource, sendInitialEvents === true ? { ...rest, allowWatchBookmarks: false } : rest);
      }) as typeof server.watch,
    };
    const world = start({ server, informer: { client: silent } });
    await runUntil(clock, () => world.informer.hasSynced(), { limitMs: 25_000 });
    expect(world.events).toEqual(['initial a']);
    await world.stop();
  });

  it('reads all pages of a long list, and restarts without pages when the snapshot expires', async () => {
    const clock = new ManualClock();
    const server = memoryClient({ clock, refuseStreamingLists: true });
    for (let i = 0; i < 1001; i++) server.seed(widgets, widget(`w${i}`));
    const rules: FaultRule[] = [
      { verb: 'list', nth: 3, error: () => statusError.expired('continue token is too old') },
    ];
    const world = start({ server, rules });
    await world.informer.waitForSync();
    expect(world.informer.lister.size).toBe(1001);
    expect(world.errors).toEqual([]);
    await world.stop();
  });

  it('finds objects by namespace and index, also after they changed', async () => {
    const world = start();
    world.informer.addIndexer('size', ({ spec }) => [String(spec?.size)]);
    await world.informer.waitForSync();
    await world.server.create(widgets, widget('a', { spec: { size: 1 } }), by);
    await world.server.create(widgets, widget('b', { spec: { size: 1 }, namespace: 'other' }), by);
    await settle();
    const names = (objects: Widget[]): (string | undefined)[] => objects.map(({ metadata }) => metadata.name);
    const { lister } = world.informer;
    expect(names(lister.byIndex('size', '1'))).toEqual(['a', 'b']);
    expect(names(lister.list({ namespace: 'other' }))).toEqual(['b']);
    await world.server.patch(widgets, { namespace: 'default', name: 'a' }, 'merge', { spec: { size: 2 } }, by);
    await settle();
    expect(names(lister.byIndex('size', '1'))).toEqual(['b']);
    expect(names(lister.byIndex('size', '2'))).toEqual(['a']);
    world.informer.addIndexer('late', ({ metadata }) => [metadata.namespace ?? '']);
    expect(names(lister.byIndex('late', 'default'))).toEqual(['a']);
    expect(() => lister.byIndex('unknown', 'x')).toThrow(TypeError);
    await world.stop();
  });

  it('shares the objects of the server unless a transform is set', async () => {
    const world = start({ informer: { transform: dropManagedFields } });
    await world.informer.waitForSync();
    world.server.seed(widgets, {
      ...widget('a'),
      metadata: { name: 'a', namespace: 'default', managedFields: [{ manager: 'x' }] },
    });
    const plain = world.server.seed(widgets, widget('b'));
    await settle();
    expect(world.informer.lister.get({ namespace: 'default', name: 'a' })?.metadata.managedFields).toBeUndefined();
    expect(world.informer.lister.get({ namespace: 'default', name: 'b' })).toBe(plain);
    await world.stop();
  });

  it('waits until it has seen a write, or until a timeout', async () => {
    const rules: FaultRule[] = [];
    const world = start({ rules });
    await world.informer.waitForSync();
    const made = await world.server.create(widgets, widget('a'), by);
    expect(await world.informer.waitForResourceVersion(made.metadata.resourceVersion!, { timeoutMs: 1000 })).toBe(true);
    const never = world.informer.waitForResourceVersion('999', { timeoutMs: 1000 });
    await world.clock.advance(1000);
    expect(await never).toBe(false);
    await world.stop();
  });

  it('continues after a handler throws, and still calls the others', async () => {
    const world = start();
    world.informer.addHandler({
      onAdd: () => {
        throw new Error('bug');
      },
    });
    const later: string[] = [];
    await world.informer.waitForSync();
    await world.server.create(widgets, widget('a'), by);
    await settle();
    const remove = world.informer.addHandler({
      onAdd: ({ metadata }, initial) => later.push(`${metadata.name} ${initial}`),
    });
    remove();
    await world.server.create(widgets, widget('b'), by);
    await settle();
    expect(world.errors).toEqual(['handler: bug', 'handler: bug']);
    expect(world.events).toEqual(['add a', 'add b']);
    expect(later).toEqual(['a true']);
    await world.stop();
  });

  it('repeats all objects only when a resync is set', async () => {
    const world = start({ informer: { resyncMs: 30_000 } });
    await world.informer.waitForSync();
    await world.server.create(widgets, widget('a', { spec: { size: 1 } }), by);
    await settle();
    await world.clock.advance(60_000);
    expect(world.events).toEqual(['add a', 'update a 1->1', 'update a 1->1']);
    await world.stop();
  });
});

describe('the informer factory', () => {
  it('returns the same informer for the same request, and starts later ones at once', async () => {
    const clock = new ManualClock();
    const server = memoryClient({ clock });
    await server.create(widgets, widget('a', { labels: { x: 'y' } }), by);
    const factory = createInformerFactory({ client: server, clock, random: seededRandom(1) });
    const first = factory.informer(widgets);
    expect(factory.informer(widgets)).toBe(first);
    const stop = new AbortController();
    const running = factory.run(stop.signal);
    await factory.waitForSync();
    const selective = factory.informer(widgets, { labelSelector: 'x=z' });
    expect(selective).not.toBe(first);
    await selective.waitForSync();
    expect([first.lister.size, selective.lister.size]).toEqual([1, 0]);
    expect(server.openWatches()).toBe(2);
    factory.forget(selective);
    await settle();
    expect(server.openWatches()).toBe(1);
    stop.abort();
    await running;
    expect(server.openWatches()).toBe(0);
  });
});
