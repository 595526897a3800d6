import { describe, expect, it } from 'vitest';
import { must } from './must.ts';

describe('must', () => {
  it.each([0, '', false, Number.NaN])('returns %j unchanged', (value) => {
    expect(must(value, 'it')).toBe(value);
  });

  it.each([undefined, null])('throws with the name of what is missing for %j', (value) => {
    expect(() => must(value, 'the port')).toThrow('the port is missing');
  });
});
