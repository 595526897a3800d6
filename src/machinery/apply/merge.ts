import type { JsonObject, JsonValue } from '../json/value.ts';
import type { PathElement } from './path-element.ts';
import { type FieldType, formOf, ListType, MapType } from './type-model.ts';

/**
 * Merges an applied configuration into the live object: leaves of the configuration win and nothing is removed. Lists
 * keep the live order, unless the configuration orders shared items differently. Unchanged parts are shared.
 */
export function mergeApplied(type: FieldType, live: JsonValue, applied: JsonValue): JsonValue {
  const form = formOf(type, applied);
  if (form instanceof MapType && !form.atomic) return mergeMaps(form, live, applied);
  if (form instanceof ListType && !form.atomic) return mergeLists(form, live, applied);
  return applied;
}

function mergeMember(type: FieldType, live: JsonValue | undefined, applied: JsonValue | undefined): JsonValue {
  if (applied === undefined) return live ?? null;
  return live === undefined ? applied : mergeApplied(type, live, applied);
}

function mergeMaps(type: MapType, live: JsonValue, applied: JsonValue): JsonValue {
  const liveMap = asMap(live);
  const appliedMap = asMap(applied);
  if (isEmpty(liveMap) && isEmpty(appliedMap)) return applied;
  let merged: JsonObject = liveMap ?? {};
  for (const key in appliedMap) {
    const wanted = appliedMap[key];
    if (wanted === undefined) continue;
    const before = liveMap?.[key];
    const value = mergeMember(type.member(key), before, wanted);
    if (value === before) continue;
    if (merged === liveMap) merged = { ...liveMap };
    merged[key] = value;
  }
  return merged;
}

function asMap(value: JsonValue): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

function isEmpty(map: JsonObject | undefined): boolean {
  for (const key in map) if (map[key] !== undefined) return false;
  return true;
}

interface IndexedList {
  items: readonly JsonValue[];
  elements: PathElement[];
  /** the item of an identity; undefined where several items share it, which are replaced instead of merged */
  byElement: Map<PathElement, JsonValue | undefined>;
}

function indexList(type: ListType, value: JsonValue): IndexedList {
  const items = Array.isArray(value) ? value : [];
  const elements: PathElement[] = [];
  const byElement = new Map<PathElement, JsonValue | undefined>();
  for (let i = 0; i < items.length; i++) {
    // Live items without identity match no applied item and keep their place.
    const element = type.elementOf(items[i]) ?? `i:${i}`;
    elements.push(element);
    byElement.set(element, byElement.has(element) ? undefined : items[i]);
  }
  return { items, elements, byElement };
}

function mergeLists(type: ListType, live: JsonValue, applied: JsonValue): JsonValue {
  const left = indexList(type, live);
  const right = indexList(type, applied);
  if (left.items.length === 0 && right.items.length === 0) return applied;
  const shared = right.elements.filter((element) => left.byElement.has(element));
  const merged: JsonValue[] = [];
  const done = new Set<PathElement>();
  let nextShared = 0;
  let l = 0;
  let r = 0;
  const takeApplied = (element: PathElement): void => {
    merged.push(mergeMember(type.element, left.byElement.get(element), right.byElement.get(element)));
    done.add(element);
    r++;
    if (shared[nextShared] === element) nextShared++;
  };
  while (l < left.elements.length || r < right.elements.length) {
    const liveElement = left.elements[l];
    const appliedElement = right.elements[r];
    if (liveElement !== undefined && appliedElement !== undefined) {
      if (liveElement === appliedElement) {
        takeApplied(appliedElement);
        l++;
        continue;
      }
      const expected = shared[nextShared];
      if (right.byElement.has(liveElement) && expected !== undefined && expected !== liveElement) {
        // A shared item that comes later in the configuration, which decides its place.
        l++;
        continue;
      }
    }
    if (liveElement !== undefined) {
      if (!right.byElement.has(liveElement)) {
        const item = left.items[l];
        if (item !== undefined) merged.push(item);
        l++;
        continue;
      }
      if (done.has(liveElement)) l++;
    }
    if (appliedElement !== undefined) takeApplied(appliedElement);
  }
  return sameItems(left.items, merged) ? live : merged;
}

function sameItems(a: readonly JsonValue[], b: readonly JsonValue[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
