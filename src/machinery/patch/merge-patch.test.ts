import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonValues } from '../json/testing/arbitrary.ts';
import { deepEqual, deepFreeze, type JsonObject, type JsonValue } from '../json/value.ts';
import { applyMergePatch, createMergePatch } from './merge-patch.ts';

describe('applyMergePatch', () => {
  it.each<[string, JsonValue, JsonValue, JsonValue]>([
    ['adds and replaces members', { a: 1, b: 2 }, { b: 3, c: 4 }, { a: 1, b: 3, c: 4 }],
    ['null removes', { a: 1, b: 2 }, { b: null }, { a: 1 }],
    ['merges nested objects', { a: { b: 1, c: 2 } }, { a: { c: null, d: 3 } }, { a: { b: 1, d: 3 } }],
    ['replaces lists whole', { a: [1, 2] }, { a: [3] }, { a: [3] }],
    ['an object replaces a scalar', { a: 1 }, { a: { b: 1, c: null } }, { a: { b: 1 } }],
    ['a scalar replaces an object', { a: { b: 1 } }, { a: 'x' }, { a: 'x' }],
    ['new objects lose their nulls', {}, { a: { b: null, c: { d: null } } }, { a: { c: {} } }],
    ['nulls inside new lists of objects go too', {}, { a: [{ b: null, c: 1 }] }, { a: [{ c: 1 }] }],
    ['null where there is nothing does nothing', { a: 1 }, { b: null }, { a: 1 }],
  ])('applies the patch: %s', (_, document, patch, expected) => {
    expect(applyMergePatch(deepFreeze(document), deepFreeze(patch))).toEqual(expected);
  });

  it.each<[JsonValue, string]>([
    [null, 'Invalid JSON Patch'],
    [[], 'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}'],
    ['x', 'error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}'],
    [1, 'error decoding patch: json: cannot unmarshal number into Go value of type map[string]interface {}'],
  ])('refuses %j with 400', (patch, message) => {
    expect(() => applyMergePatch({}, patch)).toThrowError(expect.objectContaining({ status: 400, message }));
  });

  it('returns the same document when nothing changes', () => {
    const document = { a: { b: 1 }, c: 2 };
    expect(applyMergePatch(document, { a: { b: 1 }, c: 2, d: null })).toBe(document);
  });
});

describe('createMergePatch', () => {
  it('is undefined for equal documents', () => {
    expect(createMergePatch({ a: { b: [1] } }, { a: { b: [1] } })).toBeUndefined();
  });

  it('contains only what differs', () => {
    expect(createMergePatch({ a: 1, b: { c: 1, d: 2 }, e: [1] }, { a: 1, b: { c: 2 }, e: [1, 2] })).toEqual({
      b: { c: 2, d: null },
      e: [1, 2],
    });
  });

  it('turns one document into the other', () => {
    const withoutNulls = (value: JsonValue): JsonValue =>
      Array.isArray(value)
        ? value.map(withoutNulls)
        : typeof value === 'object' && value !== null
          ? Object.fromEntries(
              Object.entries(value)
                .filter(([key, member]) => member !== null && key !== '__proto__')
                .map(([key, member]) => [key, withoutNulls(member!)]),
            )
          : value;
    const documents = fc
      .dictionary(fc.constantFrom('a', 'b', 'c'), jsonValues({ maxDepth: 3 }))
      .map((value) => withoutNulls(value as JsonValue) as JsonObject);
    fc.assert(
      fc.property(documents, documents, (from, to) => {
        const patch = createMergePatch(from, to);
        expect(patch === undefined).toBe(deepEqual(from, to));
        expect(applyMergePatch(from, patch ?? {})).toEqual(to);
      }),
      { numRuns: 200 },
    );
  });
});
