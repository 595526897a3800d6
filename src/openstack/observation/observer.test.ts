import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../machinery/index.ts';
import type { CloudConfig } from '../config/cloud-config.ts';
import { createSessionPool } from '../session-pool.ts';
import { type FakeCloud, fakeCloud, fakeConfig } from '../testing/fake-cloud.ts';
import { createObserver, type Observer, type ObserverOptions } from './observer.ts';
import { createObserverPool } from './observer-pool.ts';
import { createPace } from './pace.ts';
import type { ObservedType } from './types.ts';

interface FakeServer {
  id: string;
  status: string;
  updated: number;
}

/** A cloud whose servers, ports and load balancers can be changed between polls. */
function observedCloud(options: ObserverOptions = {}) {
  const cloud = fakeCloud();
  const servers = new Map<string, FakeServer>();
  const deleted = new Map<string, number>();
  const balancers = new Map<string, object>();
  const ports = new Map<string, object>();
  const render = (server: FakeServer) => ({
    ...server,
    name: server.id,
    updated: new Date(server.updated).toISOString(),
  });
  cloud.on('GET /compute/v2.1/servers/detail', ({ query }) => {
    const since = query.get('changes-since');
    const headers = { date: new Date(cloud.clock.now()).toUTCString() };
    if (since === null) {
      const size = Number(query.get('limit'));
      const all = [...servers.values()].map(render);
      const from = query.get('marker') === null ? 0 : all.findIndex(({ id }) => id === query.get('marker')) + 1;
      const page = all.slice(from, from + size);
      const next =
        page.length === size
          ? { servers_links: [{ rel: 'next', href: `?limit=${size}&marker=${page.at(-1)!.id}` }] }
          : {};
      return { headers, json: { servers: page, ...next } };
    }
    const time = Date.parse(since);
    const changed = [...servers.values()].filter(({ updated }) => updated >= time).map(render);
    for (const [id, at] of deleted) if (at >= time) changed.push(render({ id, status: 'DELETED', updated: at }));
    return { headers, json: { servers: changed } };
  });
  cloud.on('GET /load-balancer/v2.0/lbaas/loadbalancers', () => ({ json: { loadbalancers: [...balancers.values()] } }));
  cloud.on('GET /network/v2.0/ports', ({ query }) => {
    const ids = query.getAll('id');
    const wanted = [...ports].filter(([id]) => ids.length === 0 || ids.includes(id));
    return { json: { ports: wanted.map(([, port]) => port) } };
  });
  const observer = createObserver(cloud.connect({ patience: { attempts: 1 } }), {
    random: seededRandom(3),
    ...options,
  });
  return {
    cloud,
    observer,
    balancers,
    ports,
    set(id: string, status: string) {
      servers.set(id, { id, status, updated: cloud.clock.now() });
      cloud.on(`GET /compute/v2.1/servers/${id}`, () => {
        const server = servers.get(id);
        return server
          ? { json: { server: render(server) } }
          : { status: 404, json: { itemNotFound: { message: 'gone' } } };
      });
    },
    remove(id: string, trace = true) {
      servers.delete(id);
      if (trace) deleted.set(id, cloud.clock.now());
    },
    lists: () => cloud.log.filter((line) => line.includes('/servers/detail')),
  };
}

function record(observer: Observer, type: ObservedType, id?: string): { seen: string[]; stop(): void } {
  const seen: string[] = [];
  const stop = observer.subscribe(
    type as 'server',
    ({ change, id: changed, now }) => seen.push(`${change} ${changed}${now ? ` ${now.status}` : ''}`),
    id === undefined ? {} : { id },
  );
  return { seen, stop };
}

const settle = (cloud: FakeCloud): Promise<void> => cloud.clock.advance(1);

async function refreshed(cloud: FakeCloud, observer: Observer, type: ObservedType): Promise<void> {
  const done = observer.refresh(type);
  await settle(cloud);
  await done;
}

