import type { JsonObject, JsonValue } from '../json/value.ts';
import { type FieldSet, isEmptySet, isMember, leaf, type MutableFieldSet } from './field-set.ts';
import { fieldElement } from './path-element.ts';
import { type FieldType, formOf, ListType, MapType } from './type-model.ts';

/**
 * Removes fields and list items from a value. A container that loses its last member becomes null, which distinguishes
 * it from one that never existed. The caller drops these nulls at the end.
 */
export function removeItems(type: FieldType, value: JsonValue, items: FieldSet): JsonValue {
  if (isEmptySet(items)) return value;
  const form = formOf(type, value);
  if (form instanceof MapType) return removeMembers(form, value, items);
  return form instanceof ListType ? removeListItems(form, value, items) : value;
}

function removeMembers(type: MapType, value: JsonValue, items: FieldSet): JsonValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || type.atomic) return null;
  let kept: JsonObject | undefined;
  for (const key in value) {
    const node = items[fieldElement(key)];
    const member = value[key];
    if (node === undefined || member === undefined) continue;
    if (isMember(node)) {
      kept ??= { ...value };
      delete kept[key];
      continue;
    }
    const rest = removeItems(type.member(key), member, node);
    if (rest === member) continue;
    kept ??= { ...value };
    kept[key] = rest;
  }
  if (!kept) return value;
  for (const _ in kept) return kept;
  return null;
}

function removeListItems(type: ListType, value: JsonValue, items: FieldSet): JsonValue {
  if (!Array.isArray(value) || value.length === 0 || type.atomic) return null;
  const kept: JsonValue[] = [];
  let changed = false;
  for (const item of value) {
    const element = type.elementOf(item);
    const node = element === undefined ? undefined : items[element];
    if (node === undefined) {
      kept.push(item);
      continue;
    }
    if (isMember(node)) {
      changed = true;
      continue;
    }
    const rest = removeItems(type.element, item, node);
    if (rest !== item) changed = true;
    kept.push(rest);
  }
  if (!changed) return value;
  return kept.length > 0 ? kept : null;
}

/**
 * Adds the declared fields that lead to members of the set. Then removing all fields of a struct also removes the
 * struct, which the plain set of leaves could not express.
 */
export function withNamedFields(set: FieldSet, type: FieldType | undefined): FieldSet {
  let result: MutableFieldSet | undefined;
  for (const element in set) {
    const node = set[element];
    if (node === undefined || element === '.' || isEmptySet(node)) continue;
    const kind = element.charAt(0);
    let childType: FieldType | undefined;
    let named = false;
    if (kind === 'f' && type?.map) {
      const name = element.slice(2);
      const declared = type.map.field(name);
      named = declared !== undefined;
      childType = declared ?? type.map.element;
    } else if (kind === 'k' && type?.list) childType = type.list.element;
    let child = withNamedFields(node, childType);
    if (named && !isMember(child)) child = { '.': leaf, ...child };
    if (child === node) continue;
    result ??= { ...set };
    result[element] = child;
  }
  return result ?? set;
}

/**
 * Resolves the nulls that removing items left behind. Upstream, built-in kinds lose them when decoded. Custom kinds
 * would be rejected for them, so there an empty container remains instead.
 */
export function settleEmptied(before: JsonValue, after: JsonValue, keepEmpty: boolean): JsonValue {
  if (before === after || typeof after !== 'object' || after === null) return after;
  if (Array.isArray(after)) {
    const untouched = new Set(Array.isArray(before) ? before : []);
    return after.filter((item) => item !== null).map((item) => (untouched.has(item) ? item : withoutNulls(item)));
  }
  const previous = typeof before === 'object' && before !== null && !Array.isArray(before) ? before : {};
  const kept: JsonObject = {};
  for (const key in after) {
    const value = after[key];
    const old = previous[key];
    if (value === undefined) continue;
    if (value === null && old !== null && old !== undefined) {
      if (keepEmpty) kept[key] = Array.isArray(old) ? [] : {};
    } else kept[key] = old === undefined ? value : settleEmptied(old, value, keepEmpty);
  }
  return kept;
}

function withoutNulls(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.filter((item) => item !== null).map(withoutNulls);
  const kept: JsonObject = {};
  for (const key in value) {
    const member = value[key];
    if (member !== undefined && member !== null) kept[key] = withoutNulls(member);
  }
  return kept;
}
