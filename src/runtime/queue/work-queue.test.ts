import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock, seededRandom } from '../../machinery/index.ts';
import { settle } from '../testkit/eventually.ts';
import { createIdleGate } from './idle-gate.ts';
import { createWorkQueue, type QueueMetrics, type WorkQueue } from './work-queue.ts';

function setUp(options: { groupOf?: (key: string) => string; metrics?: QueueMetrics; idleRestMs?: number } = {}) {
  const clock = new ManualClock(0);
  return { clock, queue: createWorkQueue({ clock, random: seededRandom(7), ...options }) };
}

/** Two queues that share one idle gate. */
function setUpTwo() {
  const clock = new ManualClock(0);
  const idleGate = createIdleGate(clock);
  const make = (): WorkQueue => createWorkQueue({ clock, random: seededRandom(7), idleGate });
  return { clock, idleGate, busy: make(), idle: make() };
}

/** Takes every key at once without processing it. */
function worker(queue: WorkQueue): string[] {
  const taken: string[] = [];
  const work = async (): Promise<void> => {
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
      taken.push(key);
      queue.done(key);
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  };
  void work();
  return taken;
}

async function takeAll(queue: WorkQueue): Promise<string[]> {
  const keys: string[] = [];
  while (queue.depth > 0) {
    const key = (await queue.take())!;
    keys.push(key);
    queue.done(key);
  }
  return keys;
}

