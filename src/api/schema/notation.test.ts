import { describe, expect, it } from 'vitest';
import { readFields, readHeaders } from './notation.ts';
import { resolveTypeName, typeTables } from './type-index.ts';
import type { TypeTable } from './type-table.ts';

function table(text: string): TypeTable {
  return { alias: 'sea', group: 'sea', version: 'v1', componentPrefix: 'sea.v1', text };
}

function fieldOf(line: string) {
  const source = table(`\nBoat\n  ${line}\n`);
  return readFields(source, readHeaders(source)[0]!)[0]!;
}

describe('the type notation', () => {
  it('reads type headers with their flags and descriptions', () => {
    const headers = readHeaders(table('\nBoat kind nolist # swims\n  name  1  string\n\nRope atomic\n\nHull\n'));
    expect(headers.map(({ name, flags, description }) => [name, [...flags.keys()], description])).toEqual([
      ['Boat', ['kind', 'nolist'], 'swims'],
      ['Rope', ['atomic'], ''],
      ['Hull', [], ''],
    ]);
  });

  it.each([
    ['name  1  string', { name: 'name', number: 1, typeName: 'string', shape: 'one', pointer: false, description: '' }],
    ['crew  12  *int32', { number: 12, typeName: 'int32', pointer: true }],
    ['ropes  3  []core.Rope', { typeName: 'core.Rope', shape: 'list' }],
    ['notes  4  map[string]string', { typeName: 'string', shape: 'map' }],
    ['...  5  Hull', { typeName: 'Hull', shape: 'inline' }],
    ['$ref  6  *string  # points elsewhere', { name: '$ref', description: 'points elsewhere' }],
  ])('reads the line %s', (line, expected) => {
    expect(fieldOf(line)).toMatchObject(expected);
  });

  it('reads flags with and without arguments', () => {
    const { flags } = fieldOf('uses  1  []string  required enum(|cert sign|s/mime) listmap(a,b) merge(a) # words');
    expect([...flags]).toEqual([
      ['required', ''],
      ['enum', '|cert sign|s/mime'],
      ['listmap', 'a,b'],
      ['merge', 'a'],
    ]);
  });

  it.each(['name string', 'name 1', 'name 1 []', 'name 1 map[int]string'])('refuses the line %s', (line) => {
    expect(() => fieldOf(line)).toThrow(`sea.Boat has a line that is not a field: ${line}`);
  });
});

const typeFlags = new Set(['kind', 'nolist', 'typed', 'everywhere', 'inline', 'atomic', 'union']);
const fieldFlags = new Set([
  'required',
  'always',
  'omitempty',
  'omitzero',
  'default',
  'enum',
  'atomic',
  'set',
  'listmap',
  'granular',
  'merge',
  'retainKeys',
  'replace',
]);
const leaves = new Set(['string', 'bool', 'int32', 'int64', 'double', 'bytes']);
const special = new Set([
  'Time',
  'MicroTime',
  'Quantity',
  'IntOrString',
  'RawExtension',
  'FieldsV1',
  'JSON',
  'JSONSchemaPropsOrArray',
  'JSONSchemaPropsOrBool',
  'JSONSchemaPropsOrStringArray',
  'StringList',
]);

describe.each(typeTables.map((source) => [`${source.alias} types`, source] as const))(
  'the type tables of %s',
  (_name, source) => {
    const headers = readHeaders(source);

    it('declare each type once', () => {
      expect(new Set(headers.map((header) => header.name)).size).toBe(headers.length);
    });

    it('use known flags and types, and each field name and number once', () => {
      for (const header of headers) {
        const fields = readFields(source, header);
        expect([...header.flags.keys()].filter((flag) => !typeFlags.has(flag))).toEqual([]);
        expect(new Set(fields.map((field) => field.number)).size, header.name).toBe(fields.length);
        const named = fields.filter((field) => field.shape !== 'inline').map((field) => field.name);
        expect(new Set(named).size, header.name).toBe(named.length);
        for (const field of fields) {
          expect([...field.flags.keys()].filter((flag) => !fieldFlags.has(flag))).toEqual([]);
          if (leaves.has(field.typeName) || special.has(field.typeName)) continue;
          expect(() => resolveTypeName(source, field.typeName)).not.toThrow();
        }
      }
    });
  },
);
