import { describe, expect, it } from 'vitest';
import { Query } from './query.ts';

describe('a query', () => {
  it('keeps order and repetitions, and decodes', () => {
    const query = new Query('a=1&b=x%20y&a=2&flag&c=p+q&d=%zz');
    expect(query.entries).toEqual([
      ['a', '1'],
      ['b', 'x y'],
      ['a', '2'],
      ['flag', ''],
      ['c', 'p q'],
      ['d', '%zz'],
    ]);
    expect(query.all('a')).toEqual(['1', '2']);
    expect(query.get('a')).toBe('2');
    expect(query.has('flag')).toBe(true);
    expect(query.get('nope')).toBeUndefined();
  });

  it('is written again with changes at the end', () => {
    const query = new Query('limit=1&name=a%26b&marker=old');
    expect(query.with({ marker: 'new' })).toBe('limit=1&name=a%26b&marker=new');
    expect(query.with({ marker: undefined })).toBe('limit=1&name=a%26b');
    expect(new Query('b=1&a=2&b=0').sorted().with({})).toBe('a=2&b=1&b=0');
  });
});
