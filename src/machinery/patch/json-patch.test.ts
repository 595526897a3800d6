import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonValues } from '../json/testing/arbitrary.ts';
import { clone, deepFreeze, type JsonValue } from '../json/value.ts';
import { applyJsonPatch, maxJsonPatchOperations, maxJsonPatchSteps } from './json-patch.ts';
import { PatchError } from './patch-error.ts';

const document: JsonValue = deepFreeze({
  data: { a: '1' },
  metadata: { finalizers: ['a.b/c', 'd.e/f'] },
  nothing: null,
});

const rejected = 'the server rejected our request due to an error in our request';

function failure(patch: unknown): { status: number; reason: string; message: string } {
  try {
    applyJsonPatch(document, patch);
  } catch (error) {
    if (error instanceof PatchError) return { status: error.status, reason: error.reason, message: error.message };
    throw error;
  }
  throw new Error('the patch was accepted');
}

describe('applyJsonPatch', () => {
  // Recorded from kube-apiserver 1.34.
  it.each<[string, unknown[], JsonValue]>([
    ['add sets a member', [{ op: 'add', path: '/data/b', value: '2' }], { a: '1', b: '2' }],
    ['add overwrites a member', [{ op: 'add', path: '/data/a', value: '2' }], { a: '2' }],
    ['add without value writes null', [{ op: 'add', path: '/data/b' }], { a: '1', b: null }],
    ['replace of an absent member adds it', [{ op: 'replace', path: '/data/b', value: 'x' }], { a: '1', b: 'x' }],
    ['remove drops a member', [{ op: 'remove', path: '/data/a' }], {}],
    ['copy of an absent member writes null', [{ op: 'copy', from: '/data/x', path: '/data/b' }], { a: '1', b: null }],
    ['move renames a member', [{ op: 'move', from: '/data/a', path: '/data/b' }], { b: '1' }],
    ['escapes are decoded', [{ op: 'add', path: '/data/x~1y~0z', value: 1 }], { a: '1', 'x/y~z': 1 }],
    ['test of an absent member accepts null', [{ op: 'test', path: '/data/zz', value: null }], { a: '1' }],
    ['a null patch does nothing', [], { a: '1' }],
  ])('applies the patch: %s', (_, patch, data) => {
    expect(applyJsonPatch(document, patch)).toEqual({ ...(document as object), data });
  });

  it.each<[string, unknown[], string[]]>([
    [
      'add inserts before an index',
      [{ op: 'add', path: '/metadata/finalizers/1', value: 'x' }],
      ['a.b/c', 'x', 'd.e/f'],
    ],
    ['add appends at the end', [{ op: 'add', path: '/metadata/finalizers/-', value: 'x' }], ['a.b/c', 'd.e/f', 'x']],
    [
      'add may append by the length',
      [{ op: 'add', path: '/metadata/finalizers/2', value: 'x' }],
      ['a.b/c', 'd.e/f', 'x'],
    ],
    ['remove takes an item out', [{ op: 'remove', path: '/metadata/finalizers/0' }], ['d.e/f']],
    ['negative indexes count from the end', [{ op: 'remove', path: '/metadata/finalizers/-1' }], ['a.b/c']],
    ['replace changes an item', [{ op: 'replace', path: '/metadata/finalizers/0', value: 'x' }], ['x', 'd.e/f']],
    [
      'copies are independent',
      [
        { op: 'copy', from: '/metadata', path: '/other' },
        { op: 'add', path: '/other/finalizers/-', value: 'z' },
        { op: 'remove', path: '/other' },
      ],
      ['a.b/c', 'd.e/f'],
    ],
  ])('applies the operation: %s', (_, patch, finalizers) => {
    expect(applyJsonPatch(document, patch)).toEqual({ ...(document as object), metadata: { finalizers } });
  });

  it.each<[string, unknown]>([
    ['a test that fails', { op: 'test', path: '/data/a', value: '2' }],
    ['a test of a missing member', { op: 'test', path: '/data/zz', value: '2' }],
    ['a test through a missing parent', { op: 'test', path: '/nope/zz', value: '2' }],
    ['a test of a missing item', { op: 'test', path: '/metadata/finalizers/9', value: 'a' }],
    ['remove of a missing member', { op: 'remove', path: '/data/zz' }],
    ['remove of a missing item', { op: 'remove', path: '/metadata/finalizers/9' }],
    ['remove of the item after the last', { op: 'remove', path: '/metadata/finalizers/-' }],
    ['replace through a missing parent', { op: 'replace', path: '/nope/zz', value: 'x' }],
    ['replace of a missing item', { op: 'replace', path: '/metadata/finalizers/9', value: 'a' }],
    ['add through a missing parent', { op: 'add', path: '/nope/zz', value: 'x' }],
    ['add past the end', { op: 'add', path: '/metadata/finalizers/9', value: 'x' }],
    ['add at something that is no index', { op: 'add', path: '/metadata/finalizers/x', value: 'x' }],
    ['add below a scalar', { op: 'add', path: '/data/a/b', value: 'x' }],
    ['add of the whole document', { op: 'add', path: '', value: {} }],
    ['move from a missing member', { op: 'move', from: '/data/nope', path: '/data/b' }],
    ['move to a missing parent', { op: 'move', from: '/data/a', path: '/nope/b' }],
    ['copy from a missing parent', { op: 'copy', from: '/nope/a', path: '/data/b' }],
    ['an unknown operation', { op: 'bogus', path: '/data/a' }],
    ['an operation without op', { path: '/data/a' }],
    ['an operation without path', { op: 'add', value: 'x' }],
    ['a move without from', { op: 'move', path: '/data/a' }],
    ['a null operation', null],
  ])('refuses %s with 422', (_, operation) => {
    expect(failure([operation])).toEqual({ status: 422, reason: 'Invalid', message: rejected });
  });

  it.each<[string, unknown, string]>([
    ['an object', {}, 'json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp'],
    ['text', 'x', 'json: cannot unmarshal string into Go value of type []handlers.jsonPatchOp'],
    ['numbers as operations', [1], 'json: cannot unmarshal number into Go value of type handlers.jsonPatchOp'],
    ['a number as op', [{ op: 1 }], 'json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string'],
    [
      'a number as path',
      [{ op: 'add', path: 1 }],
      'json: cannot unmarshal number into Go struct field jsonPatchOp.path of type string',
    ],
  ])('refuses %s with 400', (_, patch, message) => {
    expect(failure(patch)).toEqual({ status: 400, reason: 'BadRequest', message: `error decoding patch: ${message}` });
  });

  it('refuses more operations than kube-apiserver accepts', () => {
    const operation = { op: 'test', path: '/data/a', value: '1' };
    expect(applyJsonPatch(document, Array(maxJsonPatchOperations).fill(operation))).toBe(document);
    expect(failure(Array(maxJsonPatchOperations + 1).fill(operation))).toEqual({
      status: 413,
      reason: 'RequestEntityTooLarge',
      message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    });
  });

  it('replaces the whole document', () => {
    expect(applyJsonPatch(document, [{ op: 'replace', path: '', value: { a: 1 } }])).toEqual({ a: 1 });
  });

  it('shares the parts it does not touch', () => {
    const patched = applyJsonPatch(document, [{ op: 'add', path: '/data/b', value: '2' }]) as Record<string, JsonValue>;
    expect(patched['metadata']).toBe((document as Record<string, JsonValue>)['metadata']);
  });

  it('never reaches a prototype', () => {
    expect(failure([{ op: 'add', path: '/data/__proto__', value: { polluted: true } }]).status).toBe(422);
    expect(failure([{ op: 'add', path: '/__proto__/polluted', value: true }]).status).toBe(422);
    expect(failure([{ op: 'add', path: '/constructor/prototype/x', value: 1 }]).status).toBe(422);
  });

  it('refuses to nest deeper than a request body may', () => {
    const chain = '/a'.repeat(400);
    let deep: JsonValue = {};
    for (let i = 0; i < 400; i++) deep = { a: deep };
    const nest = [
      { op: 'add', path: '/x', value: deep },
      { op: 'copy', from: '/x', path: `/x${chain}/b` },
    ];
    expect(() => applyJsonPatch(document, nest)).toThrow(
      expect.objectContaining({ status: 422, detail: 'exceeded max depth' }),
    );
    expect(() => applyJsonPatch(document, nest.slice(0, 1))).not.toThrow();
  });

  it('refuses copies that would grow endlessly', () => {
    const copies = Array.from({ length: 40 }, (_, i) => ({ op: 'copy', from: '/data', path: `/data/k${i}` }));
    expect(() => applyJsonPatch(document, copies)).toThrow(
      expect.objectContaining({ status: 422, detail: expect.stringContaining('exceeding the limit') }),
    );
  });

  describe('the work behind a patch', () => {
    const tooMuch = expect.objectContaining({ status: 413, message: expect.stringContaining(`${maxJsonPatchSteps}`) });
    const repeat = (operation: object): object[] => Array.from({ length: maxJsonPatchOperations }, () => operation);

    it('is limited where each operation shifts a long list', () => {
      const long = { list: Array.from({ length: 200_000 }, (_, index) => index) };
      for (const operation of [
        { op: 'move', from: '/list/0', path: '/list/199999' },
        { op: 'move', from: '/list/199999', path: '/list/0' },
        { op: 'add', path: '/list/0', value: 0 },
        { op: 'remove', path: '/list/0' },
      ]) {
        expect(() => applyJsonPatch(long, repeat(operation)), JSON.stringify(operation)).toThrow(tooMuch);
      }
    });

    it('is limited where each operation moves a large value', () => {
      const large = { a: { list: Array.from({ length: 20_000 }, () => ({})) }, b: {} };
      const there = { op: 'move', from: '/a', path: '/b/a' };
      const back = { op: 'move', from: '/b/a', path: '/a' };
      const patch = repeat(there).map((operation, index) => (index % 2 === 0 ? operation : back));
      expect(() => applyJsonPatch(large, patch)).toThrow(tooMuch);
    });

    it('is limited where each operation compares with a large object', () => {
      const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, index]));
      const patch = [
        ...repeat({ op: 'test', path: '/wide', value: wide }).slice(1),
        { op: 'add', path: '/done', value: true },
      ];
      expect(() => applyJsonPatch({ wide }, patch)).toThrow(tooMuch);
    });

    it('leaves room for ordinary patches', () => {
      const list = Array.from({ length: 1000 }, (_, index) => ({ name: `n${index}`, value: { deep: [index] } }));
      const patch = repeat({ op: 'move', from: '/list/0', path: '/list/999' });
      expect(applyJsonPatch({ list }, patch)).toEqual({ list });
    });
  });

  it('leaves its input alone and undoes what it did on failure', () => {
    const keys = fc.constantFrom('a', 'b', 'c/d', 'e~f');
    fc.assert(
      fc.property(fc.dictionary(keys, jsonValues()), keys, jsonValues(), (object, key, value) => {
        const before = clone(object) as JsonValue;
        const path = `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
        const frozen = deepFreeze(clone(object)) as JsonValue;
        const added = applyJsonPatch(frozen, [{ op: 'add', path, value }]);
        expect(added).toEqual({ ...object, [key]: value });
        const undo = key in object ? { op: 'replace', path, value: object[key] } : { op: 'remove', path };
        expect(applyJsonPatch(added, [undo])).toEqual(before);
      }),
      { numRuns: 50 },
    );
  });
});
