import { describe, expect, it } from 'vitest';
import type { Client } from '../../client/index.ts';
import {
  type KubeObject,
  ManualClock,
  type Resource,
  seededRandom,
  sleep,
  statusError,
} from '../../machinery/index.ts';
import { memoryLogger } from '../log.ts';
import { createManager, type Manager } from '../manager.ts';
import { runUntil, settle } from '../testkit/eventually.ts';
import { type FaultRule, faultyClient } from '../testkit/faulty-client.ts';
import { memoryClient } from '../testkit/memory-client.ts';
import { gadget, gadgets, type Widget, widget, widgets } from '../testkit/test-kinds.ts';
import { type ControllerDefinition, defineController, type ReconcileContext } from './definition.ts';
import { allOf, anyOf, generationChanged, labelsChanged, not, objectMatches } from './predicates.ts';
// renamed: linters take `lookAgain(` in a test for a hook
import { done, after as lookAgain, soonest, TerminalError } from './result.ts';
import { ownerKeys, watchMapped, watchObjects, watchOwned } from './watches.ts';

const by = { fieldManager: 'test' };
const widgetsOf = widgets as Resource<KubeObject>;
const at = (name: string) => ({ namespace: 'default', name });

function world(
  definition: Omit<ControllerDefinition, 'name' | 'for'>,
  options: { rules?: FaultRule[]; gracefulStopMs?: number; watchLagMs?: number } = {},
) {
  const clock = new ManualClock();
  const server = memoryClient({ clock });
  const { logger, entries } = memoryLogger();
  const manager = createManager({
    client: lagging(faultyClient(server, options.rules ?? []), clock, options.watchLagMs ?? 0),
    clock,
    random: seededRandom(5),
    log: logger,
    ...(options.gracefulStopMs !== undefined && { gracefulStopMs: options.gracefulStopMs }),
  });
  const controller = manager.add(defineController({ name: 'widget', for: widgetsOf, ...definition }));
  const stop = new AbortController();
  let running: Promise<void> | undefined;
  return {
    clock,
    server,
    manager,
    controller,
    entries,
    async start() {
      running = manager.run(stop.signal);
      await manager.whenReady();
      await settle();
    },
    async stop() {
      stop.abort();
      await running;
    },
  };
}

/** A client whose watches deliver late, as over a network. */
function lagging(client: Client, clock: ManualClock, lagMs: number): Client {
  if (lagMs === 0) return client;
  return {
    ...client,
    watch: (resource, options) => ({
      async *[Symbol.asyncIterator]() {
        for await (const event of client.watch(resource, options)) {
          await sleep(clock, lagMs);
          yield event;
        }
      },
    }),
  };
}

async function metric(manager: Manager, line: string): Promise<string | undefined> {
  const { body } = await manager.metrics.expose();
  return body
    .split('\n')
    .find((text) => text.startsWith(`${line} `))
    ?.split(' ')
    .pop();
}

