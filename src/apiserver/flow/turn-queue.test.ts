import { describe, expect, it } from 'vitest';
import type { FlowUser } from './fair-pool.ts';
import { TurnQueue } from './turn-queue.ts';

const ordinary = (key: string): FlowUser => ({ key, class: 'ordinary' });
const admin: FlowUser = { key: 'admin', class: 'exempt' };

/** A manual event loop whose clock advances only by work. */
function machine() {
  let now = 0;
  let deferred: (() => void)[] = [];
  const begun: string[] = [];
  const queue = new TurnQueue({ now: () => now, defer: (callback) => void deferred.push(callback) });
  const work = (label: string, ms: number): void => {
    begun.push(label);
    now += ms;
  };
  return {
    begun,
    /** a request that runs for the given time after it starts */
    request(user: FlowUser, label: string, ms: number): void {
      const turn = queue.wait(user);
      if (turn) void turn.then(() => work(label, ms));
      else work(label, ms);
    },
    /** runs one round; requests started in it finish before the next round */
    async round(): Promise<string[]> {
      const before = begun.length;
      const callbacks = deferred;
      deferred = [];
      for (const callback of callbacks) callback();
      await Promise.resolve();
      return begun.slice(before);
    },
  };
}

describe('TurnQueue', () => {
  it('starts cheap requests at once', async () => {
    const loop = machine();
    for (let i = 0; i < 100; i++) loop.request(ordinary('a'), `a${i}`, 0.1);
    expect(loop.begun).toHaveLength(100);
  });

  it('starts one expensive request per round, and those of administrators at any time', async () => {
    const loop = machine();
    for (let i = 0; i < 10; i++) loop.request(ordinary('a'), `a${i}`, 300);
    expect(loop.begun).toEqual(['a0']);
    loop.request(admin, 'admin', 1);
    expect(loop.begun).toEqual(['a0', 'admin']);
    expect(await loop.round()).toEqual(['a1']);
    expect(await loop.round()).toEqual(['a2']);
  });

  it('serves senders in turn, however much each has sent', async () => {
    const loop = machine();
    for (let i = 0; i < 10; i++) loop.request(ordinary('a'), `a${i}`, 300);
    loop.request(ordinary('b'), 'b0', 1);
    const next = [...(await loop.round()), ...(await loop.round())];
    expect(next).toContain('b0');
  });

  it('works off its queue quickly once requests are cheap again, and loses none', async () => {
    const loop = machine();
    loop.request(ordinary('a'), 'slow', 300);
    for (let i = 0; i < 200; i++) loop.request(ordinary('a'), `a${i}`, 0.01);
    let rounds = 0;
    for (; loop.begun.length < 201 && rounds < 100; rounds++) await loop.round();
    expect(loop.begun).toHaveLength(201);
    expect(rounds).toBeLessThan(12);
  });
});
