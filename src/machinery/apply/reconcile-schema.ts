import { type FieldSet, isEmptySet, isMember, leaf, type MutableFieldSet } from './field-set.ts';
import type { FieldType } from './type-model.ts';

/**
 * Sets known to be canonical, with the type they are sorted for. Stored sets are immutable, so one check per set and
 * schema suffices. Sets computed by the server need none.
 */
const known = new WeakMap<FieldSet, FieldType>();

const anyType: FieldType = { scalar: undefined, list: undefined, map: undefined };

export function isKnownSet(set: object): boolean {
  return known.has(set as FieldSet);
}

/** Without a type the set is only known to be canonical and sorted, not to match a schema. */
export function rememberSet(set: FieldSet, type: FieldType = anyType): void {
  known.set(set, type);
}

/**
 * Adapts a recorded set to a schema that changed since: parts that became atomic are owned as a whole. The opposite
 * change needs nothing, because the owner of a whole keeps it. Returns the same set when nothing changes.
 */
export function reconcileWithSchema(set: FieldSet, type: FieldType): FieldSet {
  if (known.get(set) === type) return set;
  const result = reconcileMembers(set, type);
  known.set(result, type);
  return result;
}

function reconcileMembers(node: FieldSet, type: FieldType): FieldSet {
  let result: MutableFieldSet | undefined;
  for (const element in node) {
    const child = node[element];
    if (child === undefined || element === '.') continue;
    let childType: FieldType | undefined;
    // Upstream resolves places with several possible types in this order: object, scalar, list.
    if (type.map) {
      childType = (element.charAt(0) === 'f' ? type.map.field(element.slice(2)) : undefined) ?? type.map.element;
    } else if (type.scalar === undefined && type.list) childType = type.list.element;
    if (!childType) continue;
    const reconciled = reconcileNode(child, childType);
    if (reconciled === child) continue;
    result ??= { ...node };
    result[element] = reconciled;
  }
  return result ?? node;
}

function reconcileNode(node: FieldSet, type: FieldType): FieldSet {
  const wholeOnly = isMember(node) && isEmptySet(node);
  if (type.map) {
    if (type.map.deduced) return node;
    if (type.map.atomic) return wholeOnly ? node : leaf;
  } else if (type.scalar !== undefined) return node;
  else if (type.list?.atomic) return wholeOnly ? node : leaf;
  return wholeOnly ? node : reconcileMembers(node, type);
}
