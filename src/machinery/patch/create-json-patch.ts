import { deepEqual, isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';

/** A step of a JSON patch (RFC 6902), limited to the generated operations. */
export type JsonPatchOperation =
  | { op: 'add' | 'replace'; path: string; value: JsonValue }
  | { op: 'remove'; path: string };

/**
 * Computes a patch between two documents. Lists of equal length are compared item by item. Other lists are replaced as
 * a whole, which is always correct, and short for defaulted fields.
 */
export function createJsonPatch(from: JsonObject, to: JsonObject): JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = [];
  compareObjects(from, to, '', operations);
  return operations;
}

function compareObjects(from: JsonObject, to: JsonObject, path: string, operations: JsonPatchOperation[]): void {
  for (const key in from) {
    if (member(from, key) !== undefined && member(to, key) === undefined) {
      operations.push({ op: 'remove', path: `${path}/${escaped(key)}` });
    }
  }
  for (const key in to) {
    const value = member(to, key);
    if (value === undefined) continue;
    const before = member(from, key);
    const at = `${path}/${escaped(key)}`;
    if (before === undefined) operations.push({ op: 'add', path: at, value });
    else compare(before, value, at, operations);
  }
}

function compare(from: JsonValue, to: JsonValue, path: string, operations: JsonPatchOperation[]): void {
  if (isJsonObject(from) && isJsonObject(to)) compareObjects(from, to, path, operations);
  else if (Array.isArray(from) && Array.isArray(to) && from.length === to.length) {
    for (const [index, item] of from.entries()) compare(item, to[index] as JsonValue, `${path}/${index}`, operations);
  } else if (!deepEqual(from, to)) operations.push({ op: 'replace', path, value: to });
}

/** Ignores inherited members, such as `constructor`. */
function member(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
