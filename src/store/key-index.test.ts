import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyIndex } from './key-index.ts';

const record = (key: string): { key: string; value: number; revision: number; createRevision: number } => ({
  key,
  value: 1,
  revision: 1,
  createRevision: 1,
});

describe('KeyIndex', () => {
  const key = fc
    .array(fc.constantFrom('a', 'b', 'a-b', 'ü', '/', '/', '-', '0'), { maxLength: 9 })
    .map((parts) => `/${parts.join('')}`);
  const operations = fc.array(fc.tuple(fc.boolean(), key), { maxLength: 150 });

  it('finds, counts and orders keys as a sorted list would', () => {
    fc.assert(
      fc.property(
        operations,
        key,
        fc.option(key, { nil: undefined }),
        fc.nat({ max: 20 }),
        (steps, prefix, after, limit) => {
          const index = new KeyIndex<number>();
          const model = new Set<string>();
          for (const [isSet, each] of steps) {
            if (isSet) index.set(record(each));
            else index.delete(each);
            if (isSet) model.add(each);
            else model.delete(each);
          }
          for (const under of [prefix, prefix.slice(0, 3), '']) {
            const expected = [...model]
              .filter((each) => each.startsWith(under) && (after === undefined || each > after))
              .sort();
            const keys = index.collect(under, after).map((each) => each.key);
            expect(keys).toEqual(expected);
            expect(index.count(under, after)).toBe(expected.length);
            expect(index.collect(under, after, limit).map((each) => each.key)).toEqual(expected.slice(0, limit));
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it('keeps thousands of keys of one kind in order, whatever the order they come and go in', () => {
    const index = new KeyIndex<number>();
    const name = (i: number): string => `/g/p/${String((i * 7919) % 5000).padStart(5, '0')}`;
    for (let i = 0; i < 5000; i++) index.set(record(name(i)));
    for (let i = 0; i < 5000; i += 3) index.delete(name(i));
    const expected = Array.from({ length: 5000 }, (_, i) => i)
      .filter((i) => i % 3 !== 0)
      .map(name)
      .sort();
    expect(index.collect('/g/p/').map((each) => each.key)).toEqual(expected);
    expect(index.count('/g/p/00')).toBe(expected.filter((each) => each.startsWith('/g/p/00')).length);
  });
});
