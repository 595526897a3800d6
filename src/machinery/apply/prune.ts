import type { JsonObject } from '../json/value.ts';
import { asJson, asTyped, asUnstructured } from '../meta/crossings.ts';
import type { UnstructuredObject } from '../meta/types.ts';
import { difference, type FieldSet, intersection, isEmptySet, union } from './field-set.ts';
import { appliedSet } from './field-walk.ts';
import type { Manager } from './managed-entries.ts';
import { removeItems, settleEmptied, withNamedFields } from './remove-items.ts';
import type { FieldType } from './type-model.ts';
import { inVersion, typeOf, type VersionedKind } from './versioned-kind.ts';

/**
 * Removes fields the applier applied last time and omits now, unless somebody else owns them. Works in the version of
 * the last apply, where those fields have the recorded names.
 */
export async function pruneAbandoned(
  merged: UnstructuredObject,
  managers: readonly Manager[],
  last: Manager,
  versions: VersionedKind,
): Promise<UnstructuredObject> {
  const type = typeOf(versions, last.apiVersion);
  if (!type || isEmptySet(last.set)) return merged;
  const base = await inVersion(versions, merged, last.apiVersion);
  const lastFields = withNamedFields(last.set, type);
  let pruned = remove(type, base, lastFields, versions);
  if (pruned === base) return merged;
  pruned = await addBackOwned({ merged: base, pruned, prunedVersion: last.apiVersion }, managers, versions);
  const rest = await inVersion(versions, pruned, last.apiVersion);
  pruned = remove(type, base, intersection(goneFields(type, base, rest), lastFields), versions);
  if (pruned === base) return merged;
  const kept = asTyped<UnstructuredObject>(settleEmptied(asJson(base), asJson(pruned), versions.origin !== 'builtin'));
  return inVersion(versions, kept, merged.apiVersion);
}

function remove(
  type: FieldType,
  object: UnstructuredObject,
  items: FieldSet,
  { origin }: VersionedKind,
): UnstructuredObject {
  const before = asJson(object);
  const result = removeItems(type, before, items) as JsonObject | null;
  // Conversions of custom kinds may drop nulls. An emptied container must not look as if it had been removed.
  const kept = origin === 'builtin' || result === null ? result : (settleEmptied(before, result, true) as JsonObject);
  return asUnstructured(kept ?? {});
}

/** Restores fields that any manager owns, including the applier with its new configuration. */
async function addBackOwned(
  { merged, pruned, prunedVersion }: { merged: UnstructuredObject; pruned: UnstructuredObject; prunedVersion: string },
  managers: readonly Manager[],
  versions: VersionedKind,
): Promise<UnstructuredObject> {
  const owned = new Map<string, FieldSet>();
  for (const { apiVersion, set } of managers) {
    const others = owned.get(apiVersion);
    owned.set(apiVersion, others ? union(others, set) : set);
  }
  // The version of the last apply goes first: conversions may need fields that only this version restores.
  const order = [...owned].sort(([a], [b]) => Number(b === prunedVersion) - Number(a === prunedVersion));
  let result = pruned;
  for (const [apiVersion, set] of order) {
    const type = typeOf(versions, apiVersion);
    if (!type) continue;
    const all = await inVersion(versions, merged, apiVersion);
    const rest = await inVersion(versions, result, apiVersion);
    const gone = difference(
      withNamedFields(appliedSet(type, asJson(all)), type),
      union(withNamedFields(appliedSet(type, asJson(rest)), type), withNamedFields(set, type)),
    );
    result = remove(type, all, gone, versions);
  }
  return result;
}

/** Fields that are no longer there. Of these, only those that the applier itself had applied may be removed. */
function goneFields(type: FieldType, merged: UnstructuredObject, pruned: UnstructuredObject): FieldSet {
  return difference(
    withNamedFields(appliedSet(type, asJson(merged)), type),
    withNamedFields(appliedSet(type, asJson(pruned)), type),
  );
}
