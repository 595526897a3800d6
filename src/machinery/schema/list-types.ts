import { appendErrors, type FieldError, fieldError } from '../errors/field-error.ts';
import { jsonText } from '../json/stringify.ts';
import { isJsonObject, type JsonArray, type JsonValue } from '../json/value.ts';
import { own } from './own.ts';
import { bracketPath, joinPath, type PathSegment } from './path.ts';
import { subtreeQuery } from './subtree.ts';
import type { Schema } from './types.ts';

const hasUniqueLists = subtreeQuery((schema) => {
  const type = schema['x-kubernetes-list-type'];
  return type === 'set' || type === 'map';
});

/**
 * Appends an error for every repeated element of a list-type set and every repeated key of a list-type map. On update,
 * upstream reports nothing if the old object already had duplicates.
 */
export function validateListTypes(
  value: JsonValue,
  old: JsonValue | undefined,
  schema: Schema,
  prefix: string,
  errors: FieldError[],
): void {
  if (!hasUniqueLists(schema)) return;
  const found: FieldError[] = [];
  walk(value, schema, prefix, [], found);
  if (found.length === 0) return;
  if (old !== undefined) {
    const before: FieldError[] = [];
    walk(old, schema, prefix, [], before);
    if (before.length > 0) return;
  }
  appendErrors(errors, found);
}

function walk(
  value: JsonValue | undefined,
  schema: Schema,
  prefix: string,
  path: PathSegment[],
  errors: FieldError[],
): void {
  if (typeof value !== 'object' || value === null || !hasUniqueLists(schema)) return;
  if (Array.isArray(value)) {
    const type = schema['x-kubernetes-list-type'];
    if (type === 'set') checkUnique(value, value, prefix, path, errors);
    else if (type === 'map') checkKeys(value, schema, prefix, path, errors);
    if (!schema.items) return;
    for (let i = 0; i < value.length; i++) {
      path.push(i);
      walk(value[i], schema.items, prefix, path, errors);
      path.pop();
    }
    return;
  }
  const rest = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  for (const key in value) {
    const property = own(schema.properties, key);
    const member = property ?? rest;
    if (!member) continue;
    path.push(property ? key : { key });
    walk(value[key], member, prefix, path, errors);
    path.pop();
  }
}

function checkKeys(list: JsonArray, schema: Schema, prefix: string, path: PathSegment[], errors: FieldError[]): void {
  for (const [i, element] of list.entries()) {
    if (element === null || isJsonObject(element)) continue;
    const field = joinPath(prefix, bracketPath([...path, i]));
    errors.push(fieldError.invalid(field, element, 'must be an object for an array of list-type map'));
    return;
  }
  if (list.length < 2) return;
  const names = schema['x-kubernetes-list-map-keys'] ?? [];
  if (!hasRepeatedText(list, names)) return;
  const keys = list.map((element) => keyOf(element, names));
  checkUnique(keys, keys, prefix, path, errors);
}

function keyOf(element: JsonValue, names: readonly string[]): Record<string, JsonValue> {
  const key: Record<string, JsonValue> = {};
  if (!isJsonObject(element)) return key;
  for (const name of names) {
    const value = Object.hasOwn(element, name) ? element[name] : undefined;
    if (value !== undefined) key[name] = value;
  }
  return key;
}

/**
 * Fast check of the keys, which nearly always are short, distinct texts and numbers. Only if two look alike, the exact
 * comparison runs.
 */
function hasRepeatedText(list: JsonArray, names: readonly string[]): boolean {
  const seen = new Set<string>();
  for (const element of list) {
    let text = '';
    for (const name of names) {
      const value = isJsonObject(element) ? element[name] : undefined;
      if (typeof value === 'object' && value !== null) return true;
      text += `${value}\u0000`;
    }
    if (seen.has(text)) return true;
    seen.add(text);
  }
  return false;
}

/** Reports the second occurrence of a value, once regardless of the number of repetitions. */
function checkUnique(
  list: readonly JsonValue[],
  shown: readonly JsonValue[],
  prefix: string,
  path: PathSegment[],
  errors: FieldError[],
): void {
  if (list.length < 2) return;
  const seen = new Map<string, number>();
  for (const [i, value] of list.entries()) {
    const key = canonical(value);
    const times = seen.get(key) ?? 0;
    seen.set(key, times + 1);
    if (times === 1) errors.push(fieldError.duplicate(joinPath(prefix, bracketPath([...path, i])), shown[i]));
  }
}

/** JSON with sorted keys, so that equal texts mean equal values. */
function canonical(value: JsonValue): string {
  if (typeof value !== 'object' || value === null) return jsonText(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key] ?? null)}`).join(',')}}`;
}
