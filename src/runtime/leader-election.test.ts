import { describe, expect, it } from 'vitest';
import { type MemoryClient, memoryClient } from '../client/index.ts';
import { ManualClock, seededRandom } from '../machinery/index.ts';
import { runWithLease } from './leader-election.ts';
import { type Lease, Leases } from './lease.ts';
import { type LogFields, nullLogger } from './log.ts';
import { runUntil, settle } from './testkit/eventually.ts';
import { type FaultRule, faultyClient } from './testkit/faulty-client.ts';

const key = { namespace: 'kube-system', name: 'capstan' };

interface Candidate {
  leads: boolean;
  outcome: Promise<'stopped' | 'lost'>;
  rules: FaultRule[];
  leaders: string[];
  stop(): void;
}

function candidate(
  server: MemoryClient,
  identity: string,
  options: { lingerMs?: number; seed?: number } = {},
): Candidate {
  const clock = server.clock;
  const rules: FaultRule[] = [];
  const stop = new AbortController();
  const state: Candidate = {
    leads: false,
    rules,
    leaders: [],
    stop: () => stop.abort(),
    outcome: Promise.resolve('stopped'),
  };
  state.outcome = runWithLease(
    {
      client: faultyClient(server, rules),
      clock,
      random: seededRandom(options.seed ?? identity.charCodeAt(0)),
      log: nullLogger,
      ...key,
      identity,
      onNewLeader: (leader) => state.leaders.push(leader),
    },
    async (signal) => {
      state.leads = true;
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      if (options.lingerMs !== undefined) await new Promise<void>((resolve) => clock.after(options.lingerMs!, resolve));
      state.leads = false;
    },
    stop.signal,
  );
  return state;
}

function setUp() {
  const clock = new ManualClock();
  const server = memoryClient({ clock });
  const spec = async (): Promise<Lease['spec']> => (await server.get(Leases, key)).spec;
  return { clock, server, spec };
}

