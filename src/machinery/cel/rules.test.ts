import { describe, expect, it } from 'vitest';
import { type FieldError, formatFieldError } from '../errors/field-error.ts';
import { deepFreeze, type JsonObject, type JsonValue } from '../json/value.ts';
import type { Schema, ValidationRule } from '../schema/types.ts';
import { compileRules } from './rules.ts';
import { validateCustomResource } from './validate-object.ts';

const rule = (text: string, more: Partial<ValidationRule> = {}): Schema => ({
  'x-kubernetes-validations': [{ rule: text, ...more }],
});

function texts(errors: readonly FieldError[]): string[] {
  return errors.map(formatFieldError);
}

const schema: Schema = deepFreeze({
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        name: { type: 'string', ...rule('self == oldSelf', { message: 'name is immutable' }) },
        size: {
          type: 'integer',
          ...rule('!oldSelf.hasValue() || self >= oldSelf.value()', {
            optionalOldSelf: true,
            messageExpression: "'cannot shrink to ' + string(self)",
          }),
        },
        nodes: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['id'],
          items: {
            type: 'object',
            properties: { id: { type: 'string' }, zone: { type: 'string' } },
            ...rule('self.zone == oldSelf.zone', { fieldPath: '.zone', reason: 'FieldValueForbidden' }),
          },
        },
        plain: { type: 'array', items: { type: 'string', ...rule("self != 'bad'") } },
        labels: { type: 'object', additionalProperties: { type: 'string', ...rule('self.size() < 5') } },
        mode: { type: 'string', enum: ['a', 'b'] },
      },
      ...rule("!has(self.mode) || self.mode != 'b' || has(self.size)", {
        reason: 'FieldValueRequired',
        fieldPath: '.size',
        message: 'mode b needs a size',
      }),
    },
  },
  ...rule("self.metadata.name != 'forbidden' && !has(self.metadata.generateName)"),
});

const object = (spec: JsonObject, name = 'x'): JsonObject =>
  deepFreeze({ apiVersion: 'v1', kind: 'T', metadata: { name }, spec });

