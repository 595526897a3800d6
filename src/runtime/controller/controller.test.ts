import { describe, expect, it } from 'vitest';
import { statusError } from '../../machinery/index.ts';
import type { Manager } from '../manager.ts';
import { controllerWorld } from '../testkit/controller-world.ts';
import { runUntil, settle } from '../testkit/eventually.ts';
import type { FaultRule } from '../testkit/faulty-client.ts';
import { Gadgets, gadget, type Widget, Widgets, widget } from '../testkit/test-kinds.ts';
import { defineController } from './definition.ts';
import { allOf, anyOf, generationChanged, labelsChanged, not, objectMatches } from './predicates.ts';
// Renamed, because linters take `after(` in a test for a hook.
import { done, after as requeueAfter, soonest, TerminalError } from './result.ts';
import { ownerKeys, watchMapped, watchObjects, watchOwned } from './watches.ts';

const by = { fieldManager: 'test' };
const widgetsOf = Widgets;
const at = (name: string) => ({ namespace: 'default', name });

async function metric(manager: Manager, line: string): Promise<string | undefined> {
  const { body } = await manager.metrics.expose();
  return body
    .split('\n')
    .find((text) => text.startsWith(`${line} `))
    ?.split(' ')
    .pop();
}

describe('a controller', () => {
  it('reconciles existing objects at the start and every change, by key', async () => {
    const seen: string[] = [];
    const w = controllerWorld({
      reconcile: async ({ cache }, key) => {
        const object = cache.lister(Widgets).get(key);
        seen.push(`${key.name} ${object === undefined ? 'gone' : (object.spec?.size ?? '-')}`);
        return done();
      },
    });
    await w.server.create(Widgets, widget('a', { spec: { size: 1 } }), by);
    await w.start();
    await w.server.patch(Widgets, at('a'), 'merge', { spec: { size: 2 } }, by);
    await settle();
    await w.server.delete(Widgets, at('a'));
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

  it('reconciles again when it was asked to, and not before', async () => {
    const times: number[] = [];
    const w = controllerWorld({
      reconcile: async ({ clock }) => {
        times.push(clock.now());
        return times.length < 3 ? requeueAfter(30_000, 'waiting for the cloud') : done();
      },
    });
    await w.server.create(Widgets, widget('a'), by);
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

  it('retries ever more slowly after a failure, logs each once, and starts over after a success', async () => {
    let calls = 0;
    const w = controllerWorld({
      reconcile: async () => {
        calls++;
        if (calls <= 4) throw new Error(`failure ${calls}`, { cause: new Error('the cloud said no') });
        return done();
      },
    });
    await w.server.create(Widgets, widget('a'), by);
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
    const w = controllerWorld({
      reconcile: async () => {
        calls++;
        throw new TerminalError('InvalidFlavor', 'flavor x does not exist');
      },
    });
    await w.server.create(Widgets, widget('a'), by);
    await w.start();
    await w.clock.advance(3_600_000);
    expect(calls).toBe(1);
    await w.server.patch(Widgets, at('a'), 'merge', { spec: { size: 2 } }, by);
    await settle();
    expect(calls).toBe(2);
    expect(await metric(w.manager, 'controller_runtime_terminal_reconcile_errors_total{controller="widget"}')).toBe(
      '2',
    );
    await w.stop();
  });

  it('repeats a lost race without logging it as an error', async () => {
    let calls = 0;
    const w = controllerWorld({
      reconcile: async () => {
        if (++calls === 1) throw statusError.conflict({ group: '', resource: 'widgets', name: 'a' }, 'modified');
        return done();
      },
    });
    await w.server.create(Widgets, widget('a'), by);
    await w.start();
    await runUntil(w.clock, () => calls === 2);
    expect(w.entries.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
    await w.stop();
  });

  it('tells a slow reconcile to stop and never runs it twice meanwhile', async () => {
    let active = 0;
    let calls = 0;
    const w = controllerWorld({
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
    await w.server.create(Widgets, widget('a'), by);
    await w.start();
    await w.server.patch(Widgets, at('a'), 'merge', { spec: { size: 2 } }, by);
    await settle();
    expect(calls).toBe(1);
    await w.clock.advance(1000);
    await runUntil(w.clock, () => calls === 2);
    expect(w.entries.some(({ message }) => message === 'Reconcile takes too long and was told to stop')).toBe(true);
    await w.stop();
  });

  it('sees its own writes when it runs again, however late the cache hears of them', async () => {
    const sizes: (number | undefined)[] = [];
    const w = controllerWorld(
      {
        reconcile: async ({ client, cache }, key) => {
          const size = cache.lister(Widgets).get(key)?.spec?.size ?? 0;
          sizes.push(size);
          if (size >= 3 || sizes.length > 50) return done();
          await client.patch(Widgets, key, 'merge', { spec: { size: size + 1 } }, by);
          // Requests another run at once, long before the watch event arrives.
          return requeueAfter(0, 'more to do');
        },
      },
      { watchLagMs: 500 },
    );
    await w.server.create(Widgets, widget('a', { spec: { size: 0 } }), by);
    const starting = w.start();
    await runUntil(w.clock, () => sizes.includes(3) || sizes.length > 50);
    await starting;
    await settle();
    // Every value was handled exactly once: no write was based on a stale read.
    expect(w.server.writes().filter(({ verb }) => verb === 'patch')).toHaveLength(3);
    expect([...new Set(sizes)]).toEqual([0, 1, 2, 3]);
    await w.stop();
  });

  it('is not blocked for ever by a cache that has lost its stream', async () => {
    const rules: FaultRule[] = [];
    let calls = 0;
    const w = controllerWorld(
      {
        reconcile: async ({ client }, key) => {
          if (++calls === 2) await client.patch(Widgets, key, 'merge', { spec: { size: 9 } }, by);
          return done();
        },
      },
      { rules },
    );
    await w.server.create(Widgets, widget('a'), by);
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

  it('wakes owners for objects they own, even when these change hands, and maps as configured', async () => {
    const seen: string[] = [];
    const w = controllerWorld({
      watches: [
        watchObjects(Widgets, { predicates: [generationChanged] }),
        watchOwned(Gadgets, Widgets),
        watchMapped(Gadgets, ({ metadata }) => (metadata.labels?.['for'] ? [at(metadata.labels['for'])] : [])),
      ],
      reconcile: async (_, key) => {
        seen.push(key.name);
        return done();
      },
    });
    const [a, b] = [await w.server.create(Widgets, widget('a'), by), await w.server.create(Widgets, widget('b'), by)];
    await w.start();
    seen.length = 0;
    await w.server.create(Gadgets, gadget('g', a), by);
    await settle();
    expect(seen.splice(0)).toEqual(['a']);
    await w.server.patch(
      Gadgets,
      at('g'),
      'merge',
      { metadata: { ownerReferences: gadget('g', b).metadata.ownerReferences as never } },
      by,
    );
    await settle();
    expect(seen.splice(0).sort()).toEqual(['a', 'b']);
    await w.server.patch(Gadgets, at('g'), 'merge', { metadata: { ownerReferences: null, labels: { for: 'c' } } }, by);
    await settle();
    expect(seen.splice(0).sort()).toEqual(['b', 'c']);
    await w.server.patch(Widgets, at('a'), 'merge', { status: { phase: 'Up' } }, { ...by, subresource: 'status' });
    await settle();
    expect(seen).toEqual([]);
    await w.stop();
  });

  it('reconciles once for a change that maps to the same key before and after', async () => {
    let looks = 0;
    const w = controllerWorld({
      watches: [watchMapped(Gadgets, () => [at('a')])],
      reconcile: async () => {
        looks++;
        return done();
      },
    });
    await w.server.create(Gadgets, gadget('g'), by);
    await w.start();
    looks = 0;
    await w.server.patch(Gadgets, at('g'), 'merge', { spec: { colour: 'red' } }, by);
    await settle();
    expect(looks).toBe(1);
    await w.stop();
  });

  it('listens to sources outside the API', async () => {
    const seen: string[] = [];
    let poke = (): void => {};
    const w = controllerWorld({
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

  it('handles requests of users before routine checks', async () => {
    const seen: string[] = [];
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const w = controllerWorld({
      reconcile: async (_, key) => {
        seen.push(key.name);
        await gate;
        return done();
      },
    });
    for (const name of ['a', 'b', 'c']) await w.server.create(Widgets, widget(name), by);
    await w.start();
    await w.server.create(Widgets, widget('urgent'), by);
    await settle();
    open();
    await settle();
    expect(seen).toEqual(['a', 'urgent', 'b', 'c']);
    await w.stop();
  });

  it('finishes running work when it stops and begins nothing new', async () => {
    let finish = (): void => {};
    let aborted = false;
    const seen: string[] = [];
    const w = controllerWorld({
      reconcile: async ({ signal }, key) => {
        seen.push(key.name);
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        aborted = signal.aborted;
        return done();
      },
    });
    for (const name of ['a', 'b']) await w.server.create(Widgets, widget(name), by);
    await w.start();
    const stopping = w.stop();
    await settle();
    finish();
    await stopping;
    expect(seen).toEqual(['a']);
    expect(aborted).toBe(false);
  });

  it('does not wait for ever for work that does not end', async () => {
    const w = controllerWorld({ reconcile: () => new Promise(() => {}) }, { gracefulStopMs: 10_000 });
    await w.server.create(Widgets, widget('a'), by);
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
  ])('generationChanged is checked on %s', (_, event, expected) => {
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
  it('match the kind in any version and respect the scope of the owner', () => {
    const owned = gadget('g', { ...widget('w'), apiVersion: 'test.capstan.dev/v2' });
    expect(ownerKeys(owned, Widgets)).toEqual([at('w')]);
    expect(ownerKeys(owned, { ...Widgets, namespaced: false })).toEqual([{ name: 'w' }]);
    expect(ownerKeys(owned, { ...Widgets, group: 'other' })).toEqual([]);
    delete owned.metadata.ownerReferences![0]!.controller;
    expect(ownerKeys(owned, Widgets)).toEqual([]);
    expect(ownerKeys(owned, Widgets, { anyOwner: true })).toEqual([at('w')]);
  });
});

describe('results', () => {
  it('combine to the one that returns soonest', () => {
    expect(soonest(done(), requeueAfter(50, 'b'), requeueAfter(10, 'a'))).toEqual(requeueAfter(10, 'a'));
    expect(soonest(done(), done())).toEqual(done());
  });
});
