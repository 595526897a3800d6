import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { State } from './state.ts';
import type { Table } from './table.ts';

interface Thing {
  readonly id: string;
  readonly owner: string;
  readonly labels: readonly string[];
  readonly weight: number;
}

function things(): { state: State; table: Table<Thing> } {
  const state = new State();
  const table = state.table<Thing>('things', {
    indexes: {
      owner: { of: ['owner'], key: ({ owner }) => (owner === '' ? undefined : owner) },
      label: ({ labels }) => labels,
    },
    sums: { weight: { of: ['owner', 'weight'], part: ({ owner, weight }) => ({ key: owner, amount: weight }) } },
  });
  return { state, table };
}

const thing = (id: string, more: Partial<Thing> = {}): Thing => ({ id, owner: 'a', labels: [], weight: 1, ...more });

describe('a table', () => {
  it('finds rows by every key of an index, oldest first', () => {
    const { state, table } = things();
    state.transact(() => {
      table.insert(thing('1', { labels: ['x', 'y'] }));
      table.insert(thing('2', { labels: ['y'], owner: '' }));
      table.insert(thing('3'));
    });
    expect([...table.by('label', 'y')].map(({ id }) => id)).toEqual(['1', '2']);
    expect([...table.by('owner', 'a')].map(({ id }) => id)).toEqual(['1', '3']);
    expect(table.first('label', 'y')?.id).toBe('1');
    expect(table.count('owner', '')).toBe(0);
    expect([...table.keys('owner')]).toEqual(['a']);
  });

  it('moves a row in its indexes and sums when it changes', () => {
    const { state, table } = things();
    const row = state.transact(() => table.insert(thing('1', { weight: 5 })));
    state.transact(() => table.update('1', { owner: 'b', weight: 7 }));
    expect(row.owner).toBe('b');
    expect(table.count('owner', 'a')).toBe(0);
    expect(table.sum('weight', 'a')).toBe(0);
    expect(table.sum('weight', 'b')).toBe(7);
  });

  it('is changed only in transactions', () => {
    expect(() => things().table.insert(thing('1'))).toThrow('outside of a transaction');
  });

  it('refuses a second row of the same id and changes of missing rows', () => {
    const { state, table } = things();
    state.transact(() => table.insert(thing('1')));
    expect(() => state.transact(() => table.insert(thing('1')))).toThrow('exists already');
    expect(() => state.transact(() => table.update('2', { weight: 1 }))).toThrow('does not exist');
  });

  it('restores values that were not saved because they were undefined', () => {
    const state = new State();
    const table = state.table<{ id: string; fault: string | undefined }>('t');
    state.transact(() => table.insert({ id: '1', fault: 'broken' }));
    state.load([{ table: 't', id: '1', row: { id: '1' } }]);
    expect(table.get('1')?.fault).toBeUndefined();
  });
});

describe('a row of an earlier version', () => {
  it('is loaded with the current columns', () => {
    const state = new State();
    const table = state.table<Thing>('things', { renamed: { mass: 'weight' } });
    const { weight: _, ...rest } = thing('1');
    const saved = { ...rest, mass: 7 } as Partial<Thing> as Thing;
    state.load([{ table: 'things', id: '1', row: saved }]);
    expect(table.get('1')).toEqual(thing('1', { weight: 7 }));
    const changed: Thing = { ...saved, owner: 'b' };
    state.load([{ table: 'things', id: '1', row: changed }]);
    expect(table.get('1')).toEqual(thing('1', { weight: 7, owner: 'b' }));
  });
});

