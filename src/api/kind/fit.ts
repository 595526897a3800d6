import type { JsonValue, Schema } from '../../machinery/index.ts';

/**
 * Cuts a converted value to the schema of its version. Unknown fields, nulls, and optional values that the schema
 * refuses only for being empty are removed, like omitempty of Go does. The result shares unchanged parts with the
 * input, so the cost depends only on the differences.
 */
export function fitToSchema<T>(value: T, schema: Schema): T {
  return cut(value as JsonValue, schema) as T;
}

function cut(value: JsonValue, schema: Schema): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return schema.items === undefined ? value : cutItems(value, schema.items);
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) return value;
  const { properties, additionalProperties } = schema;
  if (properties === undefined && additionalProperties === undefined) return value;
  let copy: Record<string, JsonValue | undefined> | undefined;
  for (const key in value) {
    const member = value[key];
    const memberSchema = schemaOf(key, schema);
    let kept: JsonValue | undefined;
    if (memberSchema !== undefined && member !== undefined && member !== null) {
      kept = cut(member, memberSchema);
      if (isRefusedAsEmpty(kept, memberSchema) && !schema.required?.includes(key)) kept = undefined;
    }
    if (kept === member) continue;
    copy ??= { ...value };
    if (kept === undefined) delete copy[key];
    else copy[key] = kept;
  }
  return copy ?? value;
}

function cutItems(items: JsonValue[], schema: Schema): JsonValue[] {
  let copy: JsonValue[] | undefined;
  for (const [i, item] of items.entries()) {
    const kept = cut(item, schema);
    if (kept === item) continue;
    copy ??= [...items];
    copy[i] = kept;
  }
  return copy ?? items;
}

function schemaOf(key: string, schema: Schema): Schema | undefined {
  const { properties, additionalProperties } = schema;
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

function isRefusedAsEmpty(value: JsonValue, schema: Schema): boolean {
  if (value === '') return (schema.minLength ?? 0) > 0 || (schema.enum !== undefined && !schema.enum.includes(''));
  if (value === 0) return (schema.minimum ?? 0) > 0;
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.length === 0 && (schema.minItems ?? 0) > 0;
  if ((schema.minProperties ?? 0) === 0) return false;
  for (const _ in value) return false;
  return true;
}
