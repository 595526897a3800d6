import { must } from '../errors/must.ts';
import { deepEqual, type JsonObject, type JsonValue } from '../json/value.ts';
import { type FieldSet, insertNode, leaf, type MutableFieldSet, recursiveDifference } from './field-set.ts';
import { addedNode } from './field-walk.ts';
import { fieldElement, type PathElement } from './path-element.ts';
import { type FieldType, type Form, formOf, ListType, MapType } from './type-model.ts';
import { unownedMetadata } from './unowned-fields.ts';

/** Differences between two objects as field paths. */
export interface Comparison {
  /** fields that are new or have another value */
  changed: FieldSet;
  /** removed fields */
  removed: FieldSet;
}

/**
 * Compares two objects of one type in a single walk. Equal parts cost no allocation. Skips fields nobody owns
 * (apiVersion, kind, metadata itself, name and others).
 */
export function compareObjects(type: FieldType, before: JsonObject, after: JsonObject): Comparison {
  const walk = new CompareWalk();
  walk.compareRoots(must(type.map, 'the type of an object'), before, after);
  return { changed: walk.changed, removed: walk.removed };
}

/** Removes fields a write may not own, such as status for writes to the main resource. */
export function withoutFields(comparison: Comparison, excluded: FieldSet | undefined): Comparison {
  if (excluded === undefined) return comparison;
  return {
    changed: recursiveDifference(comparison.changed, excluded),
    removed: recursiveDifference(comparison.removed, excluded),
  };
}

class CompareWalk {
  readonly changed: MutableFieldSet = {};
  readonly removed: MutableFieldSet = {};
  readonly #path: PathElement[] = [];

  compareRoots(type: MapType, before: JsonObject, after: JsonObject): void {
    this.#compareMembers(
      type,
      before,
      after,
      (name) => name === 'apiVersion' || name === 'kind' || name === 'metadata',
    );
    const metadata = type.field('metadata')?.map;
    if (!metadata || before['metadata'] === after['metadata']) return;
    this.#path.push('f:metadata');
    const isUnowned = (name: string): boolean => unownedMetadata.has(name);
    this.#compareMembers(metadata, asMap(before['metadata'] ?? {}), asMap(after['metadata'] ?? {}), isUnowned);
    this.#path.pop();
  }

  compare(type: FieldType, before: JsonValue | undefined, after: JsonValue | undefined): void {
    if (before === after) return;
    if (after === undefined) {
      if (before !== undefined) this.#insert(this.removed, addedNode(type, before));
      return;
    }
    if (before === undefined) {
      this.#insert(this.changed, addedNode(type, after));
      return;
    }
    const oldForm = formOf(type, before);
    const newForm = formOf(type, after);
    if (oldForm !== newForm) this.#compareAs(oldForm, before, after);
    this.#compareAs(newForm, before, after);
  }

  #compareAs(form: Form, before: JsonValue, after: JsonValue): void {
    if (form instanceof MapType) this.#compareMaps(form, before, after);
    else if (form instanceof ListType) this.#compareLists(form, before, after);
    else this.#compareWhole(before, after);
  }

  #compareWhole(before: JsonValue, after: JsonValue): void {
    if (!deepEqual(before, after)) this.#insert(this.changed, leaf);
  }

  #compareMaps(type: MapType, before: JsonValue, after: JsonValue): void {
    const oldMap = asMap(before);
    const newMap = asMap(after);
    // An empty map and null stay distinguishable: the empty container itself is the leaf.
    if (type.atomic || (isEmpty(oldMap) && isEmpty(newMap))) {
      this.#compareWhole(before, after);
      return;
    }
    this.#compareMembers(type, oldMap, newMap);
  }

  #compareMembers(
    type: MapType,
    oldMap: JsonObject | undefined,
    newMap: JsonObject | undefined,
    skip?: (name: string) => boolean,
  ): void {
    const absent = type.absent;
    for (const key in newMap) {
      const next = newMap[key];
      if (next === undefined) continue;
      const known = oldMap && memberOf(oldMap, key);
      const previous = oldMap && (known === undefined ? absent?.get(key) : known);
      if (next === previous || (next === null && previous === undefined && type.isStruct)) continue;
      if (skip?.(key)) continue;
      this.#path.push(fieldElement(key));
      this.compare(type.member(key), previous, next);
      this.#path.pop();
    }
    for (const key in oldMap) {
      const previous = oldMap[key];
      if (previous === undefined || (newMap && memberOf(newMap, key) !== undefined) || skip?.(key)) continue;
      this.#path.push(fieldElement(key));
      this.compare(type.member(key), previous, newMap && absent?.get(key));
      this.#path.pop();
    }
  }

  #compareLists(type: ListType, before: JsonValue, after: JsonValue): void {
    const oldList = Array.isArray(before) ? before : [];
    const newList = Array.isArray(after) ? after : [];
    if (type.atomic || (oldList.length === 0 && newList.length === 0)) {
      this.#compareWhole(before, after);
      return;
    }
    if (deepEqual(oldList, newList)) return;
    const oldItems = indexItems(type, oldList);
    const newItems = indexItems(type, newList);
    if (!oldItems || !newItems) {
      this.#compareWhole(before, after);
      return;
    }
    for (const [element, items] of newItems) this.#compareItems(type, element, oldItems.get(element) ?? [], items);
    for (const [element, items] of oldItems) {
      if (!newItems.has(element)) this.#compareItems(type, element, items, []);
    }
  }

  /**
   * Compares items of one identity, usually one on each side. Several items are owned together, without comparing their
   * fields.
   */
  #compareItems(type: ListType, element: PathElement, before: JsonValue[], after: JsonValue[]): void {
    this.#path.push(element);
    if (before.length <= 1 && after.length <= 1) {
      this.compare(type.element, before[0], after[0]);
    } else if (before.length > 1 && after.length > 1) {
      if (!deepEqual(before, after)) this.#insert(this.changed, leaf);
    } else if (before.length > 1) {
      if (after.length === 1) this.compare(type.element, undefined, after[0]);
      this.#insert(this.removed, leaf);
    } else {
      if (before.length === 1) this.compare(type.element, before[0], undefined);
      this.#insert(this.changed, leaf);
    }
    this.#path.pop();
  }

  #insert(set: MutableFieldSet, node: FieldSet): void {
    if (this.#path.length > 0) insertNode(set, this.#path, node);
  }
}

/** Returns the member of a map. Inherited members such as `constructor` are functions and do not count. */
function memberOf(map: JsonObject, key: string): JsonValue | undefined {
  const value = map[key];
  return typeof value === 'function' ? undefined : value;
}

function asMap(value: JsonValue): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

function isEmpty(map: JsonObject | undefined): boolean {
  for (const key in map) if (map[key] !== undefined) return false;
  return true;
}

/** Indexes items by identity; undefined if an item has none. */
function indexItems(type: ListType, list: readonly JsonValue[]): Map<PathElement, JsonValue[]> | undefined {
  const items = new Map<PathElement, JsonValue[]>();
  for (const item of list) {
    const element = type.elementOf(item);
    if (element === undefined) return undefined;
    const present = items.get(element);
    if (present) present.push(item);
    else items.set(element, [item]);
  }
  return items;
}