describe('a transaction', () => {
  it('undoes everything when it throws', () => {
    const { state, table } = things();
    state.transact(() => table.insert(thing('1', { labels: ['x'] })));
    expect(() =>
      state.transact(() => {
        table.insert(thing('2'));
        table.update('1', { owner: 'b', labels: [] });
        table.delete('1');
        throw new Error('no');
      }),
    ).toThrow('no');
    expect([...table.all()]).toEqual([thing('1', { labels: ['x'] })]);
    expect(table.count('label', 'x')).toBe(1);
    expect(table.sum('weight', 'a')).toBe(1);
  });

  it('undoes only its own part when it is nested', () => {
    const { state, table } = things();
    state.transact(() => {
      table.insert(thing('1'));
      expect(() =>
        state.transact(() => {
          table.insert(thing('2'));
          throw new Error('inner');
        }),
      ).toThrow('inner');
    });
    expect([...table.all()].map(({ id }) => id)).toEqual(['1']);
  });

  it('tells listeners the last state of every row it touched, once', () => {
    const { state, table } = things();
    const heard: unknown[] = [];
    state.onCommit((changes) => heard.push(changes.map(({ id, row }) => [id, (row as Thing | undefined)?.weight])));
    state.transact(() => {
      table.insert(thing('1'));
      table.update('1', { weight: 2 });
      table.insert(thing('2'));
      table.delete('2');
    });
    expect(heard).toEqual([
      [
        ['1', 2],
        ['2', undefined],
      ],
    ]);
  });

  it('runs its afterCommit work only when it succeeds', () => {
    const { state } = things();
    const done: string[] = [];
    state.transact(() => {
      state.afterCommit(() => done.push('kept'));
      expect(() =>
        state.transact(() => {
          state.afterCommit(() => done.push('dropped'));
          throw new Error('no');
        }),
      ).toThrow();
      expect(done).toEqual([]);
    });
    expect(done).toEqual(['kept']);
  });
});

describe('indexes and sums, whatever happens to the rows', () => {
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('insert' as const),
      id: fc.integer({ min: 0, max: 5 }),
      owner: fc.constantFrom('', 'a', 'b'),
      labels: fc.uniqueArray(fc.constantFrom('x', 'y', 'z'), { maxLength: 2 }),
      weight: fc.integer({ min: 0, max: 4 }),
    }),
    fc.record({
      kind: fc.constant('update' as const),
      id: fc.integer({ min: 0, max: 5 }),
      owner: fc.constantFrom('', 'a', 'b'),
      labels: fc.uniqueArray(fc.constantFrom('x', 'y', 'z'), { maxLength: 2 }),
      weight: fc.integer({ min: 0, max: 4 }),
    }),
    fc.record({ kind: fc.constant('delete' as const), id: fc.integer({ min: 0, max: 5 }) }),
  );
  const transaction = fc.record({ steps: fc.array(step, { maxLength: 6 }), fails: fc.boolean() });

  it('equal what counting all rows would give', () => {
    fc.assert(
      fc.property(fc.array(transaction, { maxLength: 12 }), (transactions) => {
        const { state, table } = things();
        const model = new Map<string, Thing>();
        for (const { steps, fails } of transactions) {
          const before = new Map(model);
          const run = (): void => {
            for (const each of steps) {
              const id = String(each.id);
              if (each.kind === 'delete') {
                table.delete(id);
                model.delete(id);
              } else {
                const { owner, labels, weight } = each;
                if (each.kind === 'insert' && !table.has(id)) {
                  table.insert({ id, owner, labels, weight });
                  model.set(id, { id, owner, labels, weight });
                } else if (each.kind === 'update' && table.has(id)) {
                  table.update(id, { owner, labels, weight });
                  model.set(id, { id, owner, labels, weight });
                }
              }
            }
            if (fails) throw new Error('undo');
          };
          if (fails) {
            expect(() => state.transact(run)).toThrow('undo');
            model.clear();
            for (const [id, row] of before) model.set(id, row);
          } else {
            state.transact(run);
          }
        }
        const rows = [...model.values()];
        expect(new Set([...table.all()].map((row) => JSON.stringify(row)))).toEqual(
          new Set(rows.map((row) => JSON.stringify(row))),
        );
        for (const owner of ['a', 'b']) {
          expect(table.count('owner', owner)).toBe(rows.filter((row) => row.owner === owner).length);
          const weight = rows.filter((row) => row.owner === owner).reduce((sum, row) => sum + row.weight, 0);
          expect(table.sum('weight', owner)).toBe(weight);
        }
        for (const label of ['x', 'y', 'z']) {
          const expected = rows.filter(({ labels }) => labels.includes(label)).map(({ id }) => id);
          expect(new Set([...table.by('label', label)].map(({ id }) => id))).toEqual(new Set(expected));
        }
      }),
    );
  });
});
