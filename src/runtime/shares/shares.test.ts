import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type MemoryClient, memoryClient } from '../../client/index.ts';
import { ManualClock, type Random, seededRandom, sleep } from '../../machinery/index.ts';
import { type Lease, Leases } from '../lease.ts';
import { nullLogger } from '../log.ts';
import { runUntil } from '../testkit/eventually.ts';
import { type FaultRule, faultyClient } from '../testkit/faulty-client.ts';
import { simulatedProcess } from '../testkit/simulated-process.ts';
import { createFence, type Fence } from './fence.ts';
import { ownerOf } from './rendezvous.ts';
import { createShares, type Shares } from './shares.ts';

const leaseDurationMs = 4000;
const shareNames = Array.from({ length: 6 }, (_, index) => `team/cluster-${index}`);

/** One request sent on behalf of a share. */
interface Sent {
  share: string;
  /** one unit of work: it reads, decides, and sends several requests */
  session: string;
}

interface Member {
  readonly id: string;
  readonly rules: FaultRule[];
  shares: Shares;
  outcome: Promise<void>;
  outcomes: string[];
  pause(): void;
  resume(): void;
  stop(): void;
}

interface World {
  clock: ManualClock;
  server: MemoryClient;
  random: Random;
  sent: Sent[];
  add(id: string): Member;
}

function world(seed: number, latencyMs = 40): World {
  const clock = new ManualClock();
  const server = memoryClient({ clock });
  const random = seededRandom(seed);
  const sent: Sent[] = [];
  let sessions = 0;

  const add = (id: string): Member => {
    const process = simulatedProcess(clock, server, () => random.next() * latencyMs);
    const rules: FaultRule[] = [];
    const stop = new AbortController();
    const outcomes: string[] = [];

    /** Works on one share after another. A session continues after any pause as if nothing had happened. */
    const work =
      (shares: Shares, fence: Fence) =>
      async (signal: AbortSignal): Promise<void> => {
        const worker = async (): Promise<void> => {
          while (!signal.aborted) {
            await sleep(process.clock, random.next() * 300, signal).catch(() => {});
            const share = shareNames[Math.floor(random.next() * shareNames.length)] ?? '';
            if (signal.aborted || !shares.mayWork(share)) continue;
            const end = shares.begin(share, () => {});
            const session = `${id} ${sessions++}`;
            try {
              for (let calls = 1 + Math.floor(random.next() * 4); calls > 0; calls--) {
                fence.check();
                sent.push({ share, session });
                await sleep(process.clock, random.next() * 400);
              }
            } catch {
              // The fence is closed: nothing was sent.
            } finally {
              end();
            }
          }
        };
        await Promise.all([worker(), worker()]);
      };

    const begin = (): { shares: Shares; run(): Promise<'stopped' | 'lost'> } => {
      const fence = createFence(process.clock, leaseDurationMs * 0.75);
      const shares = createShares({
        client: faultyClient(process.client, rules, random),
        clock: process.clock,
        random,
        log: nullLogger,
        fence,
        namespace: 'capstan-system',
        name: 'capstan-share',
        leaderLease: 'leader',
        identity: id,
        leaseDurationMs,
      });
      return { shares, run: () => shares.run(work(shares, fence), stop.signal) };
    };

    let current = begin();
    const member: Member = {
      id,
      rules,
      shares: current.shares,
      outcomes,
      outcome: Promise.resolve(),
      pause: () => process.pause(),
      resume: () => process.resume(),
      stop: () => stop.abort(),
    };
    member.outcome = (async () => {
      while (!stop.signal.aborted) {
        outcomes.push(await current.run());
        if (stop.signal.aborted) break;
        current = begin();
        member.shares = current.shares;
      }
    })();
    return member;
  };
  return { clock, server, random, sent, add };
}

/** Requests of two members for one share must not interleave. */
function expectOneOwnerAtATime(sent: readonly Sent[]): void {
  for (const share of shareNames) {
    const ended = new Set<string>();
    const processes: string[] = [];
    let last: string | undefined;
    for (const { session } of sent.filter((one) => one.share === share)) {
      const process = session.split(' ')[0] ?? '';
      if (process !== last && last !== undefined) for (const before of processes.splice(0)) ended.add(before);
      if (ended.has(session)) throw new Error(`${session} continued with ${share} after another had begun`);
      processes.push(session);
      last = process;
    }
  }
}

const workingOn = (members: readonly Member[], share: string): string[] =>
  members.filter(({ shares }) => shares.mayWork(share)).map(({ id }) => id);

/** Each share is handled only by its owner by hash. */
const areSettled = (members: readonly Member[]): boolean => {
  const ids = members.map(({ id }) => id);
  return shareNames.every((share) => {
    const owners = workingOn(members, share);
    return owners.length === 1 && owners[0] === ownerOf(share, ids);
  });
};

