import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';

export const directiveMarker = '$patch';
export const retainKeysDirective = '$retainKeys';
export const deleteFromPrimitiveListPrefix = '$deleteFromPrimitiveList';
export const setElementOrderPrefix = '$setElementOrder';

/** True for member names that instruct the merge instead of being data. */
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
 * The data of a patch value that lands where the document has nothing: nulls mean "not there", and anything carrying
 * a `$patch` directive is an instruction about data that does not exist. Undefined when nothing remains.
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
 * The data of a patch value taken over whole (`$patch: replace`, new list items): kube-apiserver decodes it into a
 * typed object, which loses directives and nulls but, unlike dataOfPatch, keeps what they were attached to.
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

/** A value as Go's `%v` prints it: what error messages of strategic merge patches quote. */
export function goFormat(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goFormat).join(' ')}]`;
  if (!isJsonObject(value)) return String(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${key}:${goFormat(value[key])}`);
  return `map[${members.join(' ')}]`;
}

/** The Go type a JSON value decodes to, as error messages name it. */
export function goTypeName(value: JsonValue): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (isJsonObject(value)) return 'map[string]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  if (typeof value === 'bigint') return 'int64';
  if (typeof value === 'boolean') return 'bool';
  return value === null ? '%!s(<nil>)' : 'string';
}
