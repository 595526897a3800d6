import fc from 'fast-check';
import type { JsonObject, JsonValue, Schema } from '../../machinery/index.ts';

const words = ['a', 'b1', 'x-y', 'Ready', 'm1.large', '1m0s', '90s', '1h0m0s', 'true', 'v1.31.0', '50%'];
const known: Readonly<Record<string, readonly string[]>> = {
  'date-time': ['2026-01-02T03:04:05Z', '2030-12-31T23:59:59Z'],
  uuid: ['2f4bd8f5-1d0c-4f9e-8a52-6c1e1ac0c001', '2f4bd8f5-1d0c-4f9e-8a52-6c1e1ac0c002'],
  ipv4: ['192.0.2.10', '198.51.100.7'],
};

/** Kinds share parts of their schemas, so the generators of these parts are cached. */
const made = new WeakMap<Schema, fc.Arbitrary<JsonValue>>();

/** Generates values that a schema accepts, except for CEL rules and uniqueness. */
export function arbitraryFor(schema: Schema): fc.Arbitrary<JsonValue> {
  let arbitrary = made.get(schema);
  if (arbitrary === undefined) {
    arbitrary = build(schema);
    made.set(schema, arbitrary);
  }
  return arbitrary;
}

function build(schema: Schema): fc.Arbitrary<JsonValue> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema['x-kubernetes-int-or-string'] === true) {
    return schema.pattern === undefined
      ? fc.oneof(fc.integer({ min: 0, max: 10 }), fc.constantFrom('10%', '25%'))
      : fc.constantFrom('1', '2Gi', '500m');
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) {
    return fc.oneof(
      fc.boolean(),
      fc.integer(),
      fc.constantFrom(...words),
      fc.constant<JsonValue>({ nested: ['deep', { x: 1 }] }),
    );
  }
  switch (schema.type) {
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 100_000 });
    case 'string':
      return stringFor(schema);
    case 'array':
      return fc.array(arbitraryFor(schema.items!), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.max(2, schema.minItems ?? 0),
      });
    default:
      return objectFor(schema);
  }
}

function stringFor(schema: Schema): fc.Arbitrary<string> {
  if (schema.format !== undefined && known[schema.format]) return fc.constantFrom(...known[schema.format]!);
  if (schema.pattern?.includes('[0-9]+-[0-9]+') === true) return fc.constantFrom('[1-3]', '[0-10]');
  const pattern = schema.pattern === undefined ? undefined : new RegExp(schema.pattern);
  const candidates = [...words, 'example.com', 'apps/v1', 'MachineTemplate', ''].filter(
    (word) =>
      word.length >= (schema.minLength ?? 0) &&
      word.length <= (schema.maxLength ?? 999) &&
      (pattern === undefined || pattern.test(word)),
  );
  return fc.constantFrom(...candidates);
}

function objectFor(schema: Schema): fc.Arbitrary<JsonObject> {
  const { properties, additionalProperties, required = [] } = schema;
  if (properties === undefined) {
    if (typeof additionalProperties !== 'object') return fc.constant({});
    return fc.dictionary(fc.constantFrom('a', 'b', 'zone-1'), arbitraryFor(additionalProperties), { maxKeys: 2 });
  }
  const members: Record<string, fc.Arbitrary<JsonValue | undefined>> = {};
  for (const name in properties) {
    const value = arbitraryFor(properties[name]!);
    members[name] = required.includes(name) ? value : fc.option(value, { nil: undefined, freq: 2 });
  }
  return fc.record(members).map((value) => {
    const present = Object.entries(value).filter(([, member]) => member !== undefined);
    const result = Object.fromEntries(present.slice(0, schema.maxProperties ?? present.length));
    if (Object.keys(result).length > 0 || (schema.minProperties ?? 0) === 0) return result;
    return { ...result, ...minimal(properties) };
  });
}

/** Returns an object with one property, for schemas that refuse empty objects. */
function minimal(properties: Record<string, Schema>): JsonObject {
  const [name, schema] =
    Object.entries(properties).find(([, { type }]) => isScalar(type)) ?? Object.entries(properties)[0]!;
  return { [name]: smallest(schema) };
}

const isScalar = (type: Schema['type']): boolean => type !== 'object' && type !== 'array';

function smallest(schema: Schema): JsonValue {
  const { type, enum: values, minimum, properties, required = [], format = '' } = schema;
  if (values !== undefined) return values[0]!;
  if (schema['x-kubernetes-int-or-string'] === true) return schema.pattern === undefined ? 1 : '1';
  if (type === 'string') return known[format]?.[0] ?? 'a';
  if (type === 'integer') return Math.max(minimum ?? 1, 1);
  if (type === 'boolean') return true;
  if (type === 'array') return (schema.minItems ?? 0) > 0 ? [smallest(schema.items!)] : [];
  if (properties === undefined) return {};
  const members = Object.fromEntries(required.map((name) => [name, smallest(properties[name]!)]));
  return (schema.minProperties ?? 0) > 0 && required.length === 0 ? minimal(properties) : members;
}
