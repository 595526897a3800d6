import { describe, expect, it } from 'vitest';
import { filterQuery, queryText } from './query.ts';

describe('queries', () => {
  it.each([
    [undefined, ''],
    [{}, ''],
    [{ a: undefined }, ''],
    [{ name: 'x y&z', limit: 3 }, '?name=x%20y%26z&limit=3'],
    [{ id: ['a', 'b'] }, '?id=a&id=b'],
    [{ 'router:external': true }, '?router%3Aexternal=true'],
  ])('%j becomes %j', (query, text) => {
    expect(queryText(query)).toBe(text);
  });

  it('spell filters as OpenStack does', () => {
    expect(filterQuery({ networkId: 'n', external: true, gone: undefined }, { external: 'router:external' })).toEqual({
      network_id: 'n',
      'router:external': true,
    });
  });
});
