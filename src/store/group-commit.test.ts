import { describe, expect, it } from 'vitest';
import { ManualClock } from '../machinery/index.ts';
import { openStore } from './store.ts';
import type { Engine, Store, ValueCodec } from './types.ts';

const text: ValueCodec<string> = { encode: (_key, value) => [value], decode: (_key, bytes) => bytes.toString() };

/** An engine whose commits end when the test says so. */
class SlowDisk implements Engine {
  readonly commits: string[][] = [];
  #end: (() => void) | undefined;

  load(): Promise<{ revision: number }> {
    return Promise.resolve({ revision: 0 });
  }

  commit(batch: Parameters<Engine['commit']>[0]): Promise<void> {
    this.commits.push(batch.map(({ key }) => key));
    return new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  endCommit(): void {
    this.#end!();
  }

  backup(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

async function open(): Promise<{ store: Store<string>; disk: SlowDisk; clock: ManualClock }> {
  const disk = new SlowDisk();
  const clock = new ManualClock();
  return { store: await openStore({ engine: disk, codec: text, clock }), disk, clock };
}

const put = (store: Store<string>, key: string): Promise<unknown> => store.put(key, { kind: 'absent' }, () => key);
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Simulates a commit of this duration, which the store measures. */
async function commitTaking(ms: number, { store, disk, clock }: Awaited<ReturnType<typeof open>>): Promise<void> {
  const written = put(store, `/taking/${ms}`);
  await nextTurn();
  await clock.advance(ms);
  disk.endCommit();
  await written;
  disk.commits.length = 0;
}

describe('group commit', () => {
  it('collects the writes of a turn', async () => {
    const world = await open();
    await commitTaking(40, world);
    for (const key of ['/a', '/b', '/c']) void put(world.store, key);
    expect(world.disk.commits).toEqual([]);
    await nextTurn();
    expect(world.disk.commits).toEqual([['/a', '/b', '/c']]);
  });

  it('collects writes for no longer than a commit takes', async () => {
    const world = await open();
    const { store, disk, clock } = world;
    await commitTaking(40, world);
    void put(store, '/a');
    // The moving average has gone an eighth of the way from 0 to 40.
    const moving = clock.advance(5);
    void put(store, '/b');
    expect(disk.commits).toEqual([['/a', '/b']]);
    void put(store, '/c');
    await moving;
    expect(disk.commits).toEqual([['/a', '/b']]);
  });

  it('begins the next commit before it reports the last when writes have waited long enough', async () => {
    const world = await open();
    const { store, disk, clock } = world;
    await commitTaking(40, world);
    const first = put(store, '/a');
    await nextTurn();
    const second = put(store, '/b');
    await clock.advance(10);
    let commitsWhenTold: number | undefined;
    const told = first.then(() => {
      commitsWhenTold = disk.commits.length;
    });
    disk.endCommit();
    await told;
    expect(commitsWhenTold).toBe(2);
    expect(disk.commits).toEqual([['/a'], ['/b']]);
    disk.endCommit();
    await second;
    expect(store.revision).toBe(3);
  });

  it('includes the writes of those it wakes when writes have not waited long', async () => {
    const world = await open();
    const { store, disk } = world;
    await commitTaking(40, world);
    const first = put(store, '/a').then(() => put(store, '/c'));
    await nextTurn();
    const second = put(store, '/b');
    disk.endCommit();
    await nextTurn();
    await nextTurn();
    expect(disk.commits).toEqual([['/a'], ['/b', '/c']]);
    disk.endCommit();
    await Promise.all([first, second]);
  });

  it('returns the newest value of a key while its writes go to disk in several commits', async () => {
    const { store, disk } = await open();
    const writes: Promise<unknown>[] = [];
    // More than one commit can hold, with every key several times.
    for (let i = 0; i < 1500; i++) {
      const key = `/key/${i % 7}`;
      const head = store.head(key);
      const precondition = head ? { kind: 'revision' as const, revision: head.revision } : { kind: 'absent' as const };
      writes.push(store.put(key, precondition, () => `value ${i}`));
    }
    const newest = (): string[] => Array.from({ length: 7 }, (_, i) => store.head(`/key/${i}`)!.value);
    const expected = Array.from({ length: 7 }, (_, i) => `value ${i + 7 * Math.floor((1499 - i) / 7)}`);
    await nextTurn();
    expect(disk.commits.map(({ length }) => length)).toEqual([1024]);
    expect(newest()).toEqual(expected);
    expect(store.get('/key/0')).toBeUndefined();
    disk.endCommit();
    await writes[1023];
    expect(newest()).toEqual(expected);
    expect(store.settled('/key/0')).toBeDefined();
    await nextTurn();
    disk.endCommit();
    await Promise.all(writes);
    expect(disk.commits.map(({ length }) => length)).toEqual([1024, 476]);
    expect(newest()).toEqual(expected);
    expect(store.settled('/key/0')).toBeUndefined();
  });

  it('commits everything before it closes', async () => {
    const { store, disk } = await open();
    const first = put(store, '/a');
    await nextTurn();
    const second = put(store, '/b');
    const closing = store.close();
    disk.endCommit();
    await first;
    await nextTurn();
    disk.endCommit();
    await Promise.all([second, closing]);
    expect(disk.commits).toEqual([['/a'], ['/b']]);
  });
});

describe('the rest of the store', () => {
  async function openResting() {
    let end: (() => void) | undefined;
    const world = await open();
    const rests: number[] = [];
    const engine: Engine = world.disk;
    engine.rest = () => {
      rests.push(world.clock.now());
      return new Promise((resolve) => {
        end = resolve;
      });
    };
    const commit = async (key: string): Promise<void> => {
      const written = put(world.store, key);
      await nextTurn();
      world.disk.endCommit();
      await written;
    };
    return { ...world, rests, commit, endRest: () => end!() };
  }

  it('starts once, a minute after the last write', async () => {
    const { clock, rests, commit, endRest } = await openResting();
    await commit('/a');
    await clock.advance(40_000);
    await commit('/b');
    await clock.advance(59_999);
    expect(rests).toEqual([]);
    await clock.advance(1);
    expect(rests).toHaveLength(1);
    endRest();
    await clock.advance(600_000);
    expect(rests).toHaveLength(1);
  });

  it('delays writes but does not refuse them', async () => {
    const { store, disk, clock, commit, endRest } = await openResting();
    await commit('/a');
    await clock.advance(60_000);
    const written = put(store, '/b');
    await nextTurn();
    expect(disk.commits).toEqual([['/a']]);
    endRest();
    await nextTurn();
    await nextTurn();
    expect(disk.commits).toEqual([['/a'], ['/b']]);
    disk.endCommit();
    await written;
    expect(store.get('/b')?.value).toBe('/b');
  });

  it('is awaited by a store that closes', async () => {
    const { store, clock, commit, endRest } = await openResting();
    await commit('/a');
    await clock.advance(60_000);
    let closed = false;
    const closing = store.close().then(() => {
      closed = true;
    });
    await nextTurn();
    expect(closed).toBe(false);
    endRest();
    await closing;
  });
});
