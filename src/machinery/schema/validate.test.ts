import { describe, expect, it } from 'vitest';
import { formatFieldError } from '../errors/field-error.ts';
import { deepFreeze, type JsonObject, type JsonValue } from '../json/value.ts';
import { asJson } from '../meta/crossings.ts';
import { probeSchema as schema } from './testdata/probe-schema.ts';
import type { Schema } from './types.ts';
import { validateAgainstSchema } from './validate.ts';

function errorsOf(spec: JsonValue, old?: JsonValue): string[] {
  const object = deepFreeze({ apiVersion: 'example.com/v1', kind: 'Probe', metadata: { name: 'x' }, spec });
  const before = old === undefined ? undefined : { ...object, spec: old };
  return validateAgainstSchema(object, schema, before ? { old: before } : {}).map(formatFieldError);
}

describe('validateAgainstSchema', () => {
  // Recorded from kube-apiserver 1.34 for a CustomResourceDefinition with this schema.
  it.each<[JsonObject, string[]]>([
    [
      { replicas: -1 },
      ['spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or equal to 0'],
    ],
    [{ replicas: 11 }, ['spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10']],
    [
      { replicas: 'x' },
      ['spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"'],
    ],
    [
      { replicas: 1.5 },
      ['spec.replicas: Invalid value: "number": spec.replicas in body must be of type integer: "number"'],
    ],
    [
      { replicas: 3000000000 },
      ['spec.replicas: Invalid value: 3000000000: spec.replicas in body should be less than or equal to 10'],
    ],
    [
      { num: 0.1 },
      [
        'spec.num: Invalid value: 0.1: spec.num in body should be a multiple of 0.5',
        'spec.num: Invalid value: 0.1: spec.num in body should be greater than or equal to 0.5',
      ],
    ],
    [{ num: 9.5 }, ['spec.num: Invalid value: 9.5: spec.num in body should be less than 9.5']],
    [{ num: 0.7 }, ['spec.num: Invalid value: 0.7: spec.num in body should be a multiple of 0.5']],
    [
      { num: 10 },
      [
        'spec.num: Invalid value: 0: factor MultipleOf declared for spec.num must be positive: 0',
        'spec.num: Invalid value: 10: spec.num in body should be less than 9',
      ],
    ],
    [{ mult: 4 }, ['spec.mult: Invalid value: 4: spec.mult in body should be a multiple of 3']],
    [{ name: 'a' }, ['spec.name: Invalid value: "a": spec.name in body should be at least 2 chars long']],
    [{ name: 'abcde' }, ['spec.name: Too long: may not be more than 4 bytes']],
    [{ name: 'A1' }, ['spec.name: Invalid value: "A1": spec.name in body should match \'^[a-z]+$\'']],
    [{ name: 'größe' }, ['spec.name: Too long: may not be more than 4 bytes']],
    [{ one: 'ab' }, ['spec.one: Too long: may not be more than 1 byte']],
    [{ mode: 'c' }, ['spec.mode: Unsupported value: "c": supported values: "b", "a"']],
    [
      { mode: 1 },
      [
        'spec.mode: Invalid value: "integer": spec.mode in body must be of type string: "integer"',
        'spec.mode: Unsupported value: 1: supported values: "b", "a"',
      ],
    ],
    [{ nmode: null }, ['spec.nmode: Unsupported value: null: supported values: "b", "a"']],
    [{ level: 3 }, ['spec.level: Unsupported value: 3: supported values: "1", "2"']],
    [{ flag: 'true' }, ['spec.flag: Invalid value: "string": spec.flag in body must be of type boolean: "string"']],
    [{ flag: 1 }, ['spec.flag: Invalid value: "integer": spec.flag in body must be of type boolean: "integer"']],
    [
      { when: 'yesterday' },
      ['spec.when: Invalid value: "yesterday": spec.when in body must be of type date-time: "yesterday"'],
    ],
    [{ when: 5 }, ['spec.when: Invalid value: "int64": spec.when in body must be of type date-time: "int64"']],
    [{ when: true }, ['spec.when: Invalid value: "": spec.when in body must be of type date-time: ""']],
    [{ when: {} }, ['spec.when: Invalid value: "": spec.when in body must be of type date-time: ""']],
    [{ when: 1.5 }, ['spec.when: Invalid value: "float64": spec.when in body must be of type date-time: "float64"']],
    [{ ip: '1.2.3' }, ['spec.ip: Invalid value: "1.2.3": spec.ip in body must be of type ipv4: "1.2.3"']],
    [{ ios: true }, ['spec.ios: Invalid value: "boolean": spec.ios in body must be of type integer,string: "boolean"']],
    [{ ios: 1.5 }, ['spec.ios: Invalid value: "number": spec.ios in body must be of type integer,string: "number"']],
    [{ iosa: '5' }, ['spec.iosa: Invalid value: "5": spec.iosa in body should match \'^[0-9]+%$\'']],
    [
      { iosa: true },
      [
        'spec.iosa: Invalid value: "boolean": spec.iosa in body must be of type integer,string: "boolean"',
        '<nil>: Invalid value: "": "spec.iosa" must validate at least one schema (anyOf)',
        'spec.iosa: Invalid value: "boolean": spec.iosa in body must be of type integer: "boolean"',
      ],
    ],
    [{ tags: [] }, ['spec.tags: Invalid value: 0: spec.tags in body should have at least 1 items']],
    [{ tags: ['a', 'a', 'a'] }, ['spec.tags[1]: Duplicate value: "a"']],
    [{ tags: ['a', 'b', 'c', 'd'] }, ['spec.tags: Too many: 4: must have at most 3 items']],
    [{ tags: [1] }, ['spec.tags[0]: Invalid value: "integer": spec.tags[0] in body must be of type string: "integer"']],
    [{ tags: [null] }, ['spec.tags[0]: Invalid value: "null": spec.tags[0] in body must be of type string: "null"']],
    [{ ports: [{ name: 'a' }, { name: 'a' }] }, ['spec.ports[1]: Duplicate value: {"name":"a"}']],
    [{ ports: [{}] }, ['spec.ports[0].name: Required value']],
    [
      { ports: [{}, {}] },
      [
        'spec.ports[0].name: Required value',
        'spec.ports[1].name: Required value',
        'spec.ports[1]: Duplicate value: {}',
      ],
    ],
    [
      { ports: [{ name: 'a', port: 500 }] },
      ['spec.ports[0].port: Invalid value: 500: spec.ports[0].port in body should be less than or equal to 100'],
    ],
    [
      { plain: [{ port: 500 }, { name: 'a' }] },
      [
        'spec.plain[0].port: Invalid value: 500: spec.plain[0].port in body should be less than or equal to 100',
        'spec.plain[0].name: Required value',
      ],
    ],
    [{ labels: {} }, ['spec.labels: Invalid value: 0: spec.labels in body should have at least 1 properties']],
    [{ labels: { a: 'b', c: 'd', e: 'f' } }, ['spec.labels: Too many: 3: must have at most 2 items']],
    [{ labels: { 'a.b/c': 'long1' } }, ['spec.labels.a.b/c: Too long: may not be more than 3 bytes']],
    [
      { labels: { a: 1 } },
      ['spec.labels.a: Invalid value: "integer": spec.labels.a in body must be of type string: "integer"'],
    ],
    [{ maplists: { 'k/x': ['a', 'a'] } }, ['spec.maplists[k/x][1]: Duplicate value: "a"']],
    [
      { any: {} },
      ['<nil>: Invalid value: "": "spec.any" must validate at least one schema (anyOf)', 'spec.any.a: Required value'],
    ],
    [
      { oneo: {} },
      [
        '<nil>: Invalid value: "": "spec.oneo" must validate one and only one schema (oneOf). Found none valid',
        'spec.oneo.a: Required value',
      ],
    ],
    [
      { oneo: { a: 1, b: 'x' } },
      [
        '<nil>: Invalid value: "": "spec.oneo" must validate one and only one schema (oneOf). Found 2 valid alternatives',
      ],
    ],
    [
      { allo: 1 },
      [
        'spec.allo: Invalid value: 1: spec.allo in body should be greater than or equal to 3',
        '<nil>: Invalid value: "": "spec.allo" must validate all the schemas (allOf)',
      ],
    ],
    [
      { allo: 9 },
      [
        'spec.allo: Invalid value: 9: spec.allo in body should be less than or equal to 5',
        '<nil>: Invalid value: "": "spec.allo" must validate all the schemas (allOf)',
      ],
    ],
    [{ nott: 'xy' }, ['<nil>: Invalid value: "": "spec.nott" must not validate the schema (not)']],
    [{ emb: { a: 1 } }, ['spec.emb.apiVersion: Required value', 'spec.emb.kind: Required value']],
    [
      { emb: { apiVersion: '', kind: 'P d', metadata: { labels: { a: 1 } } } },
      [
        'spec.emb.apiVersion: Invalid value: "": must not be empty',
        "spec.emb.kind: Invalid value: \"P d\": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
        'spec.emb.metadata: Invalid value: {"labels":{"a":1}}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
      ],
    ],
    [
      { emb: { apiVersion: 'a/b/c', kind: 'Pod', metadata: { name: 7 } } },
      [
        'spec.emb.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
        'spec.emb.metadata: Invalid value: {"name":7}: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string',
      ],
    ],
    [{ dur: 'x' }, ['spec.dur: Invalid value: "x": spec.dur in body must be of type duration: "x"']],
    [
      { cidr: '10.0.0.0/33' },
      ['spec.cidr: Invalid value: "10.0.0.0/33": spec.cidr in body must be of type cidr: "10.0.0.0/33"'],
    ],
    [
      { cidr: '10.0.0.0' },
      ['spec.cidr: Invalid value: "10.0.0.0": spec.cidr in body must be of type cidr: "10.0.0.0"'],
    ],
    [{ mail: 'a' }, ['spec.mail: Invalid value: "a": spec.mail in body must be of type email: "a"']],
    [{ mail: 'a@b@c' }, ['spec.mail: Invalid value: "a@b@c": spec.mail in body must be of type email: "a@b@c"']],
    [{ host: 'a.b' }, ['spec.host: Invalid value: "a.b": spec.host in body must be of type hostname: "a.b"']],
    [{ host: 'a_b' }, ['spec.host: Invalid value: "a_b": spec.host in body must be of type hostname: "a_b"']],
    [{ host: '-a' }, ['spec.host: Invalid value: "-a": spec.host in body must be of type hostname: "-a"']],
    [{ uri: 'a/b' }, ['spec.uri: Invalid value: "a/b": spec.uri in body must be of type uri: "a/b"']],
    [
      { uri: 'http://a b/' },
      ['spec.uri: Invalid value: "http://a b/": spec.uri in body must be of type uri: "http://a b/"'],
    ],
    [
      { uri: 'http://a:x/' },
      ['spec.uri: Invalid value: "http://a:x/": spec.uri in body must be of type uri: "http://a:x/"'],
    ],
    [{ uri: ':x' }, ['spec.uri: Invalid value: ":x": spec.uri in body must be of type uri: ":x"']],
    [
      { uri: 'http://a%zz' },
      ['spec.uri: Invalid value: "http://a%zz": spec.uri in body must be of type uri: "http://a%zz"'],
    ],
    [{ byte: '' }, ['spec.byte: Invalid value: "": spec.byte in body must be of type byte: ""']],
    [{ byte: 'YQ' }, ['spec.byte: Invalid value: "YQ": spec.byte in body must be of type byte: "YQ"']],
    [{ mac: '01:23' }, ['spec.mac: Invalid value: "01:23": spec.mac in body must be of type mac: "01:23"']],
    [{ uuid: 'x' }, ['spec.uuid: Invalid value: "x": spec.uuid in body must be of type uuid: "x"']],
    [
      { date: '2024-02-30' },
      ['spec.date: Invalid value: "2024-02-30": spec.date in body must be of type date: "2024-02-30"'],
    ],
    [
      { when: '2024-01-01T00:00:60Z' },
      [
        'spec.when: Invalid value: "2024-01-01T00:00:60Z": spec.when in body must be of type date-time: "2024-01-01T00:00:60Z"',
      ],
    ],
    [
      { when: '2024-01-01T00:00:00' },
      [
        'spec.when: Invalid value: "2024-01-01T00:00:00": spec.when in body must be of type date-time: "2024-01-01T00:00:00"',
      ],
    ],
    [{ ip6: '1.2.3.4' }, ['spec.ip6: Invalid value: "1.2.3.4": spec.ip6 in body must be of type ipv6: "1.2.3.4"']],
    [
      { ip6: 'fe80::1%eth0' },
      ['spec.ip6: Invalid value: "fe80::1%eth0": spec.ip6 in body must be of type ipv6: "fe80::1%eth0"'],
    ],
  ])('refuses %j', (spec, expected) => {
    expect(errorsOf(spec)).toEqual(expected);
  });

  it.each<JsonObject>([
    { ip: '1.2.3.04' },
    { ios: 'a' },
    { iosa: 7 },
    { nul: null },
    { free: { a: { b: 1 }, known: { k: 'v', u: 1 } } },
    { emb: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', foo: 1, labels: { a: 'b' } }, spec: { a: 1 } } },
    { unknown: 1, free: { known: { u: 1 } }, plain: [{ name: 'a', bar: 1 }] },
    { dur: '5 days' },
    { dur: '1h30m' },
    { dur: '0' },
    { dur: '1.5h' },
    { dur: '.5s' },
    { dur: '-1s' },
    { cidr: '10.0.0.0/8' },
    { cidr: 'fe80::/10' },
    { mail: 'a@b' },
    { mail: 'A B <a@b.c>' },
    { host: 'a.com' },
    { host: '1a' },
    { uri: 'http://a/b' },
    { uri: '/a' },
    { uri: 'mailto:x' },
    { uri: 'http://[::1]:80/x' },
    { uri: 'x:' },
    { byte: 'YQ==' },
    { mac: '01:23:45:67:89:ab' },
    { mac: '0123.4567.89ab' },
    { uuid: '6ba7b810-9dad-11d1-80b4-00c04fd430c8' },
    { date: '2024-02-29' },
    { when: '2024-01-01T00:00:00Z' },
    { when: '2024-01-01T00:00:00+02:00' },
    { when: '2024-01-01t00:00:00.5z' },
    { ip6: '::1' },
    { ip6: '::ffff:1.2.3.4' },
    { ip: '::ffff:1.2.3.4' },
  ])('accepts %j', (spec) => {
    expect(errorsOf(spec)).toEqual([]);
  });

  it('names the whole object when a field at its root is missing', () => {
    expect(validateAgainstSchema({}, schema).map(formatFieldError)).toEqual(['spec: Required value']);
  });

  it('puts a given path before every field but not into the sentences', () => {
    const errors = validateAgainstSchema({ spec: { replicas: -1 } }, schema, { path: 'default' });
    expect(errors.map(formatFieldError)).toEqual([
      'default.spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or equal to 0',
    ]);
  });

  it('never throws on an invalid pattern', () => {
    const broken: Schema = { type: 'string', pattern: '(' };
    expect(validateAgainstSchema('x', broken).map(formatFieldError)).toEqual([
      '<nil>: Invalid value: "x":  in body should match \'(, but pattern is invalid: error parsing regexp: missing closing ): `(`\'',
    ]);
  });

  it('follows the data through a recursive schema', () => {
    const node: Schema = { type: 'object', properties: { value: { type: 'integer', minimum: 1 } } };
    node.properties!['next'] = node;
    expect(validateAgainstSchema({ value: 1, next: { value: 2, next: { value: 0 } } }, node)).toHaveLength(1);
  });

  it('does not take inherited members for fields', () => {
    expect(errorsOf(asJson({ constructor: 1, toString: 'x' }))).toEqual([]);
  });
});

describe('validation of updates', () => {
  it.each<[string, JsonObject, JsonObject, string[]]>([
    ['an unchanged value is forgiven', { replicas: -1, mult: 3 }, { replicas: -1, mult: 6 }, []],
    [
      'a changed value is not',
      { replicas: -1 },
      { replicas: -2 },
      ['spec.replicas: Invalid value: -2: spec.replicas in body should be greater than or equal to 0'],
    ],
    [
      'elements of a list-type map are found by key',
      { ports: [{ name: 'a', port: 500 }] },
      {
        ports: [
          { name: 'b', port: 1 },
          { name: 'a', port: 500 },
        ],
      },
      [],
    ],
    [
      'elements of other lists cannot be found again',
      { plain: [{ name: 'a', port: 500 }] },
      { plain: [{ name: 'a', port: 500 }, { name: 'b' }] },
      ['spec.plain[0].port: Invalid value: 500: spec.plain[0].port in body should be less than or equal to 100'],
    ],
    ['map entries are found by key', { labels: { a: 'long1' } }, { labels: { a: 'long1', b: 'x' } }, []],
    ['repeated set members stay when they were there', { tags: ['a', 'a'] }, { tags: ['a', 'a', 'b'] }, []],
    [
      'repeated set members may not come new',
      { tags: ['a'] },
      { tags: ['a', 'a'] },
      ['spec.tags[1]: Duplicate value: "a"'],
    ],
    [
      'a branch is judged as a whole',
      { oneo: {} },
      { oneo: { a: 1, b: 'x' } },
      [
        '<nil>: Invalid value: "": "spec.oneo" must validate one and only one schema (oneOf). Found 2 valid alternatives',
      ],
    ],
  ])('reports the expected errors: %s', (_name, old, spec, expected) => {
    expect(errorsOf(spec, old)).toEqual(expected);
  });
});
