import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GoRegexp, goRegexp, RegexpBudgetExceeded } from './index.ts';

describe('GoRegexp', () => {
  it.each([
    ['^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$', 'a-b.c.example', true],
    ['^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$', 'a-b..c', false],
    ['(?i)^abc$', 'aBC', true],
    ['^(?i:a)b$', 'AB', false],
    ['^(?i:a)b$', 'Ab', true],
    ['\\Aab\\z', 'ab', true],
    ['\\Aab\\z', 'ab\n', false],
    ['^[[:alpha:]_]+$', 'ab_c', true],
    ['^[[:alpha:]_]+$', 'ab1', false],
    ['^[^[:digit:]]+$', 'ab1', false],
    ['^\\p{L}+$', 'größe', true],
    ['^\\p{Greek}+$', 'αβγ', true],
    ['^\\PL+$', 'ab', false],
    ['^(?P<year>\\d{4})-(?P<month>\\d\\d)$', '2024-05', true],
    ['a{,2}', 'a{,2}', true],
    ['^a{2,3}$', 'aaaa', false],
    ['^a{2,}$', 'aaaa', true],
    ['^$', '', true],
    ['$^', '', true],
    ['(?:x|$^)a*', 'aa', false],
    ['', 'anything', true],
    ['\\bfoo\\b', 'a foo b', true],
    ['\\bfoo\\b', 'afoob', false],
    ['(?m)^b$', 'a\nb\nc', true],
    ['a.c', 'a\nc', false],
    ['(?s)a.c', 'a\nc', true],
    ['^.$', '😀', true],
    ['^\\Qa.b\\E$', 'a.b', true],
    ['^\\Qa.b\\E$', 'axb', false],
    ['^[a\\-z]+$', 'a-z', true],
    ['^[]a]+$', ']a', true],
    ['^\\x41\\x{1F600}$', 'A😀', true],
    ['^(a|b|)$', '', true],
    ['[a-z', 'a', undefined],
    ['a**', 'a', undefined],
    ['(?=a)b', 'a', undefined],
    ['(', '(', undefined],
    ['a)', 'a', undefined],
    ['a\\', 'a', undefined],
    ['\\8', 'a', undefined],
    ['a{2000}', 'a', undefined],
  ])('%s on %j gives %s', (pattern, text, expected) => {
    const compiled = goRegexp(pattern);
    expect(typeof compiled === 'string' ? undefined : compiled.test(text)).toBe(expected);
    if (typeof compiled !== 'string') expect(compiled.find(text) !== undefined).toBe(expected);
  });

  it('reports syntax errors in the words of Go', () => {
    expect(goRegexp('[a')).toBe('error parsing regexp: missing closing ]: `[a`');
    expect(goRegexp('*a')).toBe('error parsing regexp: missing argument to repetition operator: `*`');
    expect(goRegexp('(a')).toBe('error parsing regexp: missing closing ): `(a`');
  });

  it('stays linear where a backtracking matcher takes forever', () => {
    expect(new GoRegexp('^(a+)+$').test(`${'a'.repeat(50_000)}!`)).toBe(false);
    expect(new GoRegexp('(x+x+)+y').find('x'.repeat(2_000))).toBeUndefined();
  });

  it('counts what nested repetitions multiply to, as Go does', () => {
    expect(goRegexp('((a{10}){10}){11}')).toBe('error parsing regexp: invalid repeat count: `{11}`');
    expect(goRegexp('(a{10}|(b{100}c)*){11}')).toBe('error parsing regexp: invalid repeat count: `{11}`');
    expect(goRegexp('((a{10}){10}){10}')).toBeInstanceOf(GoRegexp);
    expect(goRegexp('(a{500}b{500}){2}')).toBeInstanceOf(GoRegexp);
  });

  it.each(['(a|b)*a(a|b){300}c', '\\b(a|b)*a(a|b){300}c'])('takes no more steps than its budget: %s', (source) => {
    // The text has no period, because a repeating text would only meet cached states.
    let text = '';
    for (let i = 0, x = 1; i < 5_000; i++) {
      x = (x * 48_271) % 2_147_483_647;
      text += x % 2 === 0 ? 'a' : 'b';
    }
    const regexp = new GoRegexp(source);
    expect(() => regexp.test(text, { left: 100_000 })).toThrow(RegexpBudgetExceeded);
    expect(() => regexp.find(text, 0, { left: 100_000 })).toThrow(RegexpBudgetExceeded);
    const shared = { left: 5_000_000 };
    expect(regexp.test(text.slice(0, 1_000), shared)).toBe(false);
    expect(shared.left).toBeLessThan(5_000_000);
    expect(shared.left).toBeGreaterThan(0);
  });

  it('handles a pattern with more states than are kept', () => {
    const pattern = new GoRegexp('^(a|b)*a(a|b){12}$');
    let text = '';
    for (let i = 0; i < 4_000; i++) text += (i * 7919) % 13 < 6 ? 'a' : 'b';
    expect(pattern.test(text)).toBe(text.at(-13) === 'a');
    expect(pattern.test(`${text}a${'b'.repeat(12)}`)).toBe(true);
  });

  it('finds the leftmost match, preferring earlier alternatives and greed', () => {
    const match = new GoRegexp('(a+)(b|bc)?').find('xxaabc');
    expect(match).toEqual([2, 5, 2, 4, 4, 5]);
    expect([...new GoRegexp('[0-9]+').findAll('1, 22, 333')].map((m) => [m[0], m[1]])).toEqual([
      [0, 1],
      [3, 5],
      [7, 10],
    ]);
    expect([...new GoRegexp('a*').findAll('baac')].map((m) => [m[0], m[1]])).toEqual([
      [0, 0],
      [1, 3],
      [4, 4],
    ]);
  });

  it('agrees with the platform engine where the dialects coincide', () => {
    const atom = fc.constantFrom('a', 'b', '[ab]', '[^a]', '.', '(?:a|b)', '(?:ab|)');
    const piece = fc.tuple(atom, fc.constantFrom('', '*', '+', '?', '{1,2}', '*?')).map(([a, q]) => a + q);
    const pattern = fc
      .tuple(fc.boolean(), fc.array(piece, { minLength: 1, maxLength: 4 }), fc.boolean())
      .map(([start, pieces, end]) => `${start ? '^' : ''}${pieces.join('')}${end ? '$' : ''}`);
    fc.assert(
      fc.property(pattern, fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 }), (source, text) => {
        const ours = new GoRegexp(source);
        const theirs = new RegExp(source, 'u').exec(text);
        expect(ours.test(text)).toBe(theirs !== null);
        const found = ours.find(text);
        expect(found?.slice(0, 2)).toEqual(theirs ? [theirs.index, theirs.index + theirs[0].length] : undefined);
      }),
      { numRuns: 500 },
    );
  });
});