describe('an observer', () => {
  it('sends no requests while nobody is subscribed', async () => {
    const { cloud, observer } = observedCloud();
    await cloud.clock.advance(3_600_000);
    expect(cloud.log).toEqual([]);
    expect(observer.health('server').observing).toBe(false);
  });

  it('reads one list for all subscribers and tells each what concerns it', async () => {
    const { cloud, observer, set, lists } = observedCloud();
    set('a', 'ACTIVE');
    set('b', 'ACTIVE');
    const all = record(observer, 'server');
    const ofA = record(observer, 'server', 'a');
    const ofB = record(observer, 'server', 'b');
    await settle(cloud);
    expect(lists()).toHaveLength(1);
    expect(all.seen).toEqual(['added a ACTIVE', 'added b ACTIVE']);
    expect(ofA.seen).toEqual(['added a ACTIVE']);
    expect(ofB.seen).toEqual(['added b ACTIVE']);
    expect(observer.current('server', 'a')).toMatchObject({ id: 'a', status: 'ACTIVE' });
  });

  it('tells a later subscriber at once what is known', async () => {
    const { cloud, observer, set, lists } = observedCloud();
    set('a', 'ACTIVE');
    record(observer, 'server');
    await settle(cloud);
    const late = record(observer, 'server', 'a');
    await Promise.resolve();
    expect(late.seen).toEqual(['added a ACTIVE']);
    expect(lists()).toHaveLength(1);
  });

  it('reports that a resource asked for by name does not exist', async () => {
    const { cloud, observer } = observedCloud();
    const { seen } = record(observer, 'server', 'nope');
    await settle(cloud);
    expect(seen).toEqual(['removed nope']);
  });

  it('asks only for changes once everything is known, and seldom when quiet', async () => {
    const { cloud, observer, set, lists } = observedCloud();
    set('a', 'ACTIVE');
    const { seen } = record(observer, 'server');
    await settle(cloud);
    await cloud.clock.advance(5 * 60_000);
    expect(lists().length).toBeLessThanOrEqual(7);
    expect(
      lists()
        .slice(1)
        .every((line) => line.includes('changes-since=')),
    ).toBe(true);
    expect(seen).toEqual(['added a ACTIVE']);
  });

  it('reports changes and deletions', async () => {
    const { cloud, observer, set, remove } = observedCloud();
    set('a', 'ACTIVE');
    set('b', 'ACTIVE');
    const { seen } = record(observer, 'server');
    await settle(cloud);
    await cloud.clock.advance(50_000);
    set('a', 'SHUTOFF');
    remove('b');
    await cloud.clock.advance(70_000);
    expect(seen.slice(2)).toEqual(['changed a SHUTOFF', 'removed b']);
    expect(observer.current('server', 'b')).toBeUndefined();
  });

  it('finds with the next complete list what left no trace', async () => {
    const { cloud, observer, set, remove } = observedCloud();
    set('a', 'ACTIVE');
    const { seen } = record(observer, 'server');
    await settle(cloud);
    remove('a', false);
    await cloud.clock.advance(120_000);
    expect(seen).toEqual(['added a ACTIVE']);
    await cloud.clock.advance(600_000);
    expect(seen).toEqual(['added a ACTIVE', 'removed a']);
  });

  it('does not believe a list that leaves out a server somebody waits for', async () => {
    const { cloud, observer, set } = observedCloud();
    set('a', 'ACTIVE');
    const { seen } = record(observer, 'server', 'a');
    await settle(cloud);
    cloud.on('GET /compute/v2.1/servers/detail', { json: { servers: [] } });
    await cloud.clock.advance(1_300_000);
    expect(seen).toEqual(['added a ACTIVE']);
    cloud.on('GET /compute/v2.1/servers/a', { status: 404, json: { itemNotFound: { message: 'gone' } } });
    await cloud.clock.advance(1_300_000);
    expect(seen).toEqual(['added a ACTIVE', 'removed a']);
  });

  it('polls often while something awaited is under way, and less often when nothing changes', async () => {
    const { cloud, observer, set, lists } = observedCloud();
    set('a', 'BUILD');
    const { seen } = record(observer, 'server', 'a');
    await settle(cloud);
    await cloud.clock.advance(60_000);
    const busy = lists().length;
    expect(busy).toBeGreaterThan(6);
    expect(busy).toBeLessThan(20);
    set('a', 'ACTIVE');
    await cloud.clock.advance(12_000);
    expect(seen).toEqual(['added a BUILD', 'changed a ACTIVE']);
    const before = lists().length;
    await cloud.clock.advance(120_000);
    expect(lists().length - before).toBeLessThanOrEqual(3);
  });

  it('does not hurry for changes nobody waits for', async () => {
    const { cloud, observer, set, lists } = observedCloud();
    set('stuck', 'BUILD');
    set('a', 'ACTIVE');
    record(observer, 'server', 'a');
    await settle(cloud);
    await cloud.clock.advance(120_000);
    expect(lists().length).toBeLessThanOrEqual(4);
  });

  it('polls closely watched resources soon and often until the watch ends', async () => {
    const { cloud, observer, set, lists } = observedCloud();
    record(observer, 'server');
    await settle(cloud);
    const release = observer.watchClosely('server', 'new');
    set('new', 'ACTIVE');
    await cloud.clock.advance(2_500);
    expect(observer.current('server', 'new')).toBeDefined();
    release();
    await cloud.clock.advance(10_000);
    const before = lists().length;
    await cloud.clock.advance(50_000);
    expect(lists().length - before).toBeLessThanOrEqual(1);
  });

  it('ends a close watch that was forgotten', async () => {
    const { cloud, observer, lists } = observedCloud({ intervals: { closeWatchMs: 60_000 } });
    observer.watchClosely('server', 'x');
    record(observer, 'server');
    await cloud.clock.advance(70_000);
    const before = lists().length;
    await cloud.clock.advance(300_000);
    expect(lists().length - before).toBeLessThanOrEqual(6);
  });

  it('stops when the last subscriber has left and starts over for the next', async () => {
    const { cloud, observer, set, lists } = observedCloud();
    set('a', 'ACTIVE');
    const first = record(observer, 'server');
    await settle(cloud);
    first.stop();
    expect(cloud.clock.untilNext()).toBeUndefined();
    await cloud.clock.advance(600_000);
    expect(lists()).toHaveLength(1);
    expect(observer.current('server', 'a')).toBeUndefined();
    const second = record(observer, 'server');
    await settle(cloud);
    expect(second.seen).toEqual(['added a ACTIVE']);
  });

  it('starts again for a subscriber who comes while the last poll is ending', async () => {
    const { cloud, observer, set } = observedCloud();
    set('a', 'ACTIVE');
    const first = record(observer, 'server');
    const looking = cloud.clock.advance(0);
    first.stop();
    const second = record(observer, 'server');
    await looking;
    await cloud.clock.advance(10);
    expect(second.seen).toEqual(['added a ACTIVE']);
    expect(first.seen).toEqual([]);
  });

  it('follows all pages and misses nothing', async () => {
    const { cloud, observer, set, lists } = observedCloud();
    for (let i = 0; i < 2500; i++) set(`s${i}`, 'ACTIVE');
    const { seen } = record(observer, 'server');
    await settle(cloud);
    expect(lists()).toHaveLength(6);
    expect(seen).toHaveLength(2500);
    await cloud.clock.advance(700_000);
    expect(seen).toHaveLength(2500);
  });

  it('continues after failures with growing pauses and reports its state', async () => {
    const { cloud, observer, balancers } = observedCloud();
    cloud.on('GET /load-balancer/v2.0/lbaas/loadbalancers', { status: 500, json: { faultstring: 'broken' } });
    const { seen } = record(observer, 'loadBalancer');
    await cloud.clock.advance(60_000);
    const tries = cloud.log.filter((line) => line.includes('lbaas')).length;
    expect(tries).toBeGreaterThan(2);
    expect(tries).toBeLessThan(8);
    expect(observer.health('loadBalancer')).toMatchObject({ synced: false, lastSuccess: undefined });
    expect(observer.health('loadBalancer').error?.message).toContain('broken');
    balancers.set('lb', { id: 'lb', name: 'lb', provisioning_status: 'ACTIVE' });
    cloud.on('GET /load-balancer/v2.0/lbaas/loadbalancers', () => ({
      json: { loadbalancers: [...balancers.values()] },
    }));
    await cloud.clock.advance(300_000);
    expect(seen).toHaveLength(1);
    expect(observer.health('loadBalancer')).toMatchObject({ synced: true, error: undefined });
  });

  it('waits after a failure as long as the cloud asks', async () => {
    const { cloud, observer } = observedCloud();
    cloud.on('GET /load-balancer/v2.0/lbaas/loadbalancers', {
      status: 503,
      headers: { 'retry-after': '200' },
      json: {},
    });
    record(observer, 'loadBalancer');
    await cloud.clock.advance(170_000);
    expect(cloud.log.filter((line) => line.includes('lbaas'))).toHaveLength(1);
  });

  it('asks neutron only for the ports somebody waits for', async () => {
    const { cloud, observer, ports } = observedCloud();
    const port = (id: string, status: string) => ports.set(id, { id, name: id, status });
    port('a', 'DOWN');
    port('b', 'ACTIVE');
    const { seen } = record(observer, 'port', 'a');
    await settle(cloud);
    const release = observer.watchClosely('port', 'a');
    port('a', 'ACTIVE');
    await cloud.clock.advance(2_500);
    expect(cloud.log.at(-1)).toBe('GET /network/v2.0/ports?id=a&limit=500');
    ports.delete('a');
    await cloud.clock.advance(5_000);
    expect(seen).toEqual(['added a DOWN', 'changed a ACTIVE', 'removed a']);
    release();
  });

  it('reports since when it knows a resource: a poll of some says nothing about the others', async () => {
    const { cloud, observer, ports } = observedCloud();
    for (const id of ['a', 'b']) ports.set(id, { id, name: id, status: 'ACTIVE' });
    expect(observer.asOf('port', 'a')).toBeUndefined();
    record(observer, 'port', 'a');
    record(observer, 'port', 'b');
    await settle(cloud);
    const complete = observer.asOf('port', 'b')!;
    expect(observer.asOf('port', 'a')).toBe(complete);
    const release = observer.watchClosely('port', 'a');
    await cloud.clock.advance(2_500);
    expect(observer.asOf('port', 'a')).toBeGreaterThan(complete);
    expect(observer.asOf('port', 'b')).toBe(complete);
    release();
  });

  it('reports a noted change that was undone before anybody saw it', async () => {
    const { cloud, observer, ports } = observedCloud();
    const free = { id: 'a', name: 'a', status: 'DOWN' };
    ports.set('a', free);
    const { seen } = record(observer, 'port', 'a');
    await settle(cloud);
    observer.note('port', { ...observer.current('port', 'a')!, status: 'ACTIVE' });
    // Three polls: our change, the state before it again, and the same state without any change by us.
    for (const status of ['ACTIVE', 'DOWN', 'DOWN']) {
      ports.set('a', { ...free, status });
      await cloud.clock.advance(1_000);
      await refreshed(cloud, observer, 'port');
    }
    expect(seen).toEqual(['added a DOWN', 'changed a ACTIVE', 'changed a DOWN']);
    observer.note('port', { ...observer.current('port', 'a')!, status: 'ACTIVE' });
    await cloud.clock.advance(1_000);
    await refreshed(cloud, observer, 'port');
    await refreshed(cloud, observer, 'port');
    expect(seen.slice(3)).toEqual(['changed a DOWN']);
  });

  it('polls when told to and says when it is done', async () => {
    const { cloud, observer, set } = observedCloud();
    record(observer, 'server');
    await settle(cloud);
    set('a', 'ACTIVE');
    await refreshed(cloud, observer, 'server');
    expect(observer.current('server', 'a')).toBeDefined();
  });

  it('is not disturbed by a listener that throws', async () => {
    const { cloud, observer, set } = observedCloud();
    set('a', 'ACTIVE');
    observer.subscribe('server', () => {
      throw new Error('my fault');
    });
    const { seen } = record(observer, 'server');
    await settle(cloud);
    expect(seen).toEqual(['added a ACTIVE']);
  });

  it('narrows lists by the given filters', async () => {
    const { cloud, observer } = observedCloud({ filters: { server: { 'tags-any': 'mine' } } });
    record(observer, 'server');
    await settle(cloud);
    expect(cloud.log.at(-1)).toContain('tags-any=mine');
  });
});