describe('leader election', () => {
  it('writes the lease as client-go does and renews it every two seconds', async () => {
    const { clock, server, spec } = setUp();
    const a = candidate(server, 'a');
    await settle();
    expect(a.leads).toBe(true);
    expect(await spec()).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    });
    await clock.advance(4000);
    expect(await spec()).toMatchObject({
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:04.000000Z',
    });
    const reads = server.requests.filter(({ verb }) => verb === 'get').length;
    await clock.advance(20_000);
    // A holder renews with a single request; the test itself made the two reads.
    expect(server.requests.filter(({ verb }) => verb === 'get').length - reads).toBe(0);
    a.stop();
    expect(await a.outcome).toBe('stopped');
  });

  it('takes over the moment the lease of a dead leader ends, not an attempt later', async () => {
    const { clock, server } = setUp();
    // A process that wrote the lease once and is gone.
    await server.create(
      Leases,
      {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { ...key },
        spec: { holderIdentity: 'gone', leaseDurationSeconds: 15 },
      },
      { fieldManager: 'test' },
    );
    const candidates = [1, 2, 3, 4, 5].map((seed) => candidate(server, `b${seed}`, { seed }));
    await settle();
    await clock.advance(14_900);
    expect(candidates.filter(({ leads }) => leads)).toHaveLength(0);
    await clock.advance(300);
    await settle();
    expect(candidates.filter(({ leads }) => leads)).toHaveLength(1);
    for (const one of candidates) one.stop();
    expect(new Set(await Promise.all(candidates.map(({ outcome }) => outcome)))).toEqual(new Set(['stopped']));
  });

  it('takes over one lease duration after the last renewal of a killed leader, whenever that was', async () => {
    for (const killedAfterMs of [20_000, 20_700, 21_400, 22_900]) {
      const { clock, server, spec } = setUp();
      const a = candidate(server, 'a');
      await settle();
      const b = candidate(server, 'b');
      await clock.advance(killedAfterMs);
      a.rules.push({ error: () => new Error('killed') });
      const renewedAt = Date.parse((await spec())?.renewTime ?? '');
      await runUntil(clock, () => b.leads, { limitMs: 60_000 });
      expect(clock.now() - renewedAt).toBeLessThanOrEqual(15_200);
      b.stop();
      await Promise.all([a.outcome, b.outcome]);
    }
  });

  it('takes a released lease at once, and does not poll for it', async () => {
    const { clock, server } = setUp();
    const a = candidate(server, 'a');
    await settle();
    const b = candidate(server, 'b');
    await clock.advance(10_000);
    const reads = server.requests.filter(({ verb }) => verb === 'get').length;
    await clock.advance(50_000);
    expect(server.requests.filter(({ verb }) => verb === 'get').length - reads).toBe(0);
    a.stop();
    expect(await a.outcome).toBe('stopped');
    await settle();
    expect(b.leads).toBe(true);
    b.stop();
    await b.outcome;
  });

  it('asks for the lease from time to time where it cannot be watched', async () => {
    const { clock, server } = setUp();
    const a = candidate(server, 'a');
    await settle();
    const b = candidate(server, 'b');
    b.rules.push({ verb: 'watch', error: () => new Error('watches are cut') });
    b.rules.push({ verb: 'list', error: () => new Error('lists are refused') });
    await clock.advance(10_000);
    a.stop();
    await a.outcome;
    await runUntil(clock, () => b.leads, { limitMs: 8000 });
    b.stop();
    await b.outcome;
  });

  it('releases the lease on stop after the work has ended, so that the next leader need not wait', async () => {
    const { clock, server, spec } = setUp();
    const a = candidate(server, 'a', { lingerMs: 20_000 });
    await settle();
    const b = candidate(server, 'b');
    await settle();
    a.stop();
    await clock.advance(19_000);
    expect([a.leads, b.leads]).toEqual([true, false]);
    await runUntil(clock, () => b.leads, { limitMs: 8000 });
    expect(await a.outcome).toBe('stopped');
    expect(await spec()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
    expect(b.leaders).toEqual(['a', 'b']);
    b.stop();
    await b.outcome;
    expect(await spec()).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 1 });
  });

  it('takes over from a vanished leader, but not before its lease has expired', async () => {
    const { clock, server, spec } = setUp();
    const a = candidate(server, 'a');
    await settle();
    const b = candidate(server, 'b');
    await settle();
    a.rules.push({ error: () => new Error('network is down') });
    const cutOff = clock.now();
    await runUntil(clock, () => b.leads, { limitMs: 60_000 });
    expect(clock.now() - cutOff).toBeGreaterThanOrEqual(13_000);
    // The old leader has already stopped by itself: there are never two leaders.
    expect(a.leads).toBe(false);
    expect(await a.outcome).toBe('lost');
    expect(await spec()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
    b.stop();
    await b.outcome;
  });

  it('judges by its own clock from when it saw the lease change, not by the times written in it', async () => {
    const { clock, server } = setUp();
    server.seed(Leases, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: key,
      spec: {
        holderIdentity: 'x',
        leaseDurationSeconds: 15,
        renewTime: '1999-01-01T00:00:00.000000Z',
        leaseTransitions: 4,
      },
    });
    const a = candidate(server, 'a');
    await settle();
    await clock.advance(14_000);
    expect(a.leads).toBe(false);
    await runUntil(clock, () => a.leads, { limitMs: 10_000 });
    a.stop();
    await a.outcome;
  });

  it('survives failures shorter than the renew deadline', async () => {
    const { clock, server } = setUp();
    const a = candidate(server, 'a');
    await settle();
    a.rules.push({ error: () => new Error('blip') });
    await clock.advance(8000);
    a.rules.length = 0;
    await clock.advance(60_000);
    expect(a.leads).toBe(true);
    a.stop();
    expect(await a.outcome).toBe('stopped');
  });

  it('reports why the lease cannot be taken, at once and then once a minute', async () => {
    const { clock, server } = setUp();
    const told: unknown[] = [];
    const log = { ...nullLogger, warn: (message: string, fields?: LogFields) => void told.push([message, fields]) };
    const stop = new AbortController();
    const refused = new Error('leases is forbidden');
    const client = faultyClient(server, [{ verb: 'get', resource: 'Lease', error: () => refused }]);
    const outcome = runWithLease(
      { client, clock, random: seededRandom(1), log, ...key, identity: 'a' },
      () => new Promise(() => {}),
      stop.signal,
    );
    await settle();
    expect(told).toEqual([['The leader lease could not be taken', { lease: 'kube-system/capstan', error: refused }]]);
    await clock.advance(59_000);
    expect(told).toHaveLength(1);
    await clock.advance(10_000);
    expect(told).toHaveLength(2);
    stop.abort();
    expect(await outcome).toBe('stopped');
  });

  it('never has two leaders, whatever fails at whatever time', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const { clock, server } = setUp();
      const random = seededRandom(seed);
      const all = ['a', 'b', 'c'].map((identity, index) => candidate(server, identity, { seed: seed * 10 + index }));
      for (let step = 0; step < 60; step++) {
        const one = all[Math.floor(random.next() * all.length)]!;
        if (one.rules.length > 0) one.rules.length = 0;
        else
          one.rules.push({
            probability: 1,
            when: random.next() < 0.5 ? 'before' : 'after',
            error: () => new Error('fault'),
          });
        for (const { rules } of all) for (const rule of rules) delete (rule as { probability?: number }).probability;
        await clock.advance(1000 + random.next() * 5000);
        expect(all.filter(({ leads }) => leads).length).toBeLessThanOrEqual(1);
      }
      for (const one of all) {
        one.rules.length = 0;
        one.stop();
      }
      await Promise.all(all.map(({ outcome }) => outcome));
    }
  });
});
