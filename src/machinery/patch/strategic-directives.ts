import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';

export const directiveMarker = '$patch';
export const retainKeysDirective = '$retainKeys';
export const deleteFromPrimitiveListPrefix = '$deleteFromPrimitiveList';
export const setElementOrderPrefix = '$setElementOrder';

/** Reports whether a member name is a merge directive instead of data. */
export function isDirectiveKey(key: string): boolean {
  return (
    key.charCodeAt(0) === 36 &&
    (key === directiveMarker ||
      key === retainKeysDirective ||
      key.startsWith(deleteFromPrimitiveListPrefix) ||
      key.startsWith(setElementOrderPrefix))
  );
}

/**
 * Extracts the data of a patch value where the document has nothing. Nulls mean absent, and objects with a `$patch`
 * directive refer to data that does not exist. Undefined when nothing remains.
 */
export function dataOfPatch(value: JsonValue): JsonValue | undefined {
  if (Array.isArray(value)) {
    const items: JsonValue[] = [];
    for (const item of value) {
      const data = dataOfPatch(item);
      if (data !== undefined) items.push(data);
    }
    return items;
  }
  if (!isJsonObject(value)) return value;
  if (value[directiveMarker] !== undefined) return undefined;
  const data: JsonObject = {};
  for (const key in value) {
    const member = value[key];
    if (member === null || member === undefined || isDirectiveKey(key)) continue;
    const kept = dataOfPatch(member);
    if (kept !== undefined) data[key] = kept;
  }
  return data;
}

/**
 * Extracts the data of a patch value that is taken over whole (`$patch: replace`, new list items). kube-apiserver
 * decodes it into a typed object, which drops directives and nulls. Unlike dataOfPatch, it keeps the objects that
 * contained them.
 */
export function stripDirectives(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(stripDirectives);
  if (!isJsonObject(value)) return value;
  const data: JsonObject = {};
  for (const key in value) {
    const member = value[key];
    if (member === null || member === undefined || isDirectiveKey(key)) continue;
    data[key] = stripDirectives(member);
  }
  return data;
}

/** Formats a value like Go's `%v`, as error messages of strategic merge patches do. */
export function goFormat(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goFormat).join(' ')}]`;
  if (!isJsonObject(value)) return String(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${key}:${goFormat(value[key])}`);
  return `map[${members.join(' ')}]`;
}

/** Go type of a JSON value, as error messages name it. */
export function goTypeName(value: JsonValue): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (isJsonObject(value)) return 'map[string]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  if (typeof value === 'bigint') return 'int64';
  if (typeof value === 'boolean') return 'bool';
  return value === null ? '%!s(<nil>)' : 'string';
}
