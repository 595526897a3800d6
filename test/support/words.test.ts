import { describe, expect, it } from 'vitest';
import { words } from './words.ts';

describe('words', () => {
  it.each([
    [words`get pods`, ['get', 'pods']],
    [
      words`  get   pods
      -o name `,
      ['get', 'pods', '-o', 'name'],
    ],
    [words`get ${'two words'} -l a=${'b c'},d=${1}`, ['get', 'two words', '-l', 'a=b c,d=1']],
    [words`${'a'}${'b'} ${''} c`, ['ab', '', 'c']],
    [words``, []],
  ])('splits written text and keeps inserted values whole: %j', (made, expected) => {
    expect(made).toEqual(expected);
  });
});
