import { describe, expect, it } from 'vitest';
import { sentenceEnd, trimTrailing } from './trim.ts';

describe('trimTrailing', () => {
  it.each([
    ['https://a/v3///', '/', 'https://a/v3'],
    ['a//b', '/', 'a//b'],
    ['///', '/', ''],
    ['', '/', ''],
    ['It failed. \n', sentenceEnd, 'It failed'],
  ])('trims %j by %j', (text, characters, expected) => {
    expect(trimTrailing(text, characters)).toBe(expected);
  });
});
