import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../json/value.ts';
import type { Schema } from './types.ts';
import { validateAgainstSchema } from './validate.ts';

/** Subset of structural schemas with the same meaning in JSON Schema. Fractional bounds of integers differ. */
const schemas = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.record<Schema>(
      {
        type: fc.constant('integer'),
        minimum: fc.integer({ min: -3, max: 3 }),
        maximum: fc.integer({ min: -3, max: 3 }),
        multipleOf: fc.integer({ min: 1, max: 3 }),
        enum: fc.uniqueArray(fc.integer({ min: -3, max: 3 }), { minLength: 1 }),
      },
      { requiredKeys: ['type'] },
    ),
    fc.record<Schema>(
      {
        type: fc.constant('string'),
        minLength: fc.integer({ min: 0, max: 3 }),
        maxLength: fc.integer({ min: 0, max: 3 }),
        pattern: fc.constantFrom('^a', 'b$', '^[ab]*$', 'c'),
      },
      { requiredKeys: ['type'] },
    ),
    fc.constantFrom<Schema>({ type: 'boolean' }, { type: 'number', minimum: 1 }),
    fc.record<Schema>(
      {
        type: fc.constant('array'),
        items: tie('schema') as fc.Arbitrary<Schema>,
        minItems: fc.integer({ min: 0, max: 2 }),
        maxItems: fc.integer({ min: 0, max: 2 }),
      },
      { requiredKeys: ['type', 'items'] },
    ),
    fc.record<Schema>(
      {
        type: fc.constant('object'),
        properties: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('schema') as fc.Arbitrary<Schema>),
        required: fc.uniqueArray(fc.constantFrom('a', 'b')),
        minProperties: fc.integer({ min: 0, max: 2 }),
        maxProperties: fc.integer({ min: 0, max: 2 }),
      },
      { requiredKeys: ['type', 'properties'] },
    ),
    fc.record<Schema>(
      { type: fc.constant('object'), additionalProperties: tie('schema') as fc.Arbitrary<Schema> },
      { requiredKeys: ['type', 'additionalProperties'] },
    ),
    fc
      .tuple(
        fc.constantFrom<'anyOf' | 'oneOf' | 'allOf'>('anyOf', 'oneOf', 'allOf'),
        fc.array(tie('schema') as fc.Arbitrary<Schema>, { minLength: 1, maxLength: 3 }),
      )
      .map(([junctor, branches]): Schema => ({ [junctor]: branches })),
    (tie('schema') as fc.Arbitrary<Schema>).map((not): Schema => ({ not })),
  ),
}));

const values = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.integer({ min: -4, max: 4 }),
    fc.constantFrom(0.25, 1.5),
    fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 4 }),
    fc.boolean(),
    fc.array(tie('value') as fc.Arbitrary<JsonValue>, { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value') as fc.Arbitrary<JsonValue>),
  ),
}));

describe('validateAgainstSchema and ajv', () => {
  it('agree on what is valid', () => {
    const ajv = new Ajv({ strict: false, logger: false, addUsedSchema: false });
    fc.assert(
      fc.property(schemas.schema, fc.array(values.value, { minLength: 1, maxLength: 8 }), (schema, samples) => {
        const oracle = ajv.compile(schema);
        for (const value of samples) {
          expect(validateAgainstSchema(value, schema).length === 0).toBe(oracle(value));
        }
      }),
      { numRuns: 150 },
    );
  });
});
