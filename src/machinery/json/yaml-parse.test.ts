import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from './value.ts';
import { formatYaml } from './yaml-format.ts';
import { parseYaml, parseYamlDocuments, YamlParseError } from './yaml-parse.ts';

interface GoldenCase {
  text: string;
  /** result of sigs.k8s.io/yaml; absent if it rejects the text */
  json?: string;
  /** upstream reports a duplicate key in strict mode */
  duplicate?: boolean;
  /** reason for a deliberate difference */
  differs?: string;
}

const golden = JSON.parse(readFileSync(new URL('testdata/kubectl-yaml.json', import.meta.url), 'utf8')) as GoldenCase[];

describe('parseYaml', () => {
  it.each(golden.filter(({ differs, json }) => !differs && json !== undefined))(
    'reads $text as kubectl does',
    ({ text, json, duplicate }) => {
      const { value, duplicateFields } = parseYaml(text);
      expect(value).toEqual(JSON.parse(json!));
      expect(duplicateFields.length > 0).toBe(duplicate === true);
    },
  );

  it.each(golden.filter(({ differs, json }) => !differs && json === undefined))(
    'refuses $text as kubectl does',
    ({ text }) => {
      expect(() => parseYaml(text)).toThrow(YamlParseError);
    },
  );

  it.each<[string, string[], number[]]>([
    ['spec:\n  x: 1\n  y: 2\n  x: 3\n', ['spec.x'], [4]],
    ['a:\n- b: 1\n- b: 1\n  b: 2\n', ['a[1].b'], [4]],
    ['yes: 1\ntrue: 2\n', ['true'], [2]],
  ])('reports paths and lines of the duplicate keys of %j', (text, fields, lines) => {
    const { duplicateFields, duplicates } = parseYaml(text);
    expect(duplicateFields).toEqual(fields);
    expect(duplicates.map(({ line }) => line)).toEqual(lines);
  });

  it.each([
    ['a:\n  b: [\n  1,\n  2\n]\nc: 3\n', { a: { b: [1, 2] }, c: 3 }],
    ['a:\n  - b: [\n"x",\n"z"]\n    c: {d: 1,\ne: 2\n}\nf: 1\n', { a: [{ b: ['x', 'z'], c: { d: 1, e: 2 } }], f: 1 }],
  ])('accepts lists and maps in brackets that end left of where they began: %j', (text, value) => {
    expect(parseYaml(text).value).toEqual(value);
  });

  it.each<[string, number]>([
    ['a: 1\nb:\n\tc: 2\n', 3],
    ['a: 1\nb: [1\nc: 2\n', 3],
    ['a: 1\nb: *none\n', 2],
    ['a: 1\n---\nb: "\n', 4],
    ['a: 1\nbig: 9223372036854775807\n', 2],
    ['a:\n  ~: 1\n', 2],
    ['a: .inf\n', 1],
  ])('names the line of the error in %j', (text, line) => {
    expect(() => parseYamlDocuments(text)).toThrow(expect.objectContaining({ line }));
    expect(() => parseYamlDocuments(text)).toThrow(`yaml: line ${line}: `);
  });

  it('reads JSON as JSON, duplicates included', () => {
    expect(parseYaml(' {"a":{"b":1,"b":2}}')).toMatchObject({ value: { a: { b: 2 } }, duplicateFields: ['a.b'] });
  });

  it('returns null for an empty text', () => {
    expect(parseYaml('# nothing\n').value).toBeNull();
  });

  it('stops aliases from growing a small document without bound', () => {
    const levels = Array.from({ length: 12 }, (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i},`.repeat(9)}]`);
    const bomb = `l0: &l0 [x,x,x,x,x,x,x,x,x]\n${levels.join('\n')}\n`;
    expect(() => parseYaml(bomb)).toThrow('excessive aliasing');
  });

  it('gives every alias a value of its own', () => {
    const { value } = parseYaml('a: &x {b: 1}\nc: *x\n');
    const { a, c } = value as { a: { b: number }; c: { b: number } };
    a.b = 2;
    expect(c.b).toBe(1);
  });

  it.each([
    ['[', ']'],
    ['{a: ', '}'],
  ])('refuses too deep nesting in %s', (open, close) => {
    for (const depth of [1500, 50_000]) {
      expect(() => parseYaml(`a: ${open.repeat(depth)}${close.repeat(depth)}`)).toThrow('exceeded max depth');
    }
  });

  it('refuses keys that objects inherit', () => {
    expect(() => parseYaml('__proto__: {a: 1}')).toThrow(YamlParseError);
  });
});