describe('an observer pool', () => {
  it('shares one observer among all who look at the same with the same credential', async () => {
    const cloud = fakeCloud();
    cloud.on('GET /load-balancer/v2.0/lbaas/loadbalancers', { json: { loadbalancers: [] } });
    const sessions = createSessionPool({ transport: cloud.transport, clock: cloud.clock });
    const pool = createObserverPool();
    const observer = (change: Partial<CloudConfig>) => pool.observer(sessions.connect(fakeConfig(change)));
    const first = observer({ source: 'Secret a/x' });
    expect(observer({ source: 'Secret b/y' })).toBe(first);
    expect(observer({ credential: { method: 'token', token: 't' } })).not.toBe(first);
    expect(observer({ region: 'RegionOne' })).not.toBe(first);
    first.subscribe('loadBalancer', () => {});
    await cloud.clock.advance(1);
    expect(cloud.log.filter((line) => line.includes('lbaas'))).toHaveLength(1);
    pool.close();
    expect(cloud.clock.untilNext()).toBeUndefined();
  });

  it('forgets unused observers when there are many', () => {
    const sessions = createSessionPool({ transport: fakeCloud().transport });
    const pool = createObserverPool({ maxIdle: 1 });
    const of = (token: string) =>
      pool.observer(sessions.connect(fakeConfig({ credential: { method: 'token', token } })));
    const first = of('1');
    of('2');
    expect(of('1')).not.toBe(first);
  });
});