describe('the work queue', () => {
  it('hands out a key once, however often it was added', async () => {
    const { queue } = setUp();
    queue.add('a');
    queue.add('a');
    queue.add('b');
    expect(await takeAll(queue)).toEqual(['a', 'b']);
  });

  it('hands out a key again after its work ended when it was added meanwhile', async () => {
    const { queue } = setUp();
    queue.add('a');
    expect(await queue.take()).toBe('a');
    queue.add('a');
    expect(queue.depth).toBe(0);
    queue.done('a');
    expect(await takeAll(queue)).toEqual(['a']);
  });

  it('gives a key to a waiting worker the moment it is added', async () => {
    const { queue } = setUp();
    const taken = queue.take();
    queue.add('a');
    expect(await taken).toBe('a');
  });

  it('hands out user requests before routine checks', async () => {
    const { queue } = setUp();
    for (const key of ['r1', 'r2', 'r3']) queue.add(key, 'low');
    queue.add('u1');
    queue.add('r3', 'high');
    expect(await takeAll(queue)).toEqual(['u1', 'r3', 'r1', 'r2']);
  });

  it('never starves the low lane', async () => {
    const { queue } = setUp();
    queue.add('low', 'low');
    let turns = 0;
    for (;;) {
      queue.add(`high-${turns}`);
      const key = (await queue.take())!;
      queue.done(key);
      turns++;
      if (key === 'low') break;
      expect(turns).toBeLessThan(50);
    }
  });

  it('lets groups take turns', async () => {
    const { queue } = setUp({ groupOf: (key) => key[0]! });
    for (const key of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'c2']) queue.add(key);
    expect(await takeAll(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3', 'a4']);
  });

  describe('with idle work', () => {
    it('hands out idle work when nothing else is to be done anywhere', async () => {
      const { busy, idle } = setUpTwo();
      busy.add('b1');
      const b1 = (await busy.take())!;
      busy.add('b2');
      const taken = worker(idle);
      idle.add('i1', 'idle');
      idle.add('i2', 'idle');
      await settle();
      expect(taken).toEqual([]);
      busy.done(b1);
      await settle();
      // b2 is ready but not taken.
      expect(taken).toEqual([]);
      busy.done((await busy.take())!);
      await settle();
      expect(taken).toEqual(['i1', 'i2']);
    });

    it('hands out idle work at once where others are idle, and once however often it was added', async () => {
      const { idle, clock } = setUpTwo();
      const taken = worker(idle);
      for (let i = 0; i < 5; i++) idle.add('i1', 'idle');
      await settle();
      expect(taken).toEqual(['i1']);
      expect(clock.now()).toBe(0);
    });

    it('lets a key rest between two idle runs and combines what came meanwhile into one', async () => {
      const { clock, queue } = setUp({ idleRestMs: 1000 });
      const taken = worker(queue);
      queue.add('i', 'idle');
      await settle();
      expect(taken).toEqual(['i']);
      for (let i = 0; i < 4; i++) {
        await clock.advance(200);
        queue.add('i', 'idle');
        queue.add('other', 'idle');
        await settle();
      }
      expect(taken).toEqual(['i', 'other']);
      await clock.advance(200);
      await settle();
      expect(taken).toEqual(['i', 'other', 'i']);
      await clock.advance(5000);
      await settle();
      expect(taken).toEqual(['i', 'other', 'i', 'other']);
      queue.add('i', 'idle');
      await settle();
      expect(taken.slice(4)).toEqual(['i']);
    });

    it('does not let an urgent key rest and answers the pending idle request with it', async () => {
      const { clock, queue } = setUp({ idleRestMs: 1000 });
      const taken = worker(queue);
      queue.add('i', 'idle');
      await settle();
      queue.add('i', 'idle');
      queue.add('i', 'high');
      await settle();
      expect(taken).toEqual(['i', 'i']);
      await clock.advance(5000);
      await settle();
      expect(taken).toEqual(['i', 'i']);
    });

    it('lets a key rest after a run during which it was added again', async () => {
      const { clock, queue } = setUp({ idleRestMs: 1000 });
      queue.add('i', 'idle');
      expect(await queue.take()).toBe('i');
      queue.add('i', 'idle');
      queue.done('i');
      expect(queue.depth).toBe(0);
      await clock.advance(1000);
      expect(await takeAll(queue)).toEqual(['i']);
    });

    it('hands out idle work at once when it turns urgent', async () => {
      const { busy, idle } = setUpTwo();
      busy.add('b');
      await busy.take();
      const taken = worker(idle);
      idle.add('i1', 'idle');
      idle.add('i2', 'idle');
      idle.add('i2', 'high');
      await settle();
      expect(taken).toEqual(['i2']);
    });

    it('gives idle work one turn in a few, however much else there is', async () => {
      const { busy, idle } = setUpTwo();
      const taken = worker(idle);
      idle.add('i', 'idle');
      let turns = 0;
      for (; taken.length === 0 && turns < 100; turns++) {
        busy.add(`b${turns}`);
        busy.add(`c${turns}`);
        busy.done((await busy.take())!);
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
      expect(turns).toBeGreaterThan(10);
      expect(turns).toBeLessThan(30);
    });

    it('keeps timed requests of a key that waits as idle work', async () => {
      const { busy, idle, clock } = setUpTwo();
      busy.add('stuck');
      busy.add('behind it');
      await busy.take();
      const taken = worker(idle);
      idle.addAfter('i', 100);
      idle.add('i', 'idle');
      await clock.advance(99);
      await settle();
      expect(taken).toEqual([]);
      await clock.advance(1);
      await settle();
      expect(taken).toEqual(['i']);
      await clock.advance(10_000);
      await settle();
      expect(taken).toEqual(['i']);
    });

    it('does not let idle work wait for work that only waits itself', async () => {
      const { busy, idle, clock } = setUpTwo();
      busy.add('stuck');
      busy.add('behind it');
      await busy.take();
      const taken = worker(idle);
      idle.add('i1', 'idle');
      await clock.advance(499);
      await settle();
      expect(taken).toEqual([]);
      await clock.advance(1);
      idle.add('i2', 'idle');
      await settle();
      expect(taken).toEqual(['i1', 'i2']);
    });

    it('does not let waiting idle work keep out all other idle work', async () => {
      const { idle, clock } = setUpTwo();
      const taken: (string | undefined)[] = [];
      for (let i = 0; i < 7; i++) {
        idle.add(`stuck${i}`, 'idle');
        void idle.take().then((key) => taken.push(key));
      }
      await settle();
      expect(taken).toHaveLength(4);
      await clock.advance(500);
      await settle();
      expect(taken).toHaveLength(5);
      await clock.advance(500);
      await settle();
      expect(taken).toHaveLength(6);
      await clock.advance(500);
      await settle();
      expect(taken).toHaveLength(7);
      await clock.advance(5_000);
      await settle();
      expect(clock.untilNext()).toBeUndefined();
    });

    it('needs no timer once it is closed', async () => {
      const { busy, idle, idleGate, clock } = setUpTwo();
      busy.add('b');
      await busy.take();
      idle.add('i', 'idle');
      expect(clock.untilNext()).toBeDefined();
      idleGate.close();
      expect(clock.untilNext()).toBeUndefined();
    });
  });

  it('delays a key as long as asked, and by the earliest of several requests', async () => {
    const { queue, clock } = setUp();
    queue.addAfter('a', 1000);
    queue.addAfter('a', 300);
    queue.addAfter('a', 5000);
    queue.addAfter('b', 100);
    await clock.advance(100);
    expect(await takeAll(queue)).toEqual(['b']);
    await clock.advance(199);
    expect(queue.depth).toBe(0);
    await clock.advance(1);
    expect(await takeAll(queue)).toEqual(['a']);
    await clock.advance(10_000);
    expect(queue.depth).toBe(0);
    expect(clock.untilNext()).toBeUndefined();
  });

  it('drops a delayed request when the key is wanted now, since the work done now decides', async () => {
    const { queue, clock } = setUp();
    queue.addAfter('a', 1000);
    queue.add('a');
    expect(await takeAll(queue)).toEqual(['a']);
    await clock.advance(2000);
    expect(queue.depth).toBe(0);
  });

  it('doubles the pause after each failure, from milliseconds to a quarter of an hour, never two alike', () => {
    const { queue } = setUp();
    const pauses = Array.from({ length: 25 }, () => queue.addRateLimited('a'));
    pauses.forEach((pause, index) => {
      const base = Math.min(1_000_000, 5 * 2 ** index);
      expect(pause).toBeGreaterThanOrEqual(base * 0.75);
      expect(pause).toBeLessThanOrEqual(base);
    });
    expect(new Set(pauses).size).toBe(pauses.length);
    queue.forget('a');
    expect(queue.addRateLimited('a')).toBeLessThanOrEqual(5);
  });

  it('hands out nothing after it is shut down and says when the last work has ended', async () => {
    const { queue } = setUp();
    queue.add('a');
    await queue.take();
    const waiting = queue.take();
    let idle = false;
    const idling = queue.idle().then(() => {
      idle = true;
    });
    queue.shutDown();
    queue.add('b');
    expect(await waiting).toBeUndefined();
    expect(await queue.take()).toBeUndefined();
    expect(idle).toBe(false);
    queue.done('a');
    await idling;
    expect(idle).toBe(true);
  });

  it('reports how long keys waited and how long work takes', async () => {
    const seen: Record<string, number[]> = { waited: [], worked: [], depth: [] };
    let adds = 0;
    const { queue, clock } = setUp({
      metrics: {
        add: () => adds++,
        retry: () => {},
        depth: (value) => seen['depth']!.push(value),
        queueDuration: (seconds) => seen['waited']!.push(seconds),
        workDuration: (seconds) => seen['worked']!.push(seconds),
      },
    });
    queue.add('a');
    queue.add('a');
    await clock.advance(2000);
    await queue.take();
    await clock.advance(3000);
    expect(queue.running()).toEqual({ unfinishedSeconds: 3, longestSeconds: 3 });
    queue.done('a');
    expect(seen).toEqual({ waited: [2], worked: [3], depth: [1, 0] });
    expect(adds).toBe(1);
  });

  it('never gives one key to two workers and never loses a key, in whatever order', async () => {
    const keys = fc.constantFrom('a', 'b', 'c', 'd');
    const lane = fc.constantFrom('high' as const, 'low' as const, 'idle' as const);
    const step = fc.oneof(
      fc.record({ op: fc.constant('add' as const), key: keys, lane }),
      fc.record({ op: fc.constant('after' as const), key: keys, lane, ms: fc.integer({ min: 0, max: 50 }) }),
      fc.record({ op: fc.constant('retry' as const), key: keys }),
      fc.record({ op: fc.constant('take' as const) }),
      fc.record({ op: fc.constant('done' as const), pick: fc.nat() }),
      fc.record({ op: fc.constant('advance' as const), ms: fc.integer({ min: 0, max: 60 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { queue, clock } = setUp({ groupOf: (key) => (key < 'c' ? 'one' : 'two') });
        const held: string[] = [];
        /** keys requested after they were last handed out */
        const owed = new Set<string>();
        const take = async (): Promise<void> => {
          if (queue.depth === 0) return;
          const key = (await queue.take())!;
          expect(held).not.toContain(key);
          held.push(key);
          owed.delete(key);
        };
        for (const action of steps) {
          if (action.op === 'add') {
            queue.add(action.key, action.lane);
            owed.add(action.key);
          } else if (action.op === 'after') {
            queue.addAfter(action.key, action.ms, action.lane);
            owed.add(action.key);
          } else if (action.op === 'retry') {
            queue.addRateLimited(action.key);
            owed.add(action.key);
          } else if (action.op === 'take') await take();
          else if (action.op === 'advance') await clock.advance(action.ms);
          else if (held.length > 0) queue.done(held.splice(action.pick % held.length, 1)[0]!);
        }
        for (const key of held.splice(0)) queue.done(key);
        await clock.advance(1_000_000);
        while (queue.depth > 0) {
          await take();
          for (const key of held.splice(0)) queue.done(key);
        }
        expect([...owed]).toEqual([]);
        expect(queue.inProgress).toBe(0);
      }),
      { numRuns: 200 },
    );
  });
});
