import { deepEqual, isJsonObject, type JsonObject, type JsonValue } from '../../machinery/index.ts';

/** Fields that identify list items, most specific first. */
const identityFields = ['name', 'key', 'conditionType', 'type', 'id', 'class'] as const;

/**
 * Merges a change made through a less expressive version into the original. `mine` is the original, `base` its form in
 * the other version, `theirs` the changed form in that version. Unchanged parts keep everything of `mine`.
 */
export function mergeChange(
  base: JsonValue | undefined,
  theirs: JsonValue | undefined,
  mine: JsonValue | undefined,
): JsonValue | undefined {
  if (deepEqual(base, theirs)) return mine;
  if (Array.isArray(theirs)) {
    return Array.isArray(base) && Array.isArray(mine) && base.length === mine.length
      ? mergeLists(base, theirs, mine)
      : theirs;
  }
  if (isJsonObject(theirs) && isJsonObject(mine) && (base === undefined || isJsonObject(base))) {
    return mergeObjects(base ?? {}, theirs, mine);
  }
  return theirs;
}

function mergeObjects(base: JsonObject, theirs: JsonObject, mine: JsonObject): JsonObject {
  const merged: JsonObject = {};
  for (const key in mine) {
    const value = mergeChange(base[key], theirs[key], mine[key]);
    if (value !== undefined) merged[key] = value;
  }
  for (const key in theirs) {
    if (mine[key] === undefined && theirs[key] !== undefined && !deepEqual(base[key], theirs[key])) {
      merged[key] = theirs[key];
    }
  }
  return merged;
}

/** `base` and `mine` have the same order. Items of `theirs` find their original by equality, identity or position. */
function mergeLists(base: JsonValue[], theirs: JsonValue[], mine: JsonValue[]): JsonValue[] {
  const taken = new Set<number>();
  const originals = theirs.map((item) => {
    const index = base.findIndex((candidate, i) => !taken.has(i) && deepEqual(candidate, item));
    if (index >= 0) taken.add(index);
    return mine[index];
  });
  return theirs.map((item, position) => {
    const original = originals[position];
    if (original !== undefined) return original;
    let index = base.findIndex((candidate, i) => !taken.has(i) && sameIdentity(candidate, item));
    if (index < 0 && theirs.length === base.length && !taken.has(position)) index = position;
    if (index < 0) return item;
    taken.add(index);
    return mergeChange(base[index], item, mine[index]) ?? item;
  });
}

function sameIdentity(a: JsonValue, b: JsonValue): boolean {
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  for (const field of identityFields) {
    if (typeof a[field] === 'string') return a[field] === b[field];
  }
  return false;
}