describe('parseYamlDocuments', () => {
  it('reads every document with content and says where it starts', () => {
    const documents = parseYamlDocuments('# intro\n---\na: 1\n---\n---\n# only a comment\n---\nnull\n--- {b: 2}\n');
    expect(documents.map(({ value, line }) => [value, line])).toEqual([
      [{ a: 1 }, 3],
      [{ b: 2 }, 9],
    ]);
  });

  it('returns nothing for an empty text', () => {
    expect(parseYamlDocuments('')).toEqual([]);
  });
});

describe('formatYaml', () => {
  it.each<[string, JsonValue, string]>([
    [
      'sorted keys, numbers in them by value',
      { b: 1, a10: 1, a2: 1, A: 1, '1': 1 },
      '"1": 1\nA: 1\na2: 1\na10: 1\nb: 1\n',
    ],
    [
      'lists at the level of their key',
      { a: [{ b: 1, c: [1] }, [2, [3]]] },
      'a:\n- b: 1\n  c:\n  - 1\n- - 2\n  - - 3\n',
    ],
    ['empty collections', { a: {}, b: [], c: [{}] }, 'a: {}\nb: []\nc:\n- {}\n'],
    [
      'strings that look like something else',
      ['yes', '1', '0x1', '1e3', '~', '', '2001-01-01', '08:30', '1.5', 'null'],
      '- "yes"\n- "1"\n- "0x1"\n- "1e3"\n- "~"\n- ""\n- "2001-01-01"\n- "08:30"\n- "1.5"\n- "null"\n',
    ],
    [
      'strings with indicators',
      ['a: b', '# c', '- d', "it's", '*x', 'a #b', '{', ' x', '@y'],
      "- 'a: b'\n- '# c'\n- '- d'\n- it's\n- '*x'\n- 'a #b'\n- '{'\n- ' x'\n- '@y'\n",
    ],
    [
      'strings of several lines',
      { a: 'x\ny\n', b: 'x\ny', c: '\n x\n\n', d: ['p\nq\n'] },
      'a: |\n  x\n  y\nb: |-\n  x\n  y\nc: |2+\n\n   x\n\nd:\n- |\n  p\n  q\n',
    ],
    ['strings that need escapes', ['a\tb', 'x \ny', '😀\n', 'é'], '- "a\\tb"\n- "x \\ny"\n- "\\U0001F600\\n"\n- é\n'],
    [
      'numbers',
      [1, -2.5, 1e6, 1.5e6 + 0.5, 1e20, 1e21, 1e-7, 0.0001],
      '- 1\n- -2.5\n- 1000000\n- 1.5000005e+06\n- 1e+20\n- 1e+21\n- 1e-07\n- 0.0001\n',
    ],
    ['scalars alone', 'x', 'x\n'],
    ['null and booleans', [null, true, false], '- null\n- true\n- false\n'],
    ['keys that would be something else', { yes: 1, '<<': 2, 'a: b': 3 }, '"<<": 2\n\'a: b\': 3\n"yes": 1\n'],
    ['keys too long for one line', { ['k'.repeat(129)]: { a: 1 } }, `? ${'k'.repeat(129)}\n: a: 1\n`],
  ])('writes %s as kubectl does', (_what, value, text) => {
    expect(formatYaml(value)).toBe(text);
  });

  it('leaves out undefined members', () => {
    expect(formatYaml({ a: undefined, b: { c: undefined } })).toBe('b: {}\n');
  });

  it('writes what parseYaml reads back', () => {
    const tricky = fc
      .array(
        fc.constantFrom(
          'a',
          '1',
          'yes',
          '-',
          ':',
          ' ',
          '#',
          '\n',
          '\t',
          '"',
          "'",
          '{',
          ']',
          ',',
          '&',
          '|',
          '>',
          '%',
          '?',
          '.',
          '~',
          '\r',
          '\u2028',
          '---',
          '<<',
          '😀',
        ),
        { maxLength: 5 },
      )
      .map((parts) => parts.join(''));
    const leaf = fc.oneof(
      tricky,
      fc.string(),
      fc.boolean(),
      fc.constant(null),
      fc.maxSafeInteger(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
    );
    const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.dictionary(tricky, tie('value'), { maxKeys: 4 }),
        fc.array(tie('value'), { maxLength: 3 }),
      ) as fc.Arbitrary<JsonValue>,
    }));
    fc.assert(
      fc.property(value, (original) => {
        expect(parseYaml(formatYaml(original)).value).toEqual(JSON.parse(JSON.stringify(original)));
      }),
      { numRuns: 200 },
    );
  });
});