describe('a controller', () => {
  it('reconciles what is there at the start and whatever changes, by key', async () => {
    const seen: string[] = [];
    const w = world({
      reconcile: async ({ cache }, key) => {
        const object = cache.lister(widgets).get(key);
        seen.push(`${key.name} ${object === undefined ? 'gone' : (object.spec?.size ?? '-')}`);
        return done();
      },
    });
    await w.server.create(widgets, widget('a', { spec: { size: 1 } }), by);
    await w.start();
    await w.server.patch(widgets, at('a'), 'merge', { spec: { size: 2 } }, by);
    await settle();
    await w.server.delete(widgets, at('a'));
    await settle();
    expect(seen).toEqual(['a 1', 'a 2', 'a gone']);
    expect(await metric(w.manager, 'controller_runtime_reconcile_total{controller="widget",result="success"}')).toBe(
      '3',
    );
    expect(await metric(w.manager, 'controller_runtime_max_concurrent_reconciles{controller="widget"}')).toBe('1');
    expect(await metric(w.manager, 'controller_runtime_active_workers{controller="widget"}')).toBe('0');
    expect(await metric(w.manager, 'workqueue_adds_total{name="widget",controller="widget"}')).toBe('3');
    await w.stop();
    expect(w.server.openWatches()).toBe(0);
    expect(w.clock.untilNext()).toBeUndefined();
  });

  it('comes back when it asked to, and not before', async () => {
    const times: number[] = [];
    const w = world({
      reconcile: async ({ clock }) => {
        times.push(clock.now());
        return times.length < 3 ? lookAgain(30_000, 'waiting for the cloud') : done();
      },
    });
    await w.server.create(widgets, widget('a'), by);
    const begin = w.clock.now();
    await w.start();
    await runUntil(w.clock, () => times.length === 3);
    expect(times.map((time) => time - begin)).toEqual([0, 30_000, 60_000]);
    await w.clock.advance(600_000);
    expect(times).toHaveLength(3);
    expect(
      await metric(w.manager, 'controller_runtime_reconcile_total{controller="widget",result="requeue_after"}'),
    ).toBe('2');
    await w.stop();
  });

  it('tries again ever more slowly after a failure, logs each once, and starts afresh after a success', async () => {
    let calls = 0;
    const w = world({
      reconcile: async () => {
        calls++;
        if (calls <= 4) throw new Error(`failure ${calls}`, { cause: new Error('the cloud said no') });
        return done();
      },
    });
    await w.server.create(widgets, widget('a'), by);
    await w.start();
    await runUntil(w.clock, () => calls === 5, { limitMs: 1000 });
    const errors = w.entries.filter(({ level }) => level === 'error');
    expect(errors.map(({ message, fields }) => [message, fields['error'], fields['name']])).toEqual(
      [1, 2, 3, 4].map((n) => ['Reconcile failed', `failure ${n}: the cloud said no`, 'a']),
    );
    expect(await metric(w.manager, 'controller_runtime_reconcile_errors_total{controller="widget"}')).toBe('4');
    expect(await metric(w.manager, 'workqueue_retries_total{name="widget",controller="widget"}')).toBe('4');
    expect(w.controller.queue.failures('default/a')).toBe(0);
    await w.stop();
  });

  it('does not repeat a terminal failure until the object changes', async () => {
    let calls = 0;
    const w = world({
      reconcile: async () => {
        calls++;
        throw new TerminalError('InvalidFlavor', 'flavor x does not exist');
      },
    });
    await w.server.create(widgets, widget('a'), by);
    await w.start();
    await w.clock.advance(3_600_000);
    expect(calls).toBe(1);
    await w.server.patch(widgets, at('a'), 'merge', { spec: { size: 2 } }, by);
    await settle();
    expect(calls).toBe(2);
    expect(await metric(w.manager, 'controller_runtime_terminal_reconcile_errors_total{controller="widget"}')).toBe(
      '2',
    );
    await w.stop();
  });

  it('treats a lost race as normal life: repeated, not logged as an error', async () => {
    let calls = 0;
    const w = world({
      reconcile: async () => {
        if (++calls === 1) throw statusError.conflict({ group: '', resource: 'widgets', name: 'a' }, 'modified');
        return done();
      },
    });
    await w.server.create(widgets, widget('a'), by);
    await w.start();
    await runUntil(w.clock, () => calls === 2);
    expect(w.entries.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
    await w.stop();
  });

  describe('and what it wrote itself', () => {
    const status = { ...by, subresource: 'status' as const };
    /** A controller that does something with the first look and counts all. */
    const looks = (
      first: (context: ReconcileContext) => Promise<unknown>,
      { rules = [], goesOnAfterOwn = 'status' }: { rules?: FaultRule[]; goesOnAfterOwn?: 'status' | 'everything' } = {},
    ) => {
      const seen: (string | undefined)[] = [];
      const w = world(
        {
          goesOnAfterOwn,
          reconcile: async (context: ReconcileContext, key) => {
            seen.push(context.cache.lister(widgets).get(key)?.status?.phase);
            if (seen.length === 1) await first(context);
            return done();
          },
        },
        { rules },
      );
      return { ...w, seen };
    };

    it('looks again at a status of its own unless it goes on after it', async () => {
      const seen: (string | undefined)[] = [];
      const w = world({
        reconcile: async ({ client, cache }, key) => {
          const phase = cache.lister(widgets).get(key)?.status?.phase;
          seen.push(phase);
          const next = phase === undefined ? 'Coming' : 'Up';
          if (phase !== next) await client.patch(widgets, key, 'merge', { status: { phase: next } }, status);
          return done();
        },
      });
      await w.server.create(widgets, widget('a'), by);
      await w.start();
      await settle();
      expect(seen).toEqual([undefined, 'Coming', 'Up']);
      await w.stop();
    });

    it('does not look again at a status of its own that it went on after', async () => {
      const w = looks(({ client }) => client.patch(widgets, at('a'), 'merge', { status: { phase: 'Up' } }, status));
      await w.server.create(widgets, widget('a'), by);
      await w.start();
      await w.clock.advance(60_000);
      expect(w.seen).toEqual([undefined]);
      await w.stop();
    });

    it.each([
      ['between two writes of its own', ['own', 'other', 'own']],
      ['before its own', ['other', 'own']],
      ['after its own', ['own', 'other']],
    ])('looks at once at a status that another wrote %s', async (_, writers) => {
      const w = looks(async ({ client }) => {
        for (const [index, writer] of writers.entries()) {
          const writing = writer === 'own' ? client : w.server;
          await writing.patch(widgets, at('a'), 'merge', { status: { phase: `${index}` } }, status);
        }
      });
      await w.server.create(widgets, widget('a'), by);
      const begin = w.clock.now();
      await w.start();
      expect(w.seen).toEqual([undefined, `${writers.length - 1}`]);
      expect(w.clock.now()).toBe(begin);
      await w.stop();
    });

    it('looks again at what it changed besides the status', async () => {
      const w = looks(({ client }) => client.patch(widgets, at('a'), 'merge', { spec: { size: 7 } }, by));
      await w.server.create(widgets, widget('a'), by);
      await w.start();
      expect(w.seen).toHaveLength(2);
      await w.stop();
    });

    it('does not look again at anything it changed when it went on with it', async () => {
      const w = looks(
        async ({ client }) => {
          await client.patch(widgets, at('a'), 'merge', { metadata: { finalizers: ['test/held'] } }, by);
          await client.patch(widgets, at('a'), 'merge', { spec: { size: 7 } }, by);
        },
        { goesOnAfterOwn: 'everything' },
      );
      await w.server.create(widgets, widget('a'), by);
      await w.start();
      await w.clock.advance(60_000);
      expect(w.seen).toHaveLength(1);
      await w.server.patch(widgets, at('a'), 'merge', { spec: { size: 8 } }, by);
      await settle();
      expect(w.seen).toHaveLength(2);
      await w.stop();
    });

    it('looks at what another changed meanwhile, also when it goes on with its own changes', async () => {
      const w = looks(
        async ({ client }) => {
          await client.patch(widgets, at('a'), 'merge', { spec: { size: 7 } }, by);
          await w.server.patch(widgets, at('a'), 'merge', { spec: { size: 8 } }, by);
        },
        { goesOnAfterOwn: 'everything' },
      );
      await w.server.create(widgets, widget('a'), by);
      await w.start();
      expect(w.seen).toHaveLength(2);
      await w.stop();
    });

    it('looks at once at a status that another writes after its work', async () => {
      const w = looks(({ client }) => client.patch(widgets, at('a'), 'merge', { status: { phase: 'Up' } }, status));
      await w.server.create(widgets, widget('a'), by);
      await w.start();
      await w.server.patch(widgets, at('a'), 'merge', { status: { phase: 'Down' } }, status);
      await settle();
      expect(w.seen).toEqual([undefined, 'Down']);
      await w.stop();
    });

    it('looks again when the stream was lost, for others may have written meanwhile', async () => {
      const rules: FaultRule[] = [];
      const w = looks(
        async ({ client }) => {
          rules.push({ verb: 'watch', error: () => new Error('down') });
          w.server.endWatches();
          await settle();
          await w.server.patch(widgets, at('a'), 'merge', { status: { phase: 'Other' } }, status);
          await client.patch(widgets, at('a'), 'merge', { status: { ready: 1 } }, status);
          rules.length = 0;
        },
        { rules },
      );
      await w.server.create(widgets, widget('a'), by);
      await w.start();
      await runUntil(w.clock, () => w.seen.length > 1, { limitMs: 60_000 });
      expect(w.seen).toEqual([undefined, 'Other']);
      await w.stop();
    });
  });

  describe('beside others with work to do', () => {
    /** Another controller with one key being worked on and `waiting` more, until it is released. */
    const busyNeighbour = (w: ReturnType<typeof world>) => {
      let release = (): void => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      const begun: string[] = [];
      const neighbour = w.manager.add(
        defineController({
          name: 'gadget',
          for: gadgets as Resource<KubeObject>,
          watches: [],
          reconcile: async (_, { name }) => {
            begun.push(name);
            await held;
            return done();
          },
        }),
      );
      return { begun, release, enqueue: (name: string) => neighbour.enqueue(at(name)) };
    };

    it('works in the background when they have finished', async () => {
      const begun: string[] = [];
      const w = world({
        background: true,
        reconcile: async (_, { name }) => {
          begun.push(name);
          return done();
        },
      });
      const neighbour = busyNeighbour(w);
      await w.start();
      neighbour.enqueue('g1');
      neighbour.enqueue('g2');
      await w.server.create(widgets, widget('a'), by);
      await settle();
      expect(begun).toEqual([]);
      neighbour.release();
      await settle();
      expect(neighbour.begun).toEqual(['g1', 'g2']);
      expect(begun).toEqual(['a']);
      await w.stop();
    });

    it('does not wait in the background for work that only waits itself', async () => {
      const begun: number[] = [];
      const w = world({
        background: true,
        reconcile: async ({ clock }) => {
          begun.push(clock.now());
          return done();
        },
      });
      const neighbour = busyNeighbour(w);
      await w.start();
      const from = w.clock.now();
      neighbour.enqueue('g1');
      neighbour.enqueue('g2');
      await w.server.create(widgets, widget('a'), by);
      await runUntil(w.clock, () => begun.length === 1, { limitMs: 2_000 });
      expect(begun[0]! - from).toBe(500);
      neighbour.release();
      await w.stop();
    });

    it('sums up changes of what it watches patiently, and answers a new one of them at once', async () => {
      const seen: (string | undefined)[] = [];
      const w = world({
        watches: [watchObjects(widgets), watchMapped(gadgets, () => [at('a')], { patient: true })],
        reconcile: async ({ cache }) => {
          seen.push(cache.lister(gadgets).get(at('g'))?.spec?.colour);
          return done();
        },
      });
      const neighbour = busyNeighbour(w);
      await w.server.create(widgets, widget('a'), by);
      await w.start();
      neighbour.enqueue('g1');
      seen.length = 0;
      await w.server.create(gadgets, gadget('g'), by);
      await settle();
      expect(seen.splice(0)).toEqual([undefined]);
      for (const colour of ['red', 'green', 'blue']) {
        await w.server.patch(gadgets, at('g'), 'merge', { spec: { colour } }, by);
        await settle();
      }
      expect(seen).toEqual([]);
      neighbour.release();
      await settle();
      expect(seen).toEqual(['blue']);
      await w.stop();
    });
  });

  it('tells a reconcile that takes too long to stop, and never runs it twice meanwhile', async () => {
    let active = 0;
    let calls = 0;
    const w = world({
      timeoutMs: 1000,
      concurrency: 3,
      reconcile: async ({ signal }) => {
        calls++;
        expect(++active).toBe(1);
        if (calls === 1) await new Promise((resolve) => signal.addEventListener('abort', resolve));
        active--;
        signal.throwIfAborted();
        return done();
      },
    });
    await w.server.create(widgets, widget('a'), by);
    await w.start();
    await w.server.patch(widgets, at('a'), 'merge', { spec: { size: 2 } }, by);
    await settle();
    expect(calls).toBe(1);
    await w.clock.advance(1000);
    await runUntil(w.clock, () => calls === 2);
    expect(w.entries.some(({ message }) => message === 'Reconcile takes too long and was told to stop')).toBe(true);
    await w.stop();
  });

  it('sees its own writes when it runs again, however late the cache hears of them', async () => {
    const sizes: (number | undefined)[] = [];
    const w = world(
      {
        reconcile: async ({ client, cache }, key) => {
          const size = cache.lister(widgets).get(key)?.spec?.size ?? 0;
          sizes.push(size);
          if (size >= 3 || sizes.length > 50) return done();
          await client.patch(widgets, key, 'merge', { spec: { size: size + 1 } }, by);
          // asks to run again at once, long before the watch event arrives
          return lookAgain(0, 'more to do');
        },
      },
      { watchLagMs: 500 },
    );
    await w.server.create(widgets, widget('a', { spec: { size: 0 } }), by);
    const starting = w.start();
    await runUntil(w.clock, () => sizes.includes(3) || sizes.length > 50);
    await starting;
    await settle();
    // every value was acted upon exactly once: no write was made from a stale read
    expect(w.server.writes().filter(({ verb }) => verb === 'patch')).toHaveLength(3);
    expect([...new Set(sizes)]).toEqual([0, 1, 2, 3]);
    await w.stop();
  });

  it('is not held up for ever by a cache that has lost its stream', async () => {
    const rules: FaultRule[] = [];
    let calls = 0;
    const w = world(
      {
        reconcile: async ({ client }, key) => {
          if (++calls === 2) await client.patch(widgets, key, 'merge', { spec: { size: 9 } }, by);
          return done();
        },
      },
      { rules },
    );
    await w.server.create(widgets, widget('a'), by);
    await w.start();
    rules.push({ verb: 'watch', error: () => new Error('down') }, { verb: 'list', error: () => new Error('down') });
    w.server.endWatches();
    await settle();
    w.controller.enqueue(at('a'));
    await settle();
    w.controller.enqueue(at('a'));
    await settle();
    expect(calls).toBe(2);
    await w.clock.advance(2000);
    await settle();
    expect(calls).toBe(3);
    await w.stop();
  });

  it('wakes owners for what they own, also when an object changes hands, and maps as told', async () => {
    const seen: string[] = [];
    const w = world({
      watches: [
        watchObjects(widgets, { predicates: [generationChanged] }),
        watchOwned(gadgets, widgets),
        watchMapped(gadgets, ({ metadata }) => (metadata.labels?.['for'] ? [at(metadata.labels['for'])] : [])),
      ],
      reconcile: async (_, key) => {
        seen.push(key.name);
        return done();
      },
    });
    const [a, b] = [await w.server.create(widgets, widget('a'), by), await w.server.create(widgets, widget('b'), by)];
    await w.start();
    seen.length = 0;
    await w.server.create(gadgets, gadget('g', a), by);
    await settle();
    expect(seen.splice(0)).toEqual(['a']);
    await w.server.patch(
      gadgets,
      at('g'),
      'merge',
      { metadata: { ownerReferences: gadget('g', b).metadata.ownerReferences as never } },
      by,
    );
    await settle();
    expect(seen.splice(0).sort()).toEqual(['a', 'b']);
    await w.server.patch(gadgets, at('g'), 'merge', { metadata: { ownerReferences: null, labels: { for: 'c' } } }, by);
    await settle();
    expect(seen.splice(0).sort()).toEqual(['b', 'c']);
    await w.server.patch(widgets, at('a'), 'merge', { status: { phase: 'Up' } }, { ...by, subresource: 'status' });
    await settle();
    expect(seen).toEqual([]);
    await w.stop();
  });

  it('looks once at a change that means the same key before and after', async () => {
    let looks = 0;
    const w = world({
      watches: [watchMapped(gadgets, () => [at('a')])],
      reconcile: async () => {
        looks++;
        return done();
      },
    });
    await w.server.create(gadgets, gadget('g'), by);
    await w.start();
    looks = 0;
    await w.server.patch(gadgets, at('g'), 'merge', { spec: { colour: 'red' } }, by);
    await settle();
    expect(looks).toBe(1);
    await w.stop();
  });

  it('listens to sources outside the API', async () => {
    const seen: string[] = [];
    let poke = (): void => {};
    const w = world({
      watches: [],
      sources: [
        {
          start({ enqueue }) {
            poke = () => enqueue({ namespace: 'n', name: 'from-cloud' });
          },
        },
        { start: () => Promise.reject(new Error('poller broke')) },
      ],
      reconcile: async (_, key) => {
        seen.push(`${key.namespace}/${key.name}`);
        return done();
      },
    });
    await w.start();
    poke();
    await settle();
    expect(seen).toEqual(['n/from-cloud']);
    expect(w.entries.filter(({ message }) => message === 'Event source failed')).toHaveLength(1);
    await w.stop();
  });

  it('does what a user asked for before what it merely looks at again', async () => {
    const seen: string[] = [];
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const w = world({
      reconcile: async (_, key) => {
        seen.push(key.name);
        await gate;
        return done();
      },
    });
    for (const name of ['a', 'b', 'c']) await w.server.create(widgets, widget(name), by);
    await w.start();
    await w.server.create(widgets, widget('urgent'), by);
    await settle();
    open();
    await settle();
    expect(seen).toEqual(['a', 'urgent', 'b', 'c']);
    await w.stop();
  });

  it('lets the work under way finish when it stops, and begins nothing new', async () => {
    let finish = (): void => {};
    let aborted = false;
    const seen: string[] = [];
    const w = world({
      reconcile: async ({ signal }, key) => {
        seen.push(key.name);
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        aborted = signal.aborted;
        return done();
      },
    });
    for (const name of ['a', 'b']) await w.server.create(widgets, widget(name), by);
    await w.start();
    const stopping = w.stop();
    await settle();
    finish();
    await stopping;
    expect(seen).toEqual(['a']);
    expect(aborted).toBe(false);
  });

  it('does not wait for ever for work that will not end', async () => {
    const w = world({ reconcile: () => new Promise(() => {}) }, { gracefulStopMs: 10_000 });
    await w.server.create(widgets, widget('a'), by);
    await w.start();
    const stopping = w.stop().catch((error: unknown) => error);
    await settle();
    await w.clock.advance(10_000);
    expect(await stopping).toMatchObject({ code: 'CAP_STOP_TIMEOUT' });
  });

  it('refuses definitions that cannot work', () => {
    const reconcile = async () => done();
    expect(() => defineController({ name: 'Bad Name', for: widgetsOf, reconcile })).toThrow(/lower case/);
    expect(() => defineController({ name: 'x', for: widgetsOf, reconcile, concurrency: 0 })).toThrow(/concurrency/);
    expect(() => defineController({ name: 'x', for: widgetsOf, reconcile, timeoutMs: 0 })).toThrow(/timeoutMs/);
  });
});

describe('predicates', () => {
  const update = (old: Partial<Widget['metadata']>, now: Partial<Widget['metadata']>) => ({
    type: 'update' as const,
    old: { ...widget('a'), metadata: { name: 'a', ...old } },
    object: { ...widget('a'), metadata: { name: 'a', ...now } },
  });
  it.each([
    ['a new generation', update({ generation: 1 }, { generation: 2 }), true],
    ['the same generation', update({ generation: 1 }, { generation: 1, labels: { a: 'b' } }), false],
    ['the beginning of a deletion', update({ generation: 1 }, { generation: 1, deletionTimestamp: 't' }), true],
  ])('generationChanged on %s', (_, event, expected) => {
    expect(generationChanged(event)).toBe(expected);
  });

  it('can be combined', () => {
    const event = update({ generation: 1 }, { generation: 1, labels: { a: 'b' } });
    expect(anyOf(generationChanged, labelsChanged)(event)).toBe(true);
    expect(allOf(generationChanged, labelsChanged)(event)).toBe(false);
    expect(not(generationChanged)(event)).toBe(true);
    expect(objectMatches(({ metadata }) => metadata.labels === undefined)(event)).toBe(true);
  });
});

describe('owner keys', () => {
  it('match the kind in any version and respect the owner’s scope', () => {
    const owned = gadget('g', { ...widget('w'), apiVersion: 'test.capstan.dev/v2' });
    expect(ownerKeys(owned, widgets)).toEqual([at('w')]);
    expect(ownerKeys(owned, { ...widgets, namespaced: false })).toEqual([{ name: 'w' }]);
    expect(ownerKeys(owned, { ...widgets, group: 'other' })).toEqual([]);
    delete owned.metadata.ownerReferences![0]!.controller;
    expect(ownerKeys(owned, widgets)).toEqual([]);
    expect(ownerKeys(owned, widgets, true)).toEqual([at('w')]);
  });
});

describe('results', () => {
  it('combine to the one that comes back soonest', () => {
    expect(soonest(done(), lookAgain(50, 'b'), lookAgain(10, 'a'))).toEqual(lookAgain(10, 'a'));
    expect(soonest(done(), done())).toEqual(done());
  });
});