describe('resources that hardly ever change', () => {
  const observe = (names: string[]) => {
    const cloud = fakeCloud();
    const networks = new Map(names.map((id) => [id, { id, name: id, project_id: 'p' }]));
    cloud.on('GET /network/v2.0/networks', () => ({ json: { networks: [...networks.values()] } }));
    const lists = () => cloud.log.filter((line) => line.startsWith('GET /network/v2.0/networks?'));
    return { cloud, networks, lists, observer: createObserver(cloud.connect(), { random: seededRandom(3) }) };
  };

  it('are polled seldom, and their loss is reported', async () => {
    const { cloud, networks, lists, observer } = observe(['a', 'b']);
    const changes: string[] = [];
    observer.subscribe('network', ({ change, id }) => changes.push(`${change} ${id}`));
    await settle(cloud);
    networks.delete('b');
    await cloud.clock.advance(3_600_000);
    expect(changes).toEqual(['added a', 'added b', 'removed b']);
    expect(lists().length).toBeLessThanOrEqual(34);
  });

  it('are requested one by one when another project owns them, because lists leave them out', async () => {
    const { cloud, observer } = observe([]);
    cloud.on('GET /network/v2.0/networks/shared', { json: { network: { id: 'shared', name: 's' } } });
    const changes: string[] = [];
    observer.subscribe('network', ({ change, id }) => changes.push(`${change} ${id}`), { id: 'shared' });
    await cloud.clock.advance(1_500_000);
    expect(changes).toEqual(['added shared']);
  });
});

describe('the pace of requests', () => {
  it('spreads booked requests evenly', () => {
    const pace = createPace(2);
    expect([pace.book(0, 4), pace.book(0, 2), pace.book(1000, 1), pace.book(60_000, 1)]).toEqual([0, 2000, 2000, 0]);
  });
});
