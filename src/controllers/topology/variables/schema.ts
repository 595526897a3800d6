import type { VariableSchema } from '../../../api/index.ts';
import { isJsonObject, type JsonValue, type Schema } from '../../../machinery/index.ts';

// Variable schemas are a subset of JSON schema. Values and schemas are wrapped in an object with one property, because
// the schema code requires objects and variables may have any type.

/** Name of that property; removed from error paths by `unwrapPath`. */
export const wrapped = 'value';

const plainFields = [
  'description',
  'example',
  'type',
  'maxProperties',
  'minProperties',
  'maxItems',
  'minItems',
  'uniqueItems',
  'format',
  'maxLength',
  'minLength',
  'pattern',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-int-or-string',
  'enum',
  'default',
  'required',
  'x-kubernetes-validations',
] as const;

const schemas = new WeakMap<object, Schema>();

/** Builds the schema of `{ value: <variable> }`. Memoized per variable, so that its rules are compiled once. */
export function wrappedSchema(schema: VariableSchema): Schema {
  let made = schemas.get(schema);
  if (!made) {
    made = { type: 'object', properties: { [wrapped]: toSchema({ ...schema } as JsonValue) } };
    schemas.set(schema, made);
  }
  return made;
}

/** Drops keywords outside of the subset, as upstream's decoder does. */
function toSchema(value: JsonValue | undefined): Schema {
  if (!isJsonObject(value)) return {};
  const schema: Record<string, unknown> = {};
  for (const name of plainFields) if (value[name] !== undefined) schema[name] = value[name];
  const { properties, items, additionalProperties, not } = value;
  if (isJsonObject(properties)) schema['properties'] = mapValues(properties, toSchema);
  if (items !== undefined) schema['items'] = toSchema(items);
  if (additionalProperties !== undefined) {
    schema['additionalProperties'] =
      typeof additionalProperties === 'boolean' ? additionalProperties : toSchema(additionalProperties);
  }
  if (not !== undefined) schema['not'] = toSchema(not);
  for (const name of ['allOf', 'oneOf', 'anyOf']) {
    const branches = value[name];
    if (Array.isArray(branches)) schema[name] = branches.map(toSchema);
  }
  return schema as Schema;
}

function mapValues<T>(
  record: Readonly<Record<string, JsonValue | undefined>>,
  map: (value: JsonValue | undefined) => T,
): Record<string, T> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}

/** Converts `spec.topology.variables[x].value.value.a` to `spec.topology.variables[x].value.a`. */
export function unwrapPath(field: string, path: string, prefix: string = wrapped): string {
  if (field === prefix) return path;
  const rest = field.startsWith(prefix) ? field.slice(prefix.length) : `.${field}`;
  return rest === '.' || rest === '' ? path : `${path}${rest}`;
}