describe('validation rules', () => {
  it.each<[string, JsonObject, JsonObject | undefined, string[]]>([
    ['transition rules do not run on create', { name: 'a' }, undefined, []],
    [
      'transition rules run on update',
      { name: 'b' },
      { name: 'a' },
      ['spec.name: Invalid value: "string": name is immutable'],
    ],
    ['a field that is new has nothing to be compared with', { name: 'b' }, {}, []],
    ['optional oldSelf is absent on create', { size: 1 }, undefined, []],
    [
      'optional oldSelf is present on update, and a message may be computed',
      { size: 1 },
      { size: 2 },
      ['spec.size: Invalid value: "integer": cannot shrink to 1'],
    ],
    [
      'list-type map elements are found by key',
      {
        nodes: [
          { id: 'n', zone: 'z' },
          { id: 'm', zone: 'b' },
        ],
      },
      { nodes: [{ id: 'm', zone: 'a' }] },
      ['spec.nodes[1].zone: Forbidden: failed rule: self.zone == oldSelf.zone'],
    ],
    [
      'elements name their index',
      { plain: ['ok', 'bad'] },
      undefined,
      ['spec.plain[1]: Invalid value: "string": failed rule: self != \'bad\''],
    ],
    [
      'map entries name their key',
      { labels: { 'a/b': 'toolong' } },
      undefined,
      ['spec.labels[a/b]: Invalid value: "string": failed rule: self.size() < 5'],
    ],
    [
      'a reason decides the kind of error',
      { mode: 'b' },
      undefined,
      ['spec.size: Required value: mode b needs a size'],
    ],
    ['what did not change is forgiven', { plain: ['bad'], name: 'a' }, { plain: ['bad'], name: 'a' }, []],
    [
      'unless it is part of something that did',
      { plain: ['bad', 'new'] },
      { plain: ['bad'] },
      ['spec.plain[0]: Invalid value: "string": failed rule: self != \'bad\''],
    ],
  ])('report the expected errors: %s', (_name, spec, old, expected) => {
    const errors = validateCustomResource(object(spec), schema, old && object(old));
    expect(texts(errors)).toEqual(expected);
  });

  it('see only the names in the metadata', () => {
    expect(texts(compileRules(schema).validate(object({}, 'forbidden')))).toEqual([
      '<nil>: Invalid value: "object": failed rule: self.metadata.name != \'forbidden\' && !has(self.metadata.generateName)',
    ]);
    const looking: Schema = { type: 'object', ...rule('has(self.metadata.labels)') };
    expect(compileRules(looking).compileErrors('')[0]?.detail).toContain("undefined field 'labels'");
  });

  it('are not run on objects whose type does not match the schema', () => {
    expect(texts(validateCustomResource(object({ mode: 'c', plain: ['bad'] }), schema))).toEqual([
      'spec.mode: Unsupported value: "c": supported values: "a", "b"',
      '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
    ]);
  });

  it('report a missing key they need', () => {
    const needy: Schema = { type: 'object', properties: { a: { type: 'integer' } }, ...rule('self.a > 1') };
    expect(texts(compileRules(needy).validate({}))).toEqual([
      '<nil>: Invalid value: "object": no such key: a evaluating rule: self.a > 1',
    ]);
  });

  it('cannot stall the process', () => {
    const quadratic: Schema = {
      type: 'array',
      items: { type: 'string' },
      ...rule('self.all(x, self.all(y, self.all(z, x != y || y != z || x == z)))'),
    };
    const many: JsonValue = Array.from({ length: 5_000 }, (_, i) => `item-${i}`);
    const [error, ...rest] = compileRules(quadratic).validate(many);
    expect(rest).toEqual([]);
    expect(error?.detail).toMatch(/^'operation cancelled: actual cost limit exceeded': no further validation rules/);
  });

  it('compare large sets without comparing each item with each', () => {
    const set: Schema = {
      type: 'array',
      'x-kubernetes-list-type': 'set',
      items: { type: 'string' },
      ...rule('self == oldSelf'),
    };
    const many = Array.from({ length: 50_000 }, (_, i) => `item-${i}`);
    expect(compileRules(set).validate(many, many.toReversed())).toEqual([]);
  });

  it('compare objects whatever the order of their fields', () => {
    const shape: Schema = {
      type: 'object',
      properties: { a: { type: 'integer' }, b: { type: 'string' }, c: { type: 'array', items: { type: 'integer' } } },
      ...rule('self == oldSelf'),
    };
    expect(compileRules(shape).validate({ a: 1, b: 'x', c: [1] }, { c: [1], b: 'x', a: 1 })).toEqual([]);
    expect(compileRules(shape).validate({ a: 1 }, { a: 2 })).toHaveLength(1);
  });

  it('are compiled once per schema', () => {
    expect(compileRules(schema)).toBe(compileRules(schema));
    expect(compileRules({ type: 'object' }).isEmpty).toBe(true);
  });
});

describe('compileErrors', () => {
  it.each<[string, Schema, string]>([
    [
      'oldSelf where nothing can be correlated',
      { type: 'array', items: { type: 'string', ...rule('self == oldSelf') } },
      'S.items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within S',
    ],
    [
      'optionalOldSelf without oldSelf',
      { type: 'string', ...rule("self != ''", { optionalOldSelf: true }) },
      'S.x-kubernetes-validations[0].optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule',
    ],
    [
      'a rule that is not a condition',
      { type: 'integer', ...rule('self + 1') },
      'S.x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self + 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: cel expression must evaluate to a bool',
    ],
    [
      'a message that is not a text',
      { type: 'integer', ...rule('self != 1', { messageExpression: 'self' }) },
      'S.x-kubernetes-validations[0].messageExpression: Invalid value: {"Rule":"self != 1","Message":"","MessageExpression":"self","Reason":null,"FieldPath":"","OptionalOldSelf":null}: messageExpression must evaluate to a string',
    ],
  ])('reports %s', (_name, node, expected) => {
    expect(texts(compileRules(node).compileErrors('S'))).toEqual([expected]);
  });

  it('reports the place of each error', () => {
    const node: Schema = {
      type: 'object',
      properties: { a: { type: 'integer' } },
      ...rule('self.a == 1 &&\n  self.b', { message: 'm' }),
    };
    expect(compileRules(node).compileErrors('S')[0]?.detail).toBe(
      "compilation failed: ERROR: <input>:2:7: undefined field 'b'\n |   self.b\n | ......^",
    );
  });
});
