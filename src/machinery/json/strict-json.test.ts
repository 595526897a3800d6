import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonParseError, maxJsonDepth, parseJsonStrict } from './strict-json.ts';
import { jsonText } from './stringify.ts';

describe('parseJsonStrict', () => {
  it.each<[string, string[]]>([
    ['{"a":1,"b":{"a":1}}', []],
    ['{"a":1,"a":2}', ['a']],
    ['{"spec":{"x":1,"y":2,"x":3}}', ['spec.x']],
    [
      '{"metadata":{"labels":{"app.kubernetes.io/name":"a","app.kubernetes.io/name":"b"}}}',
      ['metadata.labels.app.kubernetes.io/name'],
    ],
    ['{"a":[{"b":1},{"b":1,"b":2},[0,{"c":1,"c":1}]]}', ['a[1].b', 'a[2][1].c']],
    ['[{"a":1,"a":1}]', ['[0].a']],
    ['{"a":{"b":1,"b":2},"a":3}', ['a.b', 'a']],
    ['{"a":1,"a":2,"a":3}', ['a']],
    [String.raw`{"a":"\"b\":\\","b":"\\\"","a":1}`, ['a']],
    [String.raw`{"\u0061":1,"a":2}`, ['a']],
    ['{"a":"x:y{[","b":": :"}', []],
    ['{"a":[],"b":{},"a":null}', ['a']],
    [' \n{ "a" : 1 , "a" : 2 }\t', ['a']],
  ])('finds the duplicate fields of %s', (text, duplicateFields) => {
    expect(parseJsonStrict(text)).toEqual({ value: JSON.parse(text), duplicateFields });
  });

  it('keeps the last of several values', () => {
    expect(parseJsonStrict('{"a":{"b":1},"a":{"c":2}}').value).toEqual({ a: { c: 2 } });
  });

  it('reports at most a hundred duplicates', () => {
    const pairs = Array.from({ length: 150 }, (_, i) => `"f${i}":1,"f${i}":2`);
    expect(parseJsonStrict(`{${pairs.join(',')}}`).duplicateFields).toHaveLength(100);
  });

  it.each(['', '{', '{"a":}', '{a:1}', '{"a":1}x', "{'a':1}", '[1,]', 'NaN', '\u{feff}{}'])('refuses %j', (text) => {
    expect(() => parseJsonStrict(text)).toThrow(JsonParseError);
  });

  it.each([
    ['arrays', (depth: number) => '['.repeat(depth) + ']'.repeat(depth)],
    ['objects', (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`],
  ])('accepts %s up to a depth that every walk can handle, and no deeper', (_what, nest) => {
    expect(parseJsonStrict(nest(maxJsonDepth)).duplicateFields).toEqual([]);
    expect(() => parseJsonStrict(nest(maxJsonDepth + 1))).toThrow('exceeded max depth');
  });

  it.each([
    ['9007199254740991', true],
    ['-9007199254740991', true],
    ['9007199254740992', true],
    ['9007199254740993', false],
    ['9223372036854775807', false],
    ['-9223372036854775808', false],
    ['18446744073709551616', true],
    ['1234567890.12345678901234', true],
    ['12345678901234567890e5', true],
  ])('keeps %s only when it round-trips or Kubernetes would not keep it either: %s', (text, kept) => {
    const parse = (): unknown => parseJsonStrict(`{"a":[1,${text}]}`).value;
    if (kept) expect(parse()).toEqual({ a: [1, Number(text)] });
    else expect(parse).toThrow(text);
  });

  it('refuses keys that objects inherit', () => {
    expect(() => parseJsonStrict('{"a":{"__proto__":{"b":1}}}')).toThrow(JsonParseError);
    expect(() => parseJsonStrict(String.raw`{"\u005f_proto__" : 1}`)).toThrow(JsonParseError);
    expect(parseJsonStrict('{"a":"__proto__","constructor":1}').value).toEqual({ a: '__proto__', constructor: 1 });
  });

  it('agrees with JSON.parse and finds no duplicates in what JSON.stringify wrote', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat({ max: 3 }), (text, indent) => {
        fc.pre(!text.includes('__proto__'));
        const pretty = JSON.stringify(JSON.parse(text), undefined, indent);
        expect(parseJsonStrict(pretty)).toEqual({ value: JSON.parse(pretty), duplicateFields: [] });
      }),
    );
  });

  it('finds a duplicate field anywhere', () => {
    const tree = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, fc.constantFrom('1', '"x"', 'null'), tie('object'), tie('array')),
      object: fc
        .uniqueArray(fc.tuple(fc.string(), tie('value')), { selector: ([key]) => key, maxLength: 4 })
        .map((members) => `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`),
      array: fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    }));
    fc.assert(
      fc.property(tree.value, tree.value, tree.value, (before, twice, after) => {
        const text = `{"b":${before},"l":[${after},{"d":${twice},"x":${before},"d":${after}}]}`;
        fc.pre(!text.includes('__proto__'));
        expect(parseJsonStrict(text).duplicateFields).toEqual(['l[1].d']);
      }),
    );
  });
});

describe('preserved integers beyond 2^53', () => {
  it('are not confused with strings that look like their marks', () => {
    const text = `{"a":9007199254740993,"b":"int64:9007199254740993","c":"${':'.repeat(200_000)}int64:1"}`;
    const { value } = parseJsonStrict(text, 'keep');
    expect(value).toMatchObject({ a: 9007199254740993n, b: 'int64:9007199254740993' });
    expect(jsonText(value)).toBe(text);
  });
});
