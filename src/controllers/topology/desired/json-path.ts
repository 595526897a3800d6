import {
  clone,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type UnstructuredObject,
} from '../../../machinery/index.ts';

export type FieldPath = readonly string[];

/** Returns a copy with a field set; undefined removes it. */
export function withField(
  object: UnstructuredObject,
  path: FieldPath,
  value: JsonValue | undefined,
): UnstructuredObject {
  return setIn(object as JsonObject, path, value) as UnstructuredObject;
}

function setIn(object: JsonObject, [name, ...rest]: FieldPath, value: JsonValue | undefined): JsonObject {
  if (name === undefined) return object;
  const copy = { ...object };
  if (rest.length === 0) {
    if (value === undefined) delete copy[name];
    else copy[name] = clone(value);
    return copy;
  }
  const member = copy[name];
  if (value === undefined && !isJsonObject(member)) return object;
  copy[name] = setIn(isJsonObject(member) ? member : {}, rest, value);
  return copy;
}
