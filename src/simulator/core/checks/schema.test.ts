import { describe, expect, it } from 'vitest';
import { pythonRepr, pythonText } from './python.ts';
import { type BodySchema, firstError } from './schema.ts';

const text: BodySchema = { type: 'string', minLength: 1, maxLength: 3, pattern: '^[a-z]*$' };

describe('the first error of a body', () => {
  it.each<[string, BodySchema, unknown, string | undefined, (string | number)[]]>([
    ['good text', text, 'abc', undefined, []],
    ['another type', text, 7, "7 is not of type 'string'", []],
    ['several types', { type: ['string', 'null'] }, true, "True is not of type 'string', 'null'", []],
    ['too short', text, '', "'' is too short", []],
    ['too long', text, 'abcd', "'abcd' is too long", []],
    ['no match', text, 'a1', "'a1' does not match '^[a-z]*$'", []],
    ['not in the list', { enum: ['a', null] }, 'b', "'b' is not one of ['a', None]", []],
    ['too small', { type: 'integer', minimum: 1 }, 0, '0 is less than the minimum of 1', []],
    ['too large', { maximum: 1 }, 2, '2 is greater than the maximum of 1', []],
    ['a fraction', { type: 'integer' }, 1.5, "1.5 is not of type 'integer'", []],
    ['not a UUID', { format: 'uuid' }, 'x', "'x' is not a 'uuid'", []],
    ['base64', { format: 'base64' }, 'aGk=', undefined, []],
    ['base64 with line breaks', { format: 'base64' }, 'aGVs\nbG8=', undefined, []],
    ['not base64', { format: 'base64' }, 'aGk', "'aGk' is not a 'base64'", []],
    ['not a regular expression', { format: 'regex' }, '[', "'[' is not a 'regex'", []],
    ['not an address', { format: 'ip-address' }, '1.2.3', "'1.2.3' is not a 'ip-address'", []],
    ['missing', { required: ['a'] }, {}, "'a' is a required property", []],
    ['inside', { properties: { a: { items: text } } }, { a: ['x', 1] }, "1 is not of type 'string'", ['a', 1]],
    [
      'unknown property',
      { properties: { a: {} }, additionalProperties: false },
      { a: 1, b: 2, c: 3 },
      "Additional properties are not allowed ('b', 'c' were unexpected)",
      [],
    ],
    [
      'property of no pattern',
      { patternProperties: { '^x': { type: 'string' } }, additionalProperties: false },
      { y: 'a' },
      "'y' does not match any of the regexes: '^x'",
      [],
    ],
    [
      'value of other properties',
      { additionalProperties: { type: 'string' } },
      { k: 1 },
      "1 is not of type 'string'",
      ['k'],
    ],
    [
      'none of several',
      { oneOf: [{ type: 'null' }, { enum: ['a'] }] },
      'b',
      "'b' is not valid under any of the given schemas",
      [],
    ],
    ['one of several', { anyOf: [{ type: 'null' }, { enum: ['a'] }] }, 'a', undefined, []],
    ['too few items', { minItems: 1 }, [], '[] is too short', []],
    ['too many items', { maxItems: 1 }, [1, 2], '[1, 2] is too long', []],
    ['doubles', { uniqueItems: true }, [1, 1], '[1, 1] has non-unique elements', []],
    ['too few properties', { minProperties: 1 }, {}, '{} does not have enough properties', []],
  ])('is reported for %s', (_name, schema, value, message, path) => {
    const error = firstError(schema, value);
    expect(error?.message).toBe(message);
    expect(error?.path ?? []).toEqual(path);
  });

  it('belongs to the keyword written first', () => {
    const value = { b: 1 };
    expect(firstError({ required: ['a'], additionalProperties: false }, value)?.keyword).toBe('required');
    expect(firstError({ additionalProperties: false, required: ['a'] }, value)?.keyword).toBe('additionalProperties');
  });
});

describe('values as Python writes them', () => {
  it.each<[unknown, string]>([
    [null, 'None'],
    [true, 'True'],
    ["it's", `"it's"`],
    [`it's "so"`, `'it\\'s "so"'`],
    ['a\nb\\', "'a\\nb\\\\'"],
    [[1, 'a', null], "[1, 'a', None]"],
    [{ a: { b: false } }, "{'a': {'b': False}}"],
  ])('are formatted by pythonRepr: %j', (value, expected) => {
    expect(pythonRepr(value)).toBe(expected);
  });

  it('show text without quotes where str() does', () => {
    expect(pythonText('a')).toBe('a');
    expect(pythonText(['a'])).toBe("['a']");
  });
});
