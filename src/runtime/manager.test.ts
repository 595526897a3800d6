import { describe, expect, it } from 'vitest';
import { memoryClient } from '../client/index.ts';
import { ManualClock, seededRandom } from '../machinery/index.ts';
import { done } from './controller/result.ts';
import { memoryLogger } from './log.ts';
import { createManager, type ManagerOptions } from './manager.ts';
import { runUntil, settle } from './testkit/eventually.ts';
import { type FaultRule, faultyClient } from './testkit/faulty-client.ts';
import { Gadgets, Widgets, widget } from './testkit/test-kinds.ts';

const by = { fieldManager: 'test' };
const widgetsOf = Widgets;

function setUp(options: Partial<ManagerOptions> = {}) {
  const clock = (options.clock as ManualClock | undefined) ?? new ManualClock();
  const server = memoryClient({ clock });
  const rules: FaultRule[] = [];
  const { logger, entries } = memoryLogger();
  const manager = createManager({
    client: faultyClient(server, rules),
    clock,
    random: seededRandom(2),
    log: logger,
    ...options,
  });
  return { clock, server, rules, entries, manager };
}

describe('the manager', () => {
  it('is ready when all caches have synced, and says what it waits for until then', async () => {
    const { manager, rules, clock, entries } = setUp();
    manager.add({ name: 'widget', for: widgetsOf, reconcile: async () => done() });
    expect(manager.ready()).toEqual({ ok: false, problems: ['the manager is new'] });
    rules.push({ resource: 'Widget', error: () => new Error('no route') });
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    await clock.advance(31_000);
    expect(manager.ready().ok).toBe(false);
    const reminder = entries.find(({ message }) => message === 'Caches are still syncing');
    expect(reminder?.fields['waitingFor']).toEqual(['cache of widgets.test.capstan.dev/v1 has not synced: no route']);
    rules.length = 0;
    await runUntil(clock, () => manager.ready().ok);
    await manager.whenReady();
    expect(manager.healthy()).toEqual({ ok: true, problems: [] });
    stop.abort();
    await running;
    expect(manager.ready().ok).toBe(false);
    expect(manager.healthy().ok).toBe(false);
    expect(clock.untilNext()).toBeUndefined();
  });

  it('stops cleanly even while caches are still syncing', async () => {
    const { manager, rules, clock } = setUp();
    manager.add({ name: 'widget', for: widgetsOf, reconcile: async () => done() });
    rules.push({ error: () => new Error('no route') });
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    await settle();
    stop.abort();
    await running;
    expect(clock.untilNext()).toBeUndefined();
  });

  it('shares one watch per kind among all controllers', async () => {
    const { manager, server } = setUp();
    for (const name of ['one', 'two', 'three']) manager.add({ name, for: widgetsOf, reconcile: async () => done() });
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    await manager.whenReady();
    await settle();
    expect(server.openWatches()).toBe(1);
    stop.abort();
    await running;
  });

  it('lets only the leader reconcile, except controllers that may always run', async () => {
    const clock = new ManualClock();
    const server = memoryClient({ clock });
    const seen: string[] = [];
    const build = (identity: string) => {
      const manager = createManager({
        client: server,
        clock,
        random: seededRandom(identity.charCodeAt(0)),
        leaderElection: { namespace: 'kube-system', name: 'capstan', identity },
      });
      const reconcile = (what: string) => async () => {
        seen.push(`${identity} ${what}`);
        return done();
      };
      manager.add({ name: 'leader', for: widgetsOf, reconcile: reconcile('leads') });
      manager.add({ name: 'always', for: widgetsOf, reconcile: reconcile('runs'), runsWithoutLeading: true });
      const stop = new AbortController();
      const running = manager.run(stop.signal);
      return { manager, stop, running };
    };
    const a = build('a');
    await runUntil(clock, () => a.manager.isLeader);
    const b = build('b');
    await b.manager.whenReady();
    await server.create(Widgets, widget('w'), by);
    await settle();
    expect(seen.sort()).toEqual(['a leads', 'a runs', 'b runs']);
    expect(b.manager.ready().ok).toBe(true);
    a.stop.abort();
    await a.running;
    await runUntil(clock, () => seen.includes('b leads'), { limitMs: 10_000 });
    b.stop.abort();
    await b.running;
  });

  it('ends with an error when it loses the lease', async () => {
    const { manager, clock, rules } = setUp({ leaderElection: { namespace: 'n', name: 'l', identity: 'a' } });
    manager.add({ name: 'widget', for: widgetsOf, reconcile: async () => done() });
    const running = manager.run(new AbortController().signal).catch((error: unknown) => error);
    await runUntil(clock, () => manager.isLeader);
    rules.push({ resource: 'Lease', error: () => new Error('cut off') });
    let ended: unknown;
    void running.then((error) => {
      ended = error;
    });
    await runUntil(clock, () => ended !== undefined, { limitMs: 60_000 });
    expect(ended).toMatchObject({ code: 'CAP_LEADERSHIP_LOST' });
  });

  it('stops everything when one part fails', async () => {
    const { manager, entries } = setUp();
    manager.addRunnable({ name: 'server', run: () => Promise.reject(new Error('port is taken')) });
    manager.add({ name: 'widget', for: widgetsOf, reconcile: async () => done() });
    await expect(manager.run(new AbortController().signal)).rejects.toThrow('port is taken');
    expect(entries.find(({ message }) => message === 'A part of the program failed')?.fields['part']).toBe('server');
  });

  it('refuses reads from caches that nobody fills', async () => {
    const { manager } = setUp();
    manager.add({
      name: 'widget',
      for: widgetsOf,
      setup: (cache) => cache.informer(Widgets, { labelSelector: 'a=b' }).addIndexer('x', () => []),
      reconcile: async () => done(),
    });
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    await manager.whenReady();
    expect(manager.reader.lister(Widgets).size).toBe(0);
    expect(manager.reader.lister(Widgets, { labelSelector: 'a=b' }).byIndex('x', 'y')).toEqual([]);
    expect(() => manager.reader.lister(Gadgets)).toThrow(/ask for its informer/);
    stop.abort();
    await running;
  });

  it('refuses two controllers of one name and additions after the start', async () => {
    const { manager } = setUp();
    const definition = { name: 'widget', for: widgetsOf, reconcile: async () => done() };
    manager.add(definition);
    expect(() => manager.add(definition)).toThrow(/two controllers/);
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    expect(() => manager.add({ ...definition, name: 'late' })).toThrow(/before the manager runs/);
    await expect(manager.run(stop.signal)).rejects.toThrow(/runs once/);
    stop.abort();
    await running;
  });
});
