import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringifyJson } from './stringify.ts';
import type { JsonObject } from './value.ts';

const long = 'a'.repeat(100);

describe('stringifyJson', () => {
  it.each([
    ['nothing', {}],
    ['absent members', { a: undefined, b: { c: undefined, d: long }, e: undefined }],
    ['members that are all absent', { a: { b: undefined }, c: undefined }],
    [
      'other values beside a long string',
      { data: { a: long, b: null, c: 1.5, d: [long, { e: long }], f: true, g: '' } },
    ],
    ['long strings at the top and in lists', { a: long, b: [long] }],
    ['names that need a backslash', { 'a"b': { 'c\n': long } }],
  ])('writes %s as JSON.stringify does', (_name, object: JsonObject) => {
    expect(stringifyJson(object)).toBe(JSON.stringify(object));
  });

  it.each(['"', '\\', '\n', '\u0000', '\u001f', '\u007f', '\u0080', 'é', '\u2028', '\ud800', '😀', 'ĢœŜ'])(
    'finds %j anywhere in a long string',
    (character) => {
      for (let at = 0; at <= 70; at++) {
        const text = `${'~'.repeat(at)}${character}${' '.repeat(70 - at)}`;
        const object = { data: { text } };
        expect(stringifyJson(object)).toBe(JSON.stringify(object));
      }
    },
  );

  it('writes values that are too long to check as a whole', () => {
    for (const length of [65_531, 65_532, 65_533, 200_000]) {
      const object = { data: { plain: 'x'.repeat(length), quoted: `${'x'.repeat(length - 1)}"` } };
      expect(stringifyJson(object)).toBe(JSON.stringify(object));
    }
  });

  it('agrees with JSON.stringify on anything', () => {
    const text = fc.oneof(
      fc.string({ maxLength: 100, unit: 'binary' }),
      fc.string({ minLength: 60, maxLength: 100, unit: 'grapheme-ascii' }),
    );
    const key = fc.string({ maxLength: 8 }).filter((name) => name !== '__proto__');
    const members = fc.dictionary(key, fc.oneof(text, fc.constant(undefined), fc.array(text, { maxLength: 2 })), {
      maxKeys: 4,
    });
    fc.assert(
      fc.property(fc.dictionary(key, fc.oneof(text, members), { maxKeys: 4 }), (object) => {
        expect(stringifyJson(object as JsonObject)).toBe(JSON.stringify(object));
      }),
    );
  });
});
