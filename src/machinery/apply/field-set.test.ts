import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../json/value.ts';
import {
  decodeFieldsV1,
  difference,
  encodeFieldsV1,
  equalSets,
  type FieldSet,
  fieldSetOf,
  formatPath,
  hasPath,
  insertNode,
  intersection,
  isEmptySet,
  leaf,
  leaves,
  type MutableFieldSet,
  paths,
  recursiveDifference,
  union,
} from './field-set.ts';
import { comparePathElements } from './path-element.ts';

const elements = ['f:a', 'f:b', 'k:{"port":80}', 'k:{"port":443}', 'v:"x"', 'v:2', 'v:10', 'i:0'];
const path = fc.array(fc.constantFrom(...elements), { minLength: 1, maxLength: 3 });
const pathList = fc.array(path, { maxLength: 8 });

function setOf(list: readonly (readonly string[])[]): FieldSet {
  const set: MutableFieldSet = {};
  for (const item of list) insertNode(set, item, leaf);
  return set;
}

/** Converts a set to plain texts: the model that the operations are checked against. */
function model(set: FieldSet): Set<string> {
  return new Set([...paths(set)].map((item) => JSON.stringify(item)));
}

const setOfPaths = (list: Iterable<string>): FieldSet => setOf([...list].map((item) => JSON.parse(item) as string[]));

describe('field sets', () => {
  it('contain exactly the paths put in', () => {
    fc.assert(
      fc.property(pathList, (list) => {
        const set = setOf(list);
        expect(model(set)).toEqual(new Set(list.map((item) => JSON.stringify(item))));
        for (const item of list) expect(hasPath(set, item)).toBe(true);
        expect(isEmptySet(set)).toBe(list.length === 0);
      }),
    );
  });

  it('unite, subtract and intersect as sets of paths do', () => {
    fc.assert(
      fc.property(pathList, pathList, (left, right) => {
        const a = setOf(left);
        const b = setOf(right);
        const [pa, pb] = [model(a), model(b)];
        expect(equalSets(union(a, b), setOfPaths([...pa, ...pb]))).toBe(true);
        expect(equalSets(difference(a, b), setOfPaths([...pa].filter((p) => !pb.has(p))))).toBe(true);
        expect(equalSets(intersection(a, b), setOfPaths([...pa].filter((p) => pb.has(p))))).toBe(true);
      }),
    );
  });

  it('subtract recursively what lies below a path', () => {
    fc.assert(
      fc.property(pathList, pathList, (left, right) => {
        const starts = (item: string[], prefix: string[]): boolean => prefix.every((e, i) => item[i] === e);
        const kept = left.filter((item) => !right.some((prefix) => starts(item, prefix)));
        expect(equalSets(recursiveDifference(setOf(left), setOf(right)), setOf(kept))).toBe(true);
      }),
    );
  });

  it('list their leaves', () => {
    const set = setOf([['f:a'], ['f:a', 'f:b'], ['f:c']]);
    expect([...paths(leaves(set))].map(formatPath)).toEqual(['.c', '.a.b']);
  });

  it('return the same set when an operation changes nothing', () => {
    const set = setOf([['f:a', 'f:b'], ['f:c']]);
    expect(union(set, setOf([['f:c']]))).toBe(set);
    expect(difference(set, setOf([['f:x'], ['f:a']]))).toBe(set);
    expect(recursiveDifference(set, setOf([['f:x', 'f:b']]))).toBe(set);
  });

  it('survive writing and reading', () => {
    fc.assert(
      fc.property(pathList, fc.constantFrom('typed' as const, 'plain' as const), (list, order) => {
        const set = setOf(list);
        const text = JSON.stringify(encodeFieldsV1(set, order));
        const read = decodeFieldsV1(JSON.parse(text));
        expect(equalSets(read, set)).toBe(true);
        expect(JSON.stringify(encodeFieldsV1(read, order))).toBe(text);
      }),
    );
  });

  it('are written in path order for built-in kinds and in text order for custom ones', () => {
    const set = setOf([
      ['f:p', 'k:{"port":443}', 'f:n'],
      ['f:p', 'k:{"port":443}'],
      ['f:p', 'k:{"port":80}'],
      ['f:a', 'v:10'],
      ['f:a', 'v:9'],
      ['f:a', 'v:"x"'],
    ]);
    expect(JSON.stringify(encodeFieldsV1(set, 'typed'))).toBe(
      '{"f:a":{"v:9":{},"v:10":{},"v:\\"x\\"":{}},"f:p":{"k:{\\"port\\":80}":{},"k:{\\"port\\":443}":{".":{},"f:n":{}}}}',
    );
    expect(JSON.stringify(encodeFieldsV1(set, 'plain'))).toBe(
      '{"f:a":{"v:\\"x\\"":{},"v:10":{},"v:9":{}},"f:p":{"k:{\\"port\\":443}":{".":{},"f:n":{}},"k:{\\"port\\":80}":{}}}',
    );
  });

  it('read what others write, make odd spelling canonical and drop unknown kinds of path elements', () => {
    const written = { 'k:{"b": 1, "a":"<"}': { '.': {} }, 'q:future': {}, 'f:x': { '.': {}, 'f:y': {} } };
    expect(decodeFieldsV1(written)).toEqual({
      'k:{"a":"\\u003c","b":1}': {},
      'f:x': { '.': {}, 'f:y': {} },
    });
  });

  it.each<JsonValue>([{ nocolon: {} }, { 'v:{': {} }, { 'k:[1]': {} }, { 'i:x': {} }, { 'f:a': 1 }, 'text'])(
    'refuse %j',
    (fields) => {
      expect(() => decodeFieldsV1(fields)).toThrowError(SyntaxError);
    },
  );

  it('order path elements totally', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(elements), (shuffled) => {
        const sorted = [...shuffled].sort(comparePathElements);
        expect(sorted).toEqual(elements.filter((element) => shuffled.includes(element)).sort(comparePathElements));
        for (let i = 1; i < sorted.length; i++) expect(comparePathElements(sorted[i - 1]!, sorted[i]!)).toBeLessThan(0);
      }),
    );
  });

  it('print paths as users read them', () => {
    expect(formatPath(['f:spec', 'k:{"port":80,"protocol":"TCP"}', 'f:name'])).toBe(
      '.spec[port=80,protocol="TCP"].name',
    );
    expect(formatPath(['f:finalizers', 'v:"a<b"'.replace('<', '\\u003c'), 'i:3'])).toBe('.finalizers[="a<b"][3]');
    expect([...paths(fieldSetOf(['b'], ['a', 'c'], ['a']))].map(formatPath)).toEqual(['.a', '.b', '.a.c']);
  });
});
