import { must } from '../errors/must.ts';
import { deepEqual, type JsonObject, type JsonValue } from '../json/value.ts';
import { comparatorOf, type FieldOrder, type FieldSet, inOrder, leaf, type MutableFieldSet } from './field-set.ts';
import { fieldElement, sortedKeys } from './path-element.ts';
import { type FieldType, formOf, ListType, MapType } from './type-model.ts';
import { unownedMetadata } from './unowned-fields.ts';

/**
 * Builds the fields of a value that is new: every container is itself in the set, as are all its fields down to the
 * leaves. Returns the node for the element that leads to the value, with sorted members (list items are sorted only if
 * an order is given).
 */
export function addedNode(type: FieldType, value: JsonValue, order?: FieldOrder): FieldSet {
  if (typeof value !== 'object' || value === null) return leaf;
  const form = formOf(type, value);
  if (form instanceof MapType && !Array.isArray(value) && !form.atomic) {
    return addedMembers(form, value, order, { '.': leaf }) ?? leaf;
  }
  if (form instanceof ListType && Array.isArray(value) && !form.atomic) {
    return addedItems(form, value, order, { '.': leaf }) ?? leaf;
  }
  return leaf;
}

function addedMembers(
  type: MapType,
  value: JsonObject,
  order: FieldOrder | undefined,
  node: MutableFieldSet,
): FieldSet | undefined {
  let empty = true;
  for (const key of sortedKeys(value)) {
    const member = value[key];
    if (member === undefined) continue;
    node[fieldElement(key)] = typeof member === 'object' ? addedNode(type.member(key), member, order) : leaf;
    empty = false;
  }
  return empty ? undefined : node;
}

function addedItems(
  type: ListType,
  value: JsonValue[],
  order: FieldOrder | undefined,
  node: MutableFieldSet,
): FieldSet | undefined {
  if (value.length === 0) return undefined;
  let previous: string | undefined;
  let sorted = true;
  for (const item of value) {
    const element = type.elementOf(item);
    // An item without identity cannot be owned, so the list is owned as a whole.
    if (element === undefined) return leaf;
    // Two items of one identity are owned together, without their fields.
    node[element] = node[element] === undefined ? addedNode(type.element, item, order) : leaf;
    if (previous !== undefined && previous > element) sorted = false;
    previous = element;
  }
  if (order === undefined || value.length === 1 || (sorted && order === 'plain')) return node;
  return inOrder(node, comparatorOf(order));
}

/** Builds the fields owned by the creator of an object, in wire order. A single pass, because every create uses it. */
export function createdSet(type: MapType, object: JsonObject, order: FieldOrder): FieldSet {
  const set: MutableFieldSet = {};
  for (const key of sortedKeys(object)) {
    const value = object[key];
    if (value === undefined || key === 'apiVersion' || key === 'kind') continue;
    if (value === null && type.isStruct) continue;
    const memberType = type.member(key);
    const isMetadata = key === 'metadata' && typeof value === 'object' && value !== null && !Array.isArray(value);
    const node = isMetadata
      ? createdMembers(must(memberType.map, 'the type of metadata'), value, order, unownedMetadata)
      : createdNode(memberType, type.absent?.get(key), value, order);
    if (node !== undefined) set[fieldElement(key)] = node;
  }
  return set;
}

function createdMembers(
  type: MapType,
  value: JsonObject,
  order: FieldOrder,
  unowned?: ReadonlySet<string>,
): FieldSet | undefined {
  let node: MutableFieldSet | undefined;
  for (const key of sortedKeys(value)) {
    const member = value[key];
    if (member === undefined || unowned?.has(key) || (member === null && type.isStruct)) continue;
    const child = createdNode(type.member(key), type.absent?.get(key), member, order);
    if (child === undefined) continue;
    node ??= {};
    node[fieldElement(key)] = child;
  }
  return node;
}

/** Builds the creator's fields where a Go struct already has a value (`absent`). */
function createdNode(
  type: FieldType,
  absent: JsonValue | undefined,
  value: JsonValue,
  order: FieldOrder,
): FieldSet | undefined {
  if (absent === undefined) return addedNode(type, value, order);
  if (value === absent) return undefined;
  const form = formOf(type, value);
  if (form instanceof MapType && !form.atomic && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const members = absent === null ? addedMembers(form, value, order, {}) : createdMembers(form, value, order);
    return members ?? (absent === null ? leaf : undefined);
  }
  if (form instanceof ListType && !form.atomic && Array.isArray(value)) {
    return addedItems(form, value, order, {}) ?? leaf;
  }
  return deepEqual(absent, value) ? undefined : leaf;
}

/**
 * Builds the fields an applied configuration mentions: leaves, members of free-form maps, list items and explicitly
 * empty or null values. Objects with declared fields are not themselves in the set.
 */
export function appliedSet(type: FieldType, value: JsonValue): FieldSet {
  return appliedNode(type, value, false) ?? leaf;
}

function appliedNode(type: FieldType, value: JsonValue, member: boolean): FieldSet | undefined {
  const form = formOf(type, value);
  let node: FieldSet | undefined;
  if (typeof form === 'string' || form.atomic) node = leaf;
  else if (form instanceof MapType) node = appliedMap(form, value, member);
  else node = appliedList(form, value, member);
  return node ?? (member ? leaf : undefined);
}

function appliedMap(type: MapType, value: JsonValue, self: boolean): FieldSet | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  let node: MutableFieldSet | undefined;
  for (const key of sortedKeys(value)) {
    const member = value[key];
    if (member === undefined) continue;
    const declared = type.field(key);
    const inSet = declared === undefined || member === null || isEmptyMap(member);
    const child = appliedNode(declared ?? type.member(key), member, inSet);
    if (child === undefined) continue;
    node ??= self ? { '.': leaf } : {};
    node[fieldElement(key)] = child;
  }
  return node;
}

function isEmptyMap(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  for (const key in value) if (value[key] !== undefined) return false;
  return true;
}

function appliedList(type: ListType, value: JsonValue, self: boolean): FieldSet | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const node: MutableFieldSet = self ? { '.': leaf } : {};
  for (const item of value) {
    const element = type.elementOf(item);
    if (element === undefined) continue;
    node[element] = (node[element] === undefined ? appliedNode(type.element, item, true) : undefined) ?? leaf;
  }
  return node;
}
