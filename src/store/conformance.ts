import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock, must } from '../machinery/index.ts';
import { openStore } from './store.ts';
import {
  CompactedError,
  ConflictError,
  type Engine,
  type Store,
  type StoreEvent,
  type StoreRecord,
  StoreUnavailableError,
  type ValueCodec,
} from './types.ts';

/**
 * Provides engines to a test suite. `create` returns an empty one; `reopen` opens the data of a closed engine again.
 */
export interface EngineFactory {
  create(): Promise<Engine>;
  reopen(closed: Engine): Promise<Engine>;
}

const text: ValueCodec<string> = {
  encode: (_key, value) => Buffer.from(value),
  decode: (_key, bytes) => Buffer.from(bytes).toString(),
};

const absent = { kind: 'absent' } as const;
const at = (revision: number): { kind: 'revision'; revision: number } => ({ kind: 'revision', revision });
const keys = (records: readonly StoreRecord<string>[]): string[] => records.map(({ key }) => key);

function describeEvent(event: StoreEvent<string>): string {
  return event.type === 'put'
    ? `${event.revision} put ${event.record.key}=${event.record.value} was ${event.previous?.value ?? 'nothing'}`
    : `${event.revision} delete ${event.key} was ${event.previous.value}`;
}

/** Tests every engine must pass. Call it from a test file. */
export function storeConformance(name: string, factory: EngineFactory): void {
  describe(`store on the ${name} engine`, () => {
    let clock: ManualClock;
    let engine: Engine;
    let store: Store<string>;
    const opened: Store<string>[] = [];

    const open = async (on: Engine, history = {}): Promise<Store<string>> => {
      const result = await openStore({ engine: on, codec: text, clock, history });
      opened.push(result);
      return result;
    };
    const create = (key: string, value = 'v'): Promise<StoreRecord<string>> => store.put(key, absent, () => value);

    beforeEach(async () => {
      clock = new ManualClock();
      engine = await factory.create();
      store = await open(engine);
    });

    afterEach(async () => {
      for (const each of opened.splice(0)) await each.close();
    });

    describe('writes', () => {
      it('gives the first write revision 1 and passes it to the maker of the value', async () => {
        const record = await store.put('/g/p/a', absent, (revision) => `made at ${revision}`);
        expect(record).toEqual({ key: '/g/p/a', value: 'made at 1', revision: 1, createRevision: 1 });
        expect(store.get('/g/p/a')).toEqual(record);
        expect(store.revision).toBe(1);
      });

      it('keeps the creation revision over updates and renews it after a delete', async () => {
        await create('/g/p/a');
        const updated = await store.put('/g/p/a', at(1), () => 'w');
        expect(updated).toMatchObject({ revision: 2, createRevision: 1 });
        await store.delete('/g/p/a', at(2));
        expect(await create('/g/p/a')).toMatchObject({ revision: 4, createRevision: 4 });
      });

      it('refuses to create an existing key and reports its revision', async () => {
        await create('/g/p/a');
        const error = await create('/g/p/a').catch((e: unknown) => e);
        expect(error).toBeInstanceOf(ConflictError);
        expect(error).toMatchObject({ key: '/g/p/a', actual: 1 });
        expect(store.revision).toBe(1);
      });

      it.each([
        ['update with an old revision', () => store.put('/g/p/a', at(1), () => 'x')],
        ['update of an absent key', () => store.put('/g/p/none', at(1), () => 'x')],
        ['delete with an old revision', () => store.delete('/g/p/a', at(1))],
        ['delete of an absent key', () => store.delete('/g/p/none', at(1))],
      ])('refuses an %s', async (_what, write) => {
        await create('/g/p/a');
        await store.put('/g/p/a', at(1), () => 'newest');
        await expect(write()).rejects.toBeInstanceOf(ConflictError);
        expect(store.get('/g/p/a')?.value).toBe('newest');
      });

      it('shows a staged write in head at once and in get only after its commit', async () => {
        await create('/g/p/a', 'old');
        const update = store.put('/g/p/a', at(1), () => 'new');
        expect(store.head('/g/p/a')).toMatchObject({ value: 'new', revision: 2 });
        expect(store.get('/g/p/a')).toMatchObject({ value: 'old', revision: 1 });
        const removal = store.delete('/g/p/a', at(2));
        expect(store.head('/g/p/a')).toBeUndefined();
        const again = create('/g/p/a', 'again');
        expect(store.head('/g/p/a')).toMatchObject({ value: 'again', revision: 4 });
        await Promise.all([update, removal, again]);
        expect(store.get('/g/p/a')).toEqual(store.head('/g/p/a'));
      });

      it('reports when what head shows is stored', async () => {
        await create('/g/p/a', 'old');
        expect(store.settled('/g/p/a')).toBeUndefined();
        const update = store.put('/g/p/a', at(1), () => 'new');
        const removal = store.delete('/g/p/a', at(2));
        expect(store.settled('/g/p/b')).toBeUndefined();
        await store.settled('/g/p/a');
        expect(store.get('/g/p/a')).toBeUndefined();
        expect(store.settled('/g/p/a')).toBeUndefined();
        await Promise.all([update, removal]);
      });

      it('lets exactly one of many concurrent updates of the same revision win', async () => {
        await create('/g/p/a');
        const results = await Promise.allSettled(
          Array.from({ length: 20 }, (_, i) => store.put('/g/p/a', at(1), () => String(i))),
        );
        expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
        expect(store.get('/g/p/a')?.value).toBe('0');
      });

      it('rejects a write whose value cannot be made and continues', async () => {
        const failing = store.put('/g/p/a', absent, () => {
          throw new Error('no value');
        });
        await expect(failing).rejects.toThrow('no value');
        expect(store.head('/g/p/a')).toBeUndefined();
        expect(await create('/g/p/a')).toMatchObject({ key: '/g/p/a' });
      });

      it('stores long names, names beyond ASCII and values of any size', async () => {
        const long = `/${'g'.repeat(253)}/${'p'.repeat(253)}/${'n'.repeat(253)}/${'o'.repeat(253)}`;
        const big = 'x'.repeat(3 * 1024 * 1024);
        await Promise.all([create(long), create('/g/p/ü/😀', ''), create('/g/p/big', big)]);
        await store.close();
        const reopened = await open(await factory.reopen(engine));
        expect(reopened.get(long)?.value).toBe('v');
        expect(reopened.get('/g/p/ü/😀')?.value).toBe('');
        expect(reopened.get('/g/p/big')?.value).toBe(big);
      });
    });

    describe('lists', () => {
      beforeEach(async () => {
        const names = ['/g/pods/b/2', '/g/pods/a/1', '/g/pods/a/3', '/g/pods/a-b/1', '/g/nodes/n', '/h/pods/a/1', '/x'];
        await Promise.all(names.map((key) => create(key)));
      });

      it.each([
        ['', ['/g/nodes/n', '/g/pods/a-b/1', '/g/pods/a/1', '/g/pods/a/3', '/g/pods/b/2', '/h/pods/a/1', '/x']],
        ['/g/', ['/g/nodes/n', '/g/pods/a-b/1', '/g/pods/a/1', '/g/pods/a/3', '/g/pods/b/2']],
        ['/g/pods/', ['/g/pods/a-b/1', '/g/pods/a/1', '/g/pods/a/3', '/g/pods/b/2']],
        ['/g/pods/a', ['/g/pods/a-b/1', '/g/pods/a/1', '/g/pods/a/3']],
        ['/g/pods/a/', ['/g/pods/a/1', '/g/pods/a/3']],
        ['/g/pods/a/3', ['/g/pods/a/3']],
        ['/g/pods/c/', []],
        ['/g/none/', []],
        ['/x', ['/x']],
      ])('returns the keys under %j in order', (prefix, expected) => {
        expect(keys(store.list(prefix).records)).toEqual(expected);
        expect(store.list(prefix)).toMatchObject({ revision: 7, remaining: 0 });
        expect(store.count(prefix)).toBe(expected.length);
      });

      it('cuts a list at the limit and reports how many remain, page after page', () => {
        const first = store.list('/g/', { limit: 2 });
        expect(keys(first.records)).toEqual(['/g/nodes/n', '/g/pods/a-b/1']);
        expect(first.remaining).toBe(3);
        const second = store.list('/g/', { limit: 2, after: '/g/pods/a-b/1' });
        expect(keys(second.records)).toEqual(['/g/pods/a/1', '/g/pods/a/3']);
        expect(second.remaining).toBe(1);
        const last = store.list('/g/', { limit: 2, after: '/g/pods/a/3' });
        expect(keys(last.records)).toEqual(['/g/pods/b/2']);
        expect(last.remaining).toBe(0);
        expect(store.list('/g/pods/a/', { after: '/g/pods/b/2', limit: 1 })).toMatchObject({
          records: [],
          remaining: 0,
        });
      });

      it('lists an older revision as it was, page after page', async () => {
        await store.put('/g/pods/a/1', at(store.get('/g/pods/a/1')?.revision ?? 0), () => 'changed');
        await store.delete('/g/pods/a/3', at(store.get('/g/pods/a/3')?.revision ?? 0));
        await create('/g/pods/a/2');
        await create('/g/pods/a/4');
        const page = store.list('/g/pods/a/', { revision: 7, limit: 1 });
        expect(page.records.map(({ key, value }) => [key, value])).toEqual([['/g/pods/a/1', 'v']]);
        expect(page).toMatchObject({ revision: 7, remaining: 1 });
        const next = store.list('/g/pods/a/', { revision: 7, limit: 1, after: '/g/pods/a/1' });
        expect(keys(next.records)).toEqual(['/g/pods/a/3']);
        expect(next.remaining).toBe(0);
        expect(keys(store.list('/g/pods/a/').records)).toEqual(['/g/pods/a/1', '/g/pods/a/2', '/g/pods/a/4']);
      });

      it('refuses a revision that does not exist yet', () => {
        expect(() => store.list('/g/', { revision: 8 })).toThrow(RangeError);
      });
    });

    describe('watches', () => {
      it('delivers the backlog at once, then each commit, only under its prefix', async () => {
        await create('/g/p/a', '1');
        await create('/g/p/b', '2');
        await create('/g/q/a', '3');
        const seen: string[] = [];
        const stop = store.watch('/g/p/', 1, (events) => seen.push(...events.map(describeEvent)));
        expect(seen).toEqual(['2 put /g/p/b=2 was nothing']);
        await store.put('/g/p/a', at(1), () => '4');
        await create('/g/q/b', '5');
        await store.delete('/g/p/b', at(2));
        stop();
        await create('/g/p/c', '7');
        expect(seen).toEqual(['2 put /g/p/b=2 was nothing', '4 put /g/p/a=4 was 1', '6 delete /g/p/b was 2']);
      });

      it.each(['', '/', '/g/', '/g/p', '/g/p/', '/g/p/n', '/g/p/n/', '/g/p/n/a', '/g/p/n/ab'])(
        'matches keys under %j exactly as a list does',
        async (prefix) => {
          const seen: string[] = [];
          store.watch(prefix, 0, (events) => {
            for (const event of events) if (event.type === 'put') seen.push(event.record.key);
          });
          for (const key of ['/g/p/n/a', '/g/p/n/ab', '/g/p/na', '/g/pq/n', '/h/p/n', 'bare']) await create(key);
          expect(seen.sort()).toEqual(keys(store.list(prefix).records));
        },
      );

      it('shows watchers the new state before the writer continues', async () => {
        let seenByWatcher: string | undefined;
        store.watch('/g/p/', 0, () => {
          seenByWatcher = store.get('/g/p/a')?.value;
        });
        await create('/g/p/a', 'new');
        expect(seenByWatcher).toBe('new');
      });

      it('skips events up to a revision that lies ahead', async () => {
        const seen: number[] = [];
        store.watch('/g/p/', 2, (events) => seen.push(...events.map(({ revision }) => revision)));
        for (const key of ['/g/p/a', '/g/p/b', '/g/p/c']) await create(key);
        expect(seen).toEqual([3]);
      });

      it('survives a watcher that throws and reports it', async () => {
        const errors: unknown[] = [];
        const other = await factory.create();
        store = await openStore({ engine: other, codec: text, onWatcherError: (error) => errors.push(error) });
        opened.push(store);
        const failure = new Error('watcher broke');
        store.watch('/g/p/', 0, () => {
          throw failure;
        });
        const seen: number[] = [];
        store.watch('/g/p/', 0, (events) => seen.push(events.length));
        await create('/g/p/a');
        expect(errors).toEqual([failure]);
        expect(seen).toEqual([1]);
      });

      it('delivers every event once to a watch started inside another watch', async () => {
        const inner: number[] = [];
        let started = false;
        store.watch('/g/p/', 0, () => {
          if (started) return;
          started = true;
          store.watch('/g/p/', 0, (events) => inner.push(...events.map(({ revision }) => revision)));
        });
        await create('/g/p/a');
        await create('/g/p/b');
        expect(inner).toEqual([1, 2]);
      });

      it('does not call a watcher ended by another watcher of the same commit', async () => {
        let calls = 0;
        const ends: (() => void)[] = [];
        store.watch('/g/p/', 0, () => {
          for (const end of ends) end();
        });
        ends.push(store.watch('/g/p/', 0, () => calls++));
        await create('/g/p/a');
        expect(calls).toBe(0);
      });
    });

    describe('history', () => {
      const limits = { minRevisions: 3, minAgeMs: 60_000, maxRevisions: 6, maxBytes: 1_000_000 };

      beforeEach(async () => {
        store = await open(await factory.create(), limits);
      });

      it('keeps recent events up to the maximum', async () => {
        for (let i = 1; i <= 8; i++) await create(`/g/p/${i}`);
        expect(store.compactedRevision).toBe(2);
        expect(keys(store.list('/g/p/', { revision: 2 }).records)).toEqual(['/g/p/1', '/g/p/2']);
        expect(() => store.list('/g/p/', { revision: 1 })).toThrow(CompactedError);
        expect(() => store.watch('/g/p/', 1, () => undefined)).toThrow(CompactedError);
      });

      it('drops old events down to the minimum', async () => {
        for (let i = 1; i <= 5; i++) await create(`/g/p/${i}`);
        await clock.advance(61_000);
        await create('/g/p/6');
        expect(store.compactedRevision).toBe(3);
        const seen: number[] = [];
        store.watch('/g/p/', 3, (events) => seen.push(...events.map(({ revision }) => revision)));
        expect(seen).toEqual([4, 5, 6]);
      });

      it('drops old events where nobody writes any more', async () => {
        for (let i = 1; i <= 5; i++) await create(`/g/p/${i}`);
        await clock.advance(120_000);
        expect(store.compactedRevision).toBe(2);
      });

      it('drops events whose values take too much memory, but keeps the newest', async () => {
        store = await open(await factory.create(), { ...limits, maxBytes: 25 });
        for (let i = 1; i <= 5; i++) await create(`/g/p/${i}`, '0123456789');
        expect(store.compactedRevision).toBe(3);
        await create('/g/p/6', '0123456789'.repeat(10));
        expect(store.compactedRevision).toBe(5);
      });
    });

    describe('waiting for a revision', () => {
      it('ends when the revision is committed', async () => {
        const { signal } = new AbortController();
        let done = false;
        const waiting = store.waitFor(2, signal).then(() => {
          done = true;
        });
        await create('/g/p/a');
        expect(done).toBe(false);
        await create('/g/p/b');
        await waiting;
        await store.waitFor(1, signal);
      });

      it('ends on abort with the reason of the abort', async () => {
        const controller = new AbortController();
        const waiting = store.waitFor(5, controller.signal);
        controller.abort(new Error('enough'));
        await expect(waiting).rejects.toThrow('enough');
        await expect(store.waitFor(5, controller.signal)).rejects.toThrow('enough');
      });
    });

    describe('closing', () => {
      it('commits staged writes, and everything is there again after a reopen', async () => {
        await create('/g/p/a', 'a');
        await store.put('/g/p/a', at(1), () => 'a2');
        await create('/g/p/b', 'b');
        const last = store.delete('/g/p/b', at(3));
        await store.close();
        await last;
        store = await open(await factory.reopen(engine));
        expect(store.list('').records).toEqual([{ key: '/g/p/a', value: 'a2', revision: 2, createRevision: 1 }]);
        expect(store.revision).toBe(4);
        expect(store.compactedRevision).toBe(4);
        expect(await create('/g/p/b')).toMatchObject({ revision: 5 });
      });

      it('refuses writes after close and may be closed twice', async () => {
        await store.close();
        await store.close();
        await expect(create('/g/p/a')).rejects.toBeInstanceOf(StoreUnavailableError);
      });
    });

    describe('a failing disk', () => {
      let failures: number;
      beforeEach(async () => {
        failures = 0;
        const real = await factory.create();
        const flaky: Engine = {
          load: (onRecord) => real.load(onRecord),
          commit: (batch) => {
            if (failures > 0) {
              failures--;
              return Promise.reject(new Error('disk full'));
            }
            return real.commit(batch);
          },
          backup: (path) => real.backup(path),
          close: () => real.close(),
        };
        store = await open(flaky);
      });

      it('rejects all staged writes, shows nothing of them and accepts writes again later', async () => {
        await create('/g/p/a', 'old');
        const seen: string[] = [];
        store.watch('', 1, (events) => seen.push(...events.map(describeEvent)));
        failures = 1;
        const lost = [store.put('/g/p/a', at(1), () => 'lost'), store.put('/g/p/a', at(2), () => 'lost too')];
        const results = await Promise.allSettled(lost);
        for (const result of results) {
          expect(result).toMatchObject({ status: 'rejected', reason: expect.any(StoreUnavailableError) });
          expect(result).toHaveProperty('reason.message', expect.stringContaining('disk full'));
        }
        expect(store.head('/g/p/a')).toMatchObject({ value: 'old', revision: 1 });
        expect(store.revision).toBe(1);
        const next = await store.put('/g/p/a', at(1), () => 'new');
        expect(next.revision).toBeGreaterThan(3);
        expect(seen).toEqual([`${next.revision} put /g/p/a=new was old`]);
      });
    });

    it('behaves as a simple map with a history under many concurrent writers', async () => {
      const operation = fc.record({
        key: fc.constantFrom('/g/p/a', '/g/p/b', '/g/p/c', '/g/q/a', '/h/p/n/a'),
        kind: fc.constantFrom('create', 'update', 'delete', 'stale update', 'stale delete'),
        turn: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(operation, { maxLength: 60 }), async (operations) => {
          const each = await open(await factory.create());
          const model = new Map<string, StoreRecord<string>>();
          const expected: string[] = [];
          const snapshots: { revision: number; keys: string[] }[] = [];
          const seen: string[] = [];
          each.watch('', 0, (events) => seen.push(...events.map(describeEvent)));
          const pending: Promise<unknown>[] = [];
          let revision = 0;
          for (const [i, { key, kind, turn }] of operations.entries()) {
            const actual = model.get(key);
            const wanted = (actual?.revision ?? 0) - (kind.startsWith('stale') ? 1 : 0);
            const holds = kind === 'create' ? !actual : actual?.revision === wanted;
            const isDelete = kind.endsWith('delete');
            const write = isDelete
              ? each.delete(key, at(wanted))
              : each.put(key, kind === 'create' ? absent : at(wanted), () => `v${i}`);
            const outcome = write.then(
              () => 'stored',
              (error: unknown) => (error instanceof ConflictError ? `conflict with ${error.actual}` : error),
            );
            pending.push(outcome.then((is) => expect(is).toBe(holds ? 'stored' : `conflict with ${actual?.revision}`)));
            if (holds) {
              revision++;
              if (isDelete) {
                expected.push(describeEvent({ type: 'delete', revision, key, previous: must(actual, 'actual') }));
                model.delete(key);
              } else {
                const record = { key, value: `v${i}`, revision, createRevision: actual?.createRevision ?? revision };
                expected.push(describeEvent({ type: 'put', revision, record, previous: actual }));
                model.set(key, record);
              }
              snapshots.push({ revision, keys: [...model.keys()].sort() });
            }
            expect(each.head(key)).toEqual(model.get(key));
            if (turn) await write.catch(() => undefined);
          }
          await Promise.all(pending);
          expect(seen).toEqual(expected);
          expect(each.list('').records).toEqual([...model.values()].sort((a, b) => (a.key < b.key ? -1 : 1)));
          for (const snapshot of snapshots) {
            expect(keys(each.list('', { revision: snapshot.revision }).records)).toEqual(snapshot.keys);
          }
          await each.close();
        }),
        { numRuns: 25 },
      );
    });
  });
}
