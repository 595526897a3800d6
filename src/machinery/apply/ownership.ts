import { asJson } from '../meta/crossings.ts';
import type { UnstructuredObject } from '../meta/types.ts';
import { type Comparison, compareObjects, withoutFields } from './compare.ts';
import { difference, emptyFieldSet, type FieldSet, intersection, isEmptySet } from './field-set.ts';
import { compareIdentities, isSameManager, type Manager, type ManagerOrigin } from './managed-entries.ts';
import { reconcileWithSchema } from './reconcile-schema.ts';
import { inVersion, typeOf, type VersionedKind } from './versioned-kind.ts';

const noChange: Comparison = { changed: emptyFieldSet, removed: emptyFieldSet };

/** Drops managers of versions that no longer exist, and adapts the others to the present schema. */
export function reconcileManagers(managers: readonly Manager[], versions: VersionedKind): Manager[] {
  const result: Manager[] = [];
  for (const manager of managers) {
    const type = typeOf(versions, manager.apiVersion);
    if (!type) continue;
    const set = reconcileWithSchema(manager.set, type);
    result.push(set === manager.set ? manager : { ...manager, set });
  }
  return result;
}

/** Compares two objects in the terms of `version`. Both inputs share one version, which may be another one. */
export function compareInVersion(
  versions: VersionedKind,
  { before, after, apiVersion }: { before: UnstructuredObject; after: UnstructuredObject; apiVersion: string },
  resetFields: FieldSet | undefined,
): Comparison | Promise<Comparison> {
  const type = typeOf(versions, apiVersion);
  if (!type) return noChange;
  const old = inVersion(versions, before, apiVersion);
  const next = inVersion(versions, after, apiVersion);
  if (old instanceof Promise || next instanceof Promise) {
    return Promise.all([old, next]).then(([a, b]) =>
      withoutFields(compareObjects(type, asJson(a), asJson(b)), resetFields),
    );
  }
  return withoutFields(compareObjects(type, asJson(old), asJson(next)), resetFields);
}

/** Comparisons by version. */
export type Comparisons = ReadonlyMap<string, Comparison>;

/** Compares in every version that some manager uses. Synchronous if the conversions are. */
export function comparisonsFor(
  managers: readonly Manager[],
  compare: (apiVersion: string) => Comparison | Promise<Comparison>,
  own: { apiVersion: string; comparison: Comparison },
): Comparisons | Promise<Comparisons> {
  const comparisons = new Map<string, Comparison>([[own.apiVersion, own.comparison]]);
  // Equality in one version implies equality in all.
  const equal = isEmptySet(own.comparison.changed) && isEmptySet(own.comparison.removed);
  let pending: Promise<void>[] | undefined;
  for (const { apiVersion } of managers) {
    if (comparisons.has(apiVersion)) continue;
    const comparison = equal ? noChange : compare(apiVersion);
    if (comparison instanceof Promise) {
      comparisons.set(apiVersion, noChange);
      pending ??= [];
      pending.push(
        comparison.then((result) => {
          comparisons.set(apiVersion, result);
        }),
      );
    } else comparisons.set(apiVersion, comparison);
  }
  return pending ? Promise.all(pending).then(() => comparisons) : comparisons;
}

/** Removes changed and removed fields from all managers except the writer. Managers without fields are dropped. */
export function disownOthers(managers: readonly Manager[], writer: ManagerOrigin, comparisons: Comparisons): Manager[] {
  const result: Manager[] = [];
  for (const manager of managers) {
    const { changed, removed } = comparisons.get(manager.apiVersion) ?? noChange;
    const set = isSameManager(manager, writer) ? manager.set : difference(difference(manager.set, changed), removed);
    if (set === manager.set) result.push(manager);
    else if (!isEmptySet(set)) result.push({ ...manager, set });
  }
  return result;
}

/** Lists the fields a write would take from others by changing their value. */
export function conflictsWithOthers(
  managers: readonly Manager[],
  writer: ManagerOrigin,
  comparisons: Comparisons,
): { manager: Manager; fields: FieldSet }[] {
  const conflicts: { manager: Manager; fields: FieldSet }[] = [];
  for (const manager of managers) {
    if (isSameManager(manager, writer)) continue;
    const fields = intersection(manager.set, comparisons.get(manager.apiVersion)?.changed ?? emptyFieldSet);
    if (!isEmptySet(fields)) conflicts.push({ manager, fields });
  }
  return conflicts.sort((a, b) => compareIdentities(a.manager, b.manager));
}
