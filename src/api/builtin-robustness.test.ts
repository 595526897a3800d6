import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  clone,
  type JsonObject,
  type JsonValue,
  type Schema,
  type StrategyContext,
  seededRandom,
  type UnstructuredObject,
} from '../machinery/index.ts';
import { builtinDefinitions } from './builtin.ts';

const context: StrategyContext = { nowMs: 0, random: seededRandom(1), user: 'someone' };
const texts = fc.constantFrom(
  '',
  'a',
  'A_b',
  '10%',
  '1Gi',
  '10.0.0.1',
  '*/5 * * * *',
  'Always',
  '2026-01-01T00:00:00Z',
);

/** Generates values that match a schema by type only: everything that kube-apiserver can decode. */
function valueFor(schema: Schema, depth: number): fc.Arbitrary<JsonValue> {
  if (schema['x-kubernetes-int-or-string']) return fc.oneof(texts, fc.integer({ min: -1, max: 70000 }));
  switch (schema.type) {
    case 'string':
      return texts;
    case 'integer':
    case 'number':
      return fc.integer({ min: -1, max: 700 });
    case 'boolean':
      return fc.boolean();
    case 'array':
      if (depth <= 0 || !schema.items) return fc.constant([]);
      return fc.array(valueFor(schema.items, depth - 1), { maxLength: 2 });
    default:
      return objectFor(schema, depth);
  }
}

function objectFor(schema: Schema, depth: number): fc.Arbitrary<JsonObject> {
  const { properties, additionalProperties } = schema;
  if (depth <= 0) return fc.constant({});
  if (properties) {
    const members: Record<string, fc.Arbitrary<JsonValue>> = {};
    for (const [name, member] of Object.entries(properties))
      members[name] = fc.memo(() => valueFor(member, depth - 1))(1);
    return fc.record(members, { requiredKeys: [] }) as fc.Arbitrary<JsonObject>;
  }
  if (typeof additionalProperties === 'object') {
    return fc.dictionary(fc.constantFrom('a', 'cpu', 'x/y', 'a b'), valueFor(additionalProperties, depth - 1), {
      maxKeys: 2,
    });
  }
  return fc.constant({});
}

describe('any object that can be decoded', () => {
  it.each(builtinDefinitions.map((definition) => [`${definition.group}/${definition.kind}`, definition] as const))(
    'is defaulted, validated, selected and printed without an exception: %s',
    (_name, definition) => {
      const { strategy } = definition;
      const version = definition.versions[0]!;
      const apiVersion = definition.group === '' ? version.name : `${definition.group}/${version.name}`;
      const {
        metadata: _metadata,
        apiVersion: _apiVersion,
        kind: _kind,
        ...properties
      } = version.schema.properties ?? {};
      const bodies = objectFor({ type: 'object', properties }, 7);
      const exercise = (body: JsonObject, other: JsonObject): void => {
        const make = (content: JsonObject): UnstructuredObject =>
          ({
            ...clone(content),
            apiVersion,
            kind: definition.kind,
            metadata: { name: 'x', uid: 'u' },
          }) as UnstructuredObject;
        const object = make(body);
        strategy.applyDefaults?.(object);
        strategy.prepareForCreate?.(object, context);
        strategy.validateCreate?.(object, context);
        const next = make(other);
        strategy.applyDefaults?.(next);
        strategy.prepareForUpdate?.(next, object, context);
        strategy.prepareForStatusUpdate?.(next, object, context);
        strategy.validateUpdate?.(next, object, context);
        strategy.validateStatusUpdate?.(next, object, context);
        strategy.warnings?.(next, object);
        strategy.gracePeriodSeconds?.(next);
        for (const read of Object.values(version.selectableFields ?? {})) expect(typeof read(next)).toBe('string');
        expect(version.printer.row(next, 0)).toHaveLength(version.printer.columns.length);
        for (const { name } of definition.versions.slice(1)) definition.convert?.(next, name);
      };
      exercise({}, {});
      fc.assert(fc.property(bodies, bodies, exercise), { numRuns: 15, seed: 7 });
    },
  );
});
