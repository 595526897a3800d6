import type { VariableSchema } from '../../../api/index.ts';
import { isJsonObject, type JsonValue, type Schema } from '../../../machinery/index.ts';

// Variables are described with a part of JSON schema. Values and schemas are handled below an object of one property, because
// the machinery is made for objects and a variable may be of any type.

/** Name of the one property; it never shows, see `unwrapPath`. */
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

/** The schema of `{ value: <the variable> }`. The same variable always gives the same schema object, whose rules compile once. */
export function wrappedSchema(schema: VariableSchema): Schema {
  let made = schemas.get(schema);
  if (!made) {
    made = { type: 'object', properties: { [wrapped]: toSchema({ ...schema } as JsonValue) } };
    schemas.set(schema, made);
  }
  return made;
}

/** What is not part of the subset is left out, as upstream's decoder does. */
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

/** `spec.topology.variables[x].value.value.a` -> `spec.topology.variables[x].value.a` */
export function unwrapPath(field: string, path: string, prefix: string = wrapped): string {
  if (field === prefix) return path;
  const rest = field.startsWith(prefix) ? field.slice(prefix.length) : `.${field}`;
  return rest === '.' || rest === '' ? path : `${path}${rest}`;
}
