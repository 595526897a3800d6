import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonValues } from '../json/testing/arbitrary.ts';
import { clone, type JsonObject, type JsonValue } from '../json/value.ts';
import { applySchemaDefaults } from './defaults.ts';
import { findUndecodableResource } from './embedded.ts';
import { pruneMetadata } from './metadata.ts';
import { pruneUnknownFields } from './prune.ts';
import { probeSchema } from './testdata/probe-schema.ts';
import { checkTypes, decodeErrorText } from './type-check.ts';
import type { Schema } from './types.ts';

const object = (spec: JsonObject): JsonObject => ({ apiVersion: 'example.com/v1', kind: 'Probe', metadata: {}, spec });

describe('pruneUnknownFields', () => {
  it.each<[string, JsonObject, JsonObject, string[]]>([
    [
      'removes what is not declared and says where it was',
      { unknown: 1, free: { known: { u: 1 } }, plain: [{ name: 'a', bar: 1 }] },
      { free: { known: {} }, plain: [{ name: 'a' }] },
      ['spec.free.known.u', 'spec.plain[0].bar', 'spec.unknown'],
    ],
    ['keeps everything below preserve-unknown-fields', { free: { a: { b: [{}] } } }, { free: { a: { b: [{}] } } }, []],
    ['keeps map entries', { labels: { 'a.b/c': 'x' } }, { labels: { 'a.b/c': 'x' } }, []],
    [
      'cuts the metadata of embedded resources to ObjectMeta',
      {
        emb: {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'x', foo: 1, creationTimestamp: null },
          spec: { a: 1 },
        },
      },
      { emb: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec: { a: 1 } } },
      ['spec.emb.metadata.foo'],
    ],
  ])('prunes as expected: %s', (_name, spec, expected, paths) => {
    const draft = object(clone(spec));
    expect(pruneUnknownFields(draft, probeSchema)).toEqual(paths);
    expect(draft).toEqual(object(expected));
  });

  it('never touches apiVersion, kind and metadata of the object itself', () => {
    const draft = { apiVersion: 'a', kind: 'b', metadata: { anything: 1 }, other: 1 };
    expect(pruneUnknownFields(draft, { type: 'object' })).toEqual(['other']);
    expect(draft).toEqual({ apiVersion: 'a', kind: 'b', metadata: { anything: 1 } });
  });

  it('empties objects in a map of anything, as upstream does', () => {
    const draft = { map: { a: { b: 1 }, c: 1 } };
    pruneUnknownFields(draft, { type: 'object', properties: { map: { type: 'object', additionalProperties: true } } });
    expect(draft).toEqual({ map: { a: {}, c: 1 } });
  });

  it('prunes nothing the second time', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('replicas', 'def', 'plain', 'free', 'zz'), jsonValues()), (spec) => {
        const draft = object(spec as JsonObject);
        pruneUnknownFields(draft, probeSchema);
        const once = clone(draft);
        expect(pruneUnknownFields(draft, probeSchema)).toEqual([]);
        expect(draft).toEqual(once);
      }),
    );
  });
});

describe('applySchemaDefaults', () => {
  const schema: Schema = {
    type: 'object',
    properties: {
      mode: { type: 'string', default: 'auto' },
      maybe: { type: 'string', nullable: true, default: 'x' },
      bare: { type: 'string' },
      nested: { type: 'object', properties: { port: { type: 'integer', default: 80 } } },
      made: { type: 'object', default: {}, properties: { port: { type: 'integer', default: 80 } } },
      list: { type: 'array', items: { type: 'object', properties: { on: { type: 'boolean', default: true } } } },
      map: {
        type: 'object',
        additionalProperties: { type: 'object', properties: { n: { type: 'integer', default: 1 } } },
      },
    },
  };

  it.each<[string, JsonObject, JsonObject]>([
    ['fills in what is absent', {}, { mode: 'auto', maybe: 'x', made: { port: 80 } }],
    [
      'enters only what exists',
      { nested: {}, list: [{}, { on: false }], map: { a: {} } },
      {
        mode: 'auto',
        maybe: 'x',
        made: { port: 80 },
        nested: { port: 80 },
        list: [{ on: true }, { on: false }],
        map: { a: { n: 1 } },
      },
    ],
    [
      'replaces or removes a null that is not allowed',
      { mode: null, bare: null, maybe: null },
      { mode: 'auto', maybe: null, made: { port: 80 } },
    ],
    ['leaves what is there', { mode: 'off' }, { mode: 'off', maybe: 'x', made: { port: 80 } }],
  ])('applies defaults as expected: %s', (_name, draft, expected) => {
    applySchemaDefaults(draft, schema);
    expect(draft).toEqual(expected);
  });

  it('gives every object its own copy of a default', () => {
    const first: JsonObject = {};
    const second: JsonObject = {};
    applySchemaDefaults(first, schema);
    applySchemaDefaults(second, schema);
    (first['made'] as JsonObject)['port'] = 1;
    expect(second['made']).toEqual({ port: 80 });
  });

  it('changes nothing the second time', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('mode', 'maybe', 'nested', 'list', 'map'), jsonValues()), (draft) => {
        applySchemaDefaults(draft as JsonObject, schema);
        const once = clone(draft);
        applySchemaDefaults(draft as JsonObject, schema);
        expect(draft).toEqual(once);
      }),
    );
  });
});

