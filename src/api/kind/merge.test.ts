import { describe, expect, it } from 'vitest';
import { mergeChange } from './merge.ts';

describe('mergeChange', () => {
  it.each([
    ['keeps the original when nothing changed', { a: 1 }, { a: 1 }, { a: 1, extra: 2 }, { a: 1, extra: 2 }],
    ['takes a changed value and keeps what was not shown', { a: 1 }, { a: 3 }, { a: 1, extra: 2 }, { a: 3, extra: 2 }],
    ['removes what was removed', { a: 1, b: 1 }, { b: 1 }, { a: 1, b: 1, extra: 2 }, { b: 1, extra: 2 }],
    ['adds what was added', {}, { n: { x: 1 } }, { extra: 2 }, { extra: 2, n: { x: 1 } }],
    ['does not add what the other version only makes up', { made: 1 }, { made: 1, b: 1 }, {}, { b: 1 }],
    [
      'finds list items by name when one is added in front',
      { l: [{ name: 'a' }] },
      { l: [{ name: 'b' }, { name: 'a' }] },
      { l: [{ name: 'a', extra: 1 }] },
      { l: [{ name: 'b' }, { name: 'a', extra: 1 }] },
    ],
    [
      'finds a changed list item by position when it has no name',
      { l: [{ v: 1 }, { v: 2 }] },
      { l: [{ v: 1 }, { v: 3 }] },
      {
        l: [
          { v: 1, e: 1 },
          { v: 2, e: 2 },
        ],
      },
      {
        l: [
          { v: 1, e: 1 },
          { v: 3, e: 2 },
        ],
      },
    ],
    ['takes a list whose items cannot be paired', { l: [1, 2] }, { l: [3] }, { l: [9] }, { l: [3] }],
  ])('%s', (_, base, theirs, mine, expected) => {
    expect(mergeChange(base, theirs, mine)).toEqual(expected);
  });
});
