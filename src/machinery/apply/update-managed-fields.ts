import { must } from '../errors/must.ts';
import { asJson } from '../meta/crossings.ts';
import type { ManagedFieldsEntry, UnstructuredObject } from '../meta/types.ts';
import type { Comparison } from './compare.ts';
import { entryTime } from './entry-time.ts';
import { difference, encodeFieldsV1, type FieldSet, isEmptySet, recursiveDifference, union } from './field-set.ts';
import { createdSet } from './field-walk.ts';
import {
  capUpdateManagers,
  encodeManagers,
  indexOfManager,
  keepSame,
  type Manager,
  type ManagerOrigin,
  putManager,
  startingManagers,
} from './managed-entries.ts';
import { type Comparisons, compareInVersion, comparisonsFor, disownOthers, reconcileManagers } from './ownership.ts';
import { rememberSet } from './reconcile-schema.ts';
import { fieldOrderOf, inVersion, typeOf, type VersionedKind } from './versioned-kind.ts';

export interface UpdateManagedFieldsInput {
  /** the stored object; absent on create */
  live?: UnstructuredObject;
  /** the object to be stored, with the managedFields from the client, if any */
  next: UnstructuredObject;
  /** managedFields of the stored object */
  liveManaged: ManagedFieldsEntry[];
  manager: string;
  apiVersion: string;
  subresource?: string;
  nowMs: number;
  versions: VersionedKind;
  /** fields this endpoint never owns: `status` on the main resource, `spec` on the status subresource */
  resetFields?: FieldSet;
}

/**
 * Computes ownership after a create, update or patch other than apply. Returns synchronously unless objects must be
 * converted asynchronously. Unchanged entries are the same objects as in `liveManaged`; if none changes, the result is
 * `liveManaged` itself.
 */
export function updateManagedFields(
  input: UpdateManagedFieldsInput,
): ManagedFieldsEntry[] | Promise<ManagedFieldsEntry[]> {
  const managers = startingManagers(input.next.metadata.managedFields, input.liveManaged, {
    subresource: input.subresource,
    origin: input.versions.origin ?? 'custom',
  });
  // Objects without a record of ownership stay without one until the first apply. Only a create starts one.
  if (managers.length === 0 && input.live !== undefined) return keepSame([], input.liveManaged);
  const updated = updateManagers(managers, input);
  return updated instanceof Promise ? updated.then((result) => finish(result, input)) : finish(updated, input);
}

function finish(managers: Manager[], input: UpdateManagedFieldsInput): ManagedFieldsEntry[] {
  capUpdateManagers(managers);
  return keepSame(encodeManagers(managers, fieldOrderOf(input.versions)), input.liveManaged);
}

type Write = Omit<UpdateManagedFieldsInput, 'liveManaged'>;

/** Computes the managers after a write: the writer gains the fields it changed, all others lose them. */
export function updateManagers(managers: readonly Manager[], write: Write): Manager[] | Promise<Manager[]> {
  const { versions, apiVersion } = write;
  const current = reconcileManagers(managers, versions);
  const before = write.live ? inVersion(versions, write.live, apiVersion) : emptyObject(write.next, apiVersion);
  const after = inVersion(versions, write.next, apiVersion);
  if (!write.live && current.length === 0 && !(after instanceof Promise)) return recordCreation(after, write);
  if (before instanceof Promise || after instanceof Promise) {
    return Promise.all([before, after]).then(([a, b]) => recordChanges(current, a, b, write));
  }
  return recordChanges(current, before, after, write);
}

/** Builds the object that upstream compares a new object with: same kind, no fields set. */
export function emptyObject(next: UnstructuredObject, apiVersion: string): UnstructuredObject {
  return { apiVersion, kind: next.kind } as UnstructuredObject;
}

/** Builds the set directly from the object. On create there are no other managers. */
function recordCreation(object: UnstructuredObject, write: Write): Manager[] {
  const { versions, apiVersion, resetFields } = write;
  const type = typeOf(versions, apiVersion);
  if (!type) return [];
  const created = createdSet(must(type.map, 'the type of an object'), asJson(object), fieldOrderOf(versions));
  const set = resetFields ? recursiveDifference(created, resetFields) : created;
  if (isEmptySet(set)) return [];
  rememberSet(set, type);
  const { name, operation, subresource } = originOf(write);
  return [{ name, operation, apiVersion, subresource, set, time: entryTime(write.nowMs), entry: undefined }];
}

function recordChanges(
  managers: Manager[],
  before: UnstructuredObject,
  after: UnstructuredObject,
  write: Write,
): Manager[] | Promise<Manager[]> {
  const { versions, apiVersion, resetFields } = write;
  // Both objects already have this version, so the result is never a promise.
  const comparison = compareInVersion(versions, { before, after, apiVersion }, resetFields) as Comparison;
  if (managers.length === 0) return recordWriter(managers, comparison, write);
  const compare = (version: string): Comparison | Promise<Comparison> =>
    compareInVersion(versions, { before, after, apiVersion: version }, resetFields);
  const settle = (comparisons: Comparisons): Manager[] =>
    recordWriter(disownOthers(managers, originOf(write), comparisons), comparison, write);
  const comparisons = comparisonsFor(managers, compare, { apiVersion, comparison });
  return comparisons instanceof Promise ? comparisons.then(settle) : settle(comparisons);
}

function originOf(write: Write): ManagerOrigin {
  return {
    name: write.manager === '' ? 'unknown' : write.manager,
    operation: 'Update',
    apiVersion: write.apiVersion,
    subresource: write.subresource ?? '',
  };
}

function recordWriter(managers: Manager[], { changed, removed }: Comparison, write: Write): Manager[] {
  const { name, operation, apiVersion, subresource } = originOf(write);
  const index = indexOfManager(managers, { name, operation, apiVersion, subresource });
  const previous = index < 0 ? undefined : managers[index];
  const changesNothing = isEmptySet(changed);
  if (changesNothing && !previous) return managers;
  let set = previous ? union(difference(previous.set, removed), changed) : changed;
  if (changesNothing) {
    // A write that only removes fields does not update the time of the entry.
    if (previous && set !== previous.set) putManager(managers, { ...previous, set });
    return managers;
  }
  if (set !== previous?.set) {
    set = encodeFieldsV1(set, fieldOrderOf(write.versions));
    rememberSet(set, typeOf(write.versions, apiVersion));
  }
  const time = entryTime(write.nowMs);
  putManager(managers, { name, operation, apiVersion, subresource, set, time, entry: previous?.entry });
  return managers;
}
