import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clone, type JsonObject } from '../json/value.ts';
import { createJsonPatch } from './create-json-patch.ts';
import { applyJsonPatch } from './json-patch.ts';

describe('createJsonPatch', () => {
  it('returns no operations for equal documents, also with an undefined member', () => {
    expect(createJsonPatch({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }], c: undefined })).toEqual([]);
  });

  it('adds, replaces and removes at the deepest place that differs', () => {
    expect(
      createJsonPatch(
        { spec: { 'a/b~c': 1, list: [{ x: 1 }], gone: true } },
        { spec: { 'a/b~c': 2, list: [{ x: 2 }] } },
      ),
    ).toEqual([
      { op: 'remove', path: '/spec/gone' },
      { op: 'replace', path: '/spec/a~1b~0c', value: 2 },
      { op: 'replace', path: '/spec/list/0/x', value: 2 },
    ]);
  });

  it('is not misled by names that every object has', () => {
    expect(createJsonPatch({}, { constructor: 1 } as JsonObject)).toEqual([
      { op: 'add', path: '/constructor', value: 1 },
    ]);
  });

  it('turns any document into any other', () => {
    const documents = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 3 }), {
      noNullPrototype: true,
    });
    fc.assert(
      fc.property(documents, documents, (one, other) => {
        const [from, to] = [one as JsonObject, other as JsonObject].map(
          (d) => JSON.parse(JSON.stringify(d)) as JsonObject,
        );
        expect(applyJsonPatch(clone(from!), createJsonPatch(from!, to!))).toEqual(to);
      }),
    );
  });
});