describe('pruneMetadata', () => {
  it('removes fields unknown to ObjectMeta', () => {
    const draft = { metadata: { name: 'x', foo: 1, ownerReferences: [{ name: 'o', bar: 1 }] } };
    expect(pruneMetadata(draft)).toEqual({ unknownFields: ['metadata.foo', 'metadata.ownerReferences[0].bar'] });
    expect(draft).toEqual({ metadata: { name: 'x', ownerReferences: [{ name: 'o' }] } });
  });

  // kube-apiserver prefixes this with `… cannot be handled as a …: `.
  it.each<[JsonValue, string]>([
    [{ labels: { a: 1 } }, 'json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string'],
    [{ labels: 'a' }, 'json: cannot unmarshal string into Go struct field ObjectMeta.labels of type map[string]string'],
    [
      { ownerReferences: [{ name: 1 }] },
      'json: cannot unmarshal number into Go struct field OwnerReference.ownerReferences.name of type string',
    ],
    [
      { ownerReferences: {} },
      'json: cannot unmarshal object into Go struct field ObjectMeta.ownerReferences of type []v1.OwnerReference',
    ],
    [{ generation: '5' }, 'json: cannot unmarshal string into Go struct field ObjectMeta.generation of type int64'],
    [{ generation: 1.5 }, 'json: cannot unmarshal number 1.5 into Go struct field ObjectMeta.generation of type int64'],
    [[], 'json: cannot unmarshal array into Go value of type v1.ObjectMeta'],
    [{ creationTimestamp: 'foo' }, 'parsing time "foo" as "2006-01-02T15:04:05Z07:00": cannot parse "foo" as "2006"'],
  ])('reports %j', (metadata, text) => {
    expect(decodeErrorText(pruneMetadata({ metadata }).mismatch!)).toBe(text);
  });
});

describe('checkTypes', () => {
  it.each<[JsonValue, string | undefined]>([
    [{ spec: { replicas: 1, flag: null } }, undefined],
    [{ spec: { replicas: '1' } }, 'spec.replicas: integer, not string'],
    [{ spec: { replicas: 3e9 } }, 'spec.replicas: int32, not integer'],
    [{ spec: { plain: [{}, { port: 1.5 }] } }, 'spec.plain[1].port: integer, not number'],
    [{ spec: { labels: { a: true } } }, 'spec.labels.a: string, not boolean'],
    [{ spec: { ios: true } }, 'spec.ios: integer or string, not boolean'],
    [{ spec: { when: 'now' } }, 'spec.when: date-time, not string'],
    [{ spec: { byte: '%' } }, 'spec.byte: byte, not string'],
    [{ spec: [] }, 'spec: object, not array'],
    [{ spec: { whatever: 1 } }, undefined],
  ])('checks the types of %j', (value, expected) => {
    const mismatch = checkTypes(value, probeSchema);
    expect(mismatch && `${mismatch.path}: ${mismatch.expected}, not ${mismatch.found}`).toBe(expected);
  });
});

describe('findUndecodableResource', () => {
  it('finds metadata that cannot be decoded', () => {
    const bad = { spec: { emb: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 7 } } } };
    expect(findUndecodableResource(bad, probeSchema)).toMatchObject({
      field: 'spec.emb.metadata',
      detail: 'json: cannot unmarshal number into Go struct field ObjectMeta.name of type string',
    });
    expect(findUndecodableResource({ spec: { emb: { apiVersion: 'v1', kind: 'Pod' } } }, probeSchema)).toBeUndefined();
  });
});
