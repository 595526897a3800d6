import { describe, expect, it } from 'vitest';
import { must } from './must.ts';

describe('must', () => {
  it.each([0, '', false, Number.NaN])('lets %j through', (value) => {
    expect(must(value, 'it')).toBe(value);
  });

  it.each([undefined, null])('names what is missing for %j', (value) => {
    expect(() => must(value, 'the port')).toThrow('the port is missing');
  });
});
