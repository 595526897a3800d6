import { clone, isJsonObject, type JsonObject, type JsonValue, type KubeObject } from '../../src/machinery/index.ts';
import type { Named, NamedThing, Schema } from './named-things.ts';

/** Hostile values by the kind of reference. */
export type HostileValues = Readonly<Record<Named, string>>;

/** Returns a copy of the object with a reference to another tenant's resource, and the required fields around it. */
export function hostileObject(base: KubeObject, thing: NamedThing, schema: Schema, values: HostileValues): KubeObject {
  const object = clone(base) as unknown as JsonObject;
  place(object, thing.path, schema, values[thing.what], values);
  return object as unknown as KubeObject;
}

function place(
  parent: JsonObject,
  path: readonly string[],
  schema: Schema,
  value: string,
  values: HostileValues,
): void {
  const [name, ...rest] = path as [string, ...string[]];
  const own = schemaAt(schema, name);
  const key = name === '*' ? 'hostile' : name;
  if (rest.length === 0) {
    parent[key] = own?.type === 'array' ? [value] : value;
    return;
  }
  if (rest[0] === '[]') {
    const items = own?.items ?? {};
    const item = filled(items, values);
    const list = Array.isArray(parent[key]) ? (parent[key] as JsonValue[]) : [];
    parent[key] = [...list, rest.length === 1 ? value : item];
    if (rest.length > 1) place(item as JsonObject, rest.slice(1), items, value, values);
    return;
  }
  const child = isJsonObject(parent[key])
    ? { ...filledObject(own ?? {}, values), ...parent[key] }
    : filledObject(own ?? {}, values);
  parent[key] = child;
  place(child, rest, own ?? {}, value, values);
}

function schemaAt(schema: Schema, name: string): Schema | undefined {
  const { properties, additionalProperties } = schema;
  return properties?.[name] ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
}

const filledObject = (schema: Schema, values: HostileValues): JsonObject => {
  const value = filled({ ...schema, type: 'object' }, values);
  return isJsonObject(value) ? value : {};
};

/** Builds the minimal value of a schema. References are completed, so that a namespace has a name. */
function filled(schema: Schema, values: HostileValues): JsonValue {
  if (schema.default !== undefined) return schema.default as JsonValue;
  if (schema.enum?.length) return schema.enum[0] as JsonValue;
  if (schema.type === 'array') return schema.minItems ? [filled(schema.items ?? {}, values)] : [];
  if (schema.type === 'integer' || schema.type === 'number') return 1;
  if (schema.type === 'boolean') return false;
  if (schema.type === 'string') return 'hostile';
  const object: JsonObject = {};
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (/^(secret)?name$/i.test(name) && property.type === 'string') object[name] = values.secret;
    else if (/key$/i.test(name) && property.type === 'string') object[name] = 'value';
    else if (schema.required?.includes(name)) object[name] = filled(property, values);
  }
  return object;
}
