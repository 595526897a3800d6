import { deepEqual, isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { goJsonKind, PatchError } from './patch-error.ts';

/**
 * Applies an RFC 7386 merge patch and returns the new document; the input stays as it was and unchanged parts are
 * shared with it.
 * @throws PatchError 400 when the patch is not an object: kube-apiserver never replaces a whole object this way
 */
export function applyMergePatch(document: JsonValue, patch: unknown): JsonValue {
  if (patch === null) throw new PatchError(400, 'Invalid JSON Patch');
  if (!isJsonObject(patch)) {
    throw new PatchError(
      400,
      `error decoding patch: json: cannot unmarshal ${goJsonKind(patch)} into Go value of type map[string]interface {}`,
    );
  }
  return mergeValue(document, patch);
}

function mergeValue(current: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isJsonObject(current)) return withoutNulls(patch);
  if (!isJsonObject(patch)) return patch;
  let merged: JsonObject | undefined;
  for (const key in patch) {
    const change = patch[key];
    // Assigning `__proto__` would set the prototype. No Kubernetes field has this name.
    if (change === undefined || key === '__proto__') continue;
    const before = current[key];
    if (change === null) {
      if (before === undefined) continue;
      merged ??= { ...current };
      delete merged[key];
      continue;
    }
    const after = mergeValue(before, change);
    if (after === before) continue;
    merged ??= { ...current };
    merged[key] = after;
  }
  return merged ?? current;
}

/** Null in a patch means absent. kube-apiserver also drops nulls of objects inside arrays. */
function withoutNulls(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item) => (item === null ? item : withoutNulls(item)));
  if (!isJsonObject(value)) return value;
  const kept: JsonObject = {};
  for (const key in value) {
    const member = value[key];
    if (member !== null && member !== undefined && key !== '__proto__') kept[key] = withoutNulls(member);
  }
  return kept;
}

/** Computes the merge patch from `from` to `to`; undefined if they are equal. */
export function createMergePatch(from: JsonObject, to: JsonObject): JsonObject | undefined {
  let patch: JsonObject | undefined;
  for (const key in to) {
    const before = from[key];
    const after = to[key];
    if (after === undefined || before === after) continue;
    let change: JsonValue | undefined;
    if (isJsonObject(before) && isJsonObject(after)) change = createMergePatch(before, after);
    else if (!deepEqual(before, after)) change = after;
    if (change !== undefined) {
      patch ??= {};
      patch[key] = change;
    }
  }
  for (const key in from) {
    if (from[key] === undefined || from[key] === null || to[key] !== undefined) continue;
    patch ??= {};
    patch[key] = null;
  }
  return patch;
}
