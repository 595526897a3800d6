import { describe, expect, it } from 'vitest';
import { Glob } from './glob.ts';
import { LinearPattern } from './linear-pattern.ts';

/** Pattern and text; the result must equal that of JavaScript. */
const same: readonly (readonly [string, string])[] = [
  ['a', 'xay'],
  ['^a+b?$', 'aaab'],
  ['(a|ab)(c|bcd)(d*)', 'abcd'],
  ['(?:x|y)+z', '--xyxz--'],
  ['a{2,3}', 'aaaa'],
  ['a{2,}?', 'aaaa'],
  ['a{0}b', 'aab'],
  ['(a*)*b', 'aaac'],
  ['(a*)+', 'b'],
  ['[^/]+/([^/]+)$', 'one/two/three'],
  ['[a-c\\]x-]+', '--]abcx--'],
  ['\\bword\\b', 'a word here'],
  ['\\d+\\.\\d+', 'version 1.34.2'],
  ['v?(\\d+)(?:\\.(\\d+))?', 'v1'],
  ['.*?b', 'aaabab'],
  ['.', '\n'],
  ['$', 'abc'],
  ['', 'abc'],
  ['\\x41|\\u0042', 'xB'],
  ['a|b|', 'c'],
];

describe('a pattern matched in linear time', () => {
  it.each(same)('%s finds in %j what JavaScript finds', (source, text) => {
    const expected = new RegExp(source).exec(text);
    const found = new LinearPattern(source).exec(text);
    expect(found && [found.index, found.groups[0]]).toEqual(expected ? [expected.index, expected[0]] : undefined);
    // A group inside a loop may capture a different but equivalent part of an empty match.
    if (expected && !source.includes('*)')) expect(found?.groups).toEqual([...expected]);
  });

  it.each([
    ['i', 'HeLLo', 'hello'],
    ['i', '[^h]', 'Hh'],
    ['s', 'a.b', 'a\nb'],
  ])('with the flag %s, %s matches in %j as in JavaScript', (flag, source, text) => {
    const found = new LinearPattern(source, { ignoreCase: flag === 'i', dotAll: flag === 's' }).test(text);
    expect(found).toBe(new RegExp(source, flag).test(text));
  });

  it('replaces one match or all', () => {
    const pattern = new LinearPattern('(\\w)(\\w)');
    const swap = ({ groups }: { groups: readonly (string | undefined)[] }): string => `${groups[2]}${groups[1]}`;
    expect(pattern.replace('abcd e', swap)).toBe('bacd e');
    expect(pattern.replace('abcd e', swap, 'all')).toBe('badc e');
    expect(new LinearPattern('x*').replace('ab', () => '-', 'all')).toBe('ab'.replace(/x*/g, '-'));
  });

  it.each(['(a+)+$', '^(a|a)*$', '(.*)*x', '(a|b|ab)*c', '(((a*)*)*)*b'])('%s finishes on a long text', (source) => {
    expect(new LinearPattern(source).test(`${'a'.repeat(20_000)}!`)).toBe(false);
  });

  it.each([
    ['((a{1000}){1000})', 'regular expression too big'],
    ['(a)\\1', 'back-references are not supported'],
    ['(?=a)', 'look-around and named groups are not supported'],
    ['(', 'unmatched ( or \\('],
    ['a)', 'unmatched ) or \\)'],
    ['[a', 'unmatched [, [^, [:, [., or [='],
    ['*a', 'nothing to repeat at "*a"'],
    ['('.repeat(200), 'regular expression is nested too deep'],
  ])('%s is refused: %s', (source, message) => {
    expect(() => new LinearPattern(source)).toThrow(message);
  });

  it('fails with an error rather than taking seconds', () => {
    const pattern = new LinearPattern(`(${'a?'.repeat(500)})*b`);
    expect(() => pattern.test('a'.repeat(1_000_000))).toThrow('takes too long');
  });
});

describe('a shell pattern', () => {
  it.each([
    ['*.yaml', 'a.yaml', true],
    ['*.yaml', 'a.yml', false],
    ['a?c', 'abc', true],
    ['[!a-c]x', 'dx', true],
    ['[]x]', ']', true],
    ['[', '[', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['', '', true],
    ['*', '', true],
    ['a.b', 'axb', false],
  ])('%s matches %j: %s', (pattern, text, fits) => {
    expect(new Glob(pattern).test(text)).toBe(fits);
  });

  it('stays within a directory when asked to', () => {
    expect(new Glob('/etc/*', { beyond: false }).test('/etc/a/b')).toBe(false);
    expect(new Glob('/etc/*/b', { beyond: false }).test('/etc/a/b')).toBe(true);
  });

  it('finds the shortest and the longest matching beginning and end', () => {
    const glob = new Glob('*/');
    expect(glob.prefix('/a/b/c', 'shortest')).toBe(1);
    expect(glob.prefix('/a/b/c', 'longest')).toBe(5);
    expect(glob.prefix('abc', 'longest')).toBeUndefined();
    expect(new Glob('.*').suffix('a.b.c', 'shortest')).toBe(2);
    expect(new Glob('.*').suffix('a.b.c', 'longest')).toBe(4);
  });

  it('replaces the longest match', () => {
    expect(new Glob('b*d').replace('abcdbcd', '-', 'first')).toBe('a-');
    expect(new Glob('?').replace('abc', '-', 'all')).toBe('---');
    expect(new Glob('b').replace('abcb', '-', 'all')).toBe('a-c-');
  });

  it('fails with an error rather than taking seconds', () => {
    expect(() => new Glob('a*b').replace('a'.repeat(200_000), '', 'all')).toThrow('takes too long');
  });

  it('with many stars finishes on a long text', () => {
    expect(new Glob(`${'*a'.repeat(30)}b`).test('a'.repeat(50_000))).toBe(false);
  });
});