describe('processes that share the work', () => {
  it('divide it among themselves and hand it over when processes come and go', async () => {
    const { clock, server, add, sent } = world(1);
    const a = add('a');
    await runUntil(clock, () => areSettled([a]), { limitMs: 5000 });
    const b = add('b');
    await runUntil(clock, () => areSettled([a, b]), { limitMs: 10_000 });
    const c = add('c');
    await runUntil(clock, () => areSettled([a, b, c]), { limitMs: 10_000 });
    b.stop();
    await runUntil(clock, () => areSettled([a, c]), { limitMs: 5000 });
    const { items } = await server.list(Leases, { namespace: 'capstan-system' });
    expect(items.map((lease: Lease) => lease.spec?.holderIdentity).toSorted()).toEqual(['a', 'c']);
    expect(items[0]?.metadata.annotations?.['shares.capstan.dev/members']).toBe('a,c');
    expect(a.outcomes).toEqual([]);
    expectOneOwnerAtATime(sent);
    a.stop();
    c.stop();
    await runUntil(clock, () => a.outcomes.length + c.outcomes.length === 2);
    expect((await server.list(Leases, { namespace: 'capstan-system' })).items).toEqual([]);
  });

  it('take over the shares of a dead one as soon as its lease ends', async () => {
    const { clock, add } = world(2, 5);
    const [a, b] = [add('a'), add('b')];
    await runUntil(clock, () => areSettled([a, b]), { limitMs: 20_000 });
    b.pause();
    const since = clock.now();
    await runUntil(clock, () => areSettled([a]), { limitMs: 10_000 });
    expect(clock.now() - since).toBeLessThanOrEqual(leaseDurationMs + 200);
    a.stop();
  });

  it('send nothing for shares they lost while paused, and start over', async () => {
    const { clock, add, sent } = world(3);
    const [a, b] = [add('a'), add('b')];
    await runUntil(clock, () => areSettled([a, b]), { limitMs: 20_000 });
    b.pause();
    await clock.advance(60_000);
    const before = sent.length;
    b.resume();
    await clock.advance(0);
    expect(sent.slice(before).filter(({ session }) => session.startsWith('b '))).toEqual([]);
    await runUntil(clock, () => b.outcomes.length > 0, { limitMs: 10_000 });
    expect(b.outcomes).toEqual(['lost']);
    await runUntil(clock, () => areSettled([a, b]), { limitMs: 20_000 });
    expectOneOwnerAtATime(sent);
    a.stop();
    b.stop();
  });

  it('wait for a leader who works alone', async () => {
    const { clock, server, add } = world(4);
    const spec = { holderIdentity: 'alone', leaseDurationSeconds: 4, renewTime: '2026-01-01T00:00:00.000000Z' };
    const metadata = { namespace: 'capstan-system', name: 'leader' };
    let lease: Lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
    lease = await server.create(Leases, lease, { fieldManager: 'test' });
    const a = add('a');
    for (let second = 10; second < 30; second++) {
      const renewTime = `2026-01-01T00:00:${second}.000000Z`;
      lease = await server.update(Leases, { ...lease, spec: { ...spec, renewTime } }, { fieldManager: 'test' });
      await clock.advance(1000);
      expect(shareNames.some((share) => a.shares.mayWork(share))).toBe(false);
    }
    await runUntil(clock, () => areSettled([a]), { limitMs: 6000 });
    a.stop();
  });

  it('never work on the same share at the same time, whatever happens when', async () => {
    const happening = fc.record({
      what: fc.constantFrom('pause', 'resume', 'join', 'leave', 'lose answers', 'lose requests', 'answer'),
      who: fc.nat(3),
      afterMs: fc.integer({ min: 0, max: 9000 }),
    });
    const latency = fc.constantFrom(5, 50, 300);
    await fc.assert(
      fc.asyncProperty(fc.integer(), latency, fc.array(happening, { maxLength: 14 }), async (seed, ms, happenings) => {
        const { clock, add, sent } = world(seed, ms);
        const members: Member[] = [add('m0'), add('m1')];
        const left = new Set<Member>();
        for (const { what, who, afterMs } of happenings) {
          await clock.advance(afterMs);
          const member = members[who % members.length];
          if (!member) continue;
          if (what === 'join' && members.length < 4) members.push(add(`m${members.length}`));
          if (what === 'pause') member.pause();
          if (what === 'resume') member.resume();
          if (what === 'leave') {
            member.stop();
            left.add(member);
          }
          if (what === 'lose answers' || what === 'lose requests') {
            const when = what === 'lose answers' ? 'after' : 'before';
            member.rules.push({ probability: 0.6, when, error: () => new Error('lost') });
          }
          if (what === 'answer') member.rules.length = 0;
        }
        for (const member of members) {
          member.rules.length = 0;
          member.resume();
        }
        const here = members.filter((member) => !left.has(member));
        if (here.length > 0) await runUntil(clock, () => areSettled(here), { limitMs: 60_000 });
        expectOneOwnerAtATime(sent);
        for (const member of here) member.stop();
      }),
      { numRuns: 100 },
    );
  }, 120_000);
});
