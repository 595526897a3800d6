import { jsonText } from '../json/stringify.ts';
import { deepEqual, isJsonObject, type JsonArray, type JsonObject, type JsonValue } from '../json/value.ts';
import { own } from './own.ts';
import type { Schema } from './types.ts';

/**
 * Finds the part of the old object that a part of the new one is compared with. Follows kube-apiserver: fields and map
 * entries by name (unless the map is atomic), elements of a list-type map by their keys, other list elements not at
 * all.
 */

/** Schema of a member; undefined if the schema does not declare it. */
export function memberSchema(schema: Schema, key: string): Schema | undefined {
  const member = own(schema.properties, key);
  if (member) return member;
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}

/** Value of a key field of a list-type map element. An absent key has its default value. */
function keyValue(element: JsonObject, key: string, items: Schema | undefined): JsonValue | undefined {
  return own(element as Record<string, JsonValue>, key) ?? own(items?.properties, key)?.default;
}

/** Text that is equal for two elements of a list-type map exactly when their keys are equal. */
export function listMapKey(element: JsonValue | undefined, schema: Schema): string | undefined {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (!keys || !isJsonObject(element)) return undefined;
  let text = '';
  for (const key of keys) {
    const value = keyValue(element, key, schema.items);
    text += value === undefined ? '\u0001' : `${jsonText(value)}\u0000`;
  }
  return text;
}

/** Indexes the elements of an old list by their keys; undefined if the list is not a list-type map. */
export function correlateList(old: JsonValue | undefined, schema: Schema): Map<string, JsonValue> | undefined {
  if (schema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(old)) return undefined;
  const byKey = new Map<string, JsonValue>();
  for (const element of old) {
    const key = listMapKey(element, schema);
    if (key !== undefined && !byKey.has(key)) byKey.set(key, element);
  }
  return byKey;
}

/** Reports whether a value is unchanged. The order of a list-type map does not matter. */
export function isUnchanged(value: JsonValue, old: JsonValue, schema: Schema): boolean {
  if (value === old) return true;
  if (Array.isArray(value)) {
    return Array.isArray(old) && value.length === old.length && isListUnchanged(value, old, schema);
  }
  if (!isJsonObject(value)) return deepEqual(value, old);
  if (!isJsonObject(old)) return false;
  let count = 0;
  for (const key in value) {
    const member = value[key];
    if (member === undefined) continue;
    count++;
    const before = own(old as Record<string, JsonValue>, key);
    const shape = memberSchema(schema, key);
    if (before === undefined || !shape || !isUnchanged(member, before, shape)) return false;
  }
  for (const key in old) if (old[key] !== undefined) count--;
  return count === 0;
}

function isListUnchanged(value: JsonArray, old: JsonArray, schema: Schema): boolean {
  const { items } = schema;
  const byKey = items && correlateList(old, schema);
  if (!byKey) return deepEqual(value, old);
  return value.every((element) => {
    const key = listMapKey(element, schema);
    const before = key === undefined ? undefined : byKey.get(key);
    return before !== undefined && isUnchanged(element, before, items);
  });
}
