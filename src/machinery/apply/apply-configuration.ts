import { errorMessage } from '../errors/capstan-error.ts';
import { deepEqual } from '../json/value.ts';
import { asJson, asTyped } from '../meta/crossings.ts';
import { parseApiVersion } from '../meta/group-version-kind.ts';
import type { ManagedFieldsEntry, UnstructuredObject } from '../meta/types.ts';
import { ApplyConflictError, ApplyError } from './apply-error.ts';
import { problemsOfApplied } from './check-applied.ts';
import type { Comparison } from './compare.ts';
import { entryTime } from './entry-time.ts';
import { difference, type FieldSet, formatPath, hasPath, paths, recursiveDifference } from './field-set.ts';
import { appliedSet } from './field-walk.ts';
import { fieldsOfLastApplied, kubectlManager, syncLastApplied } from './last-applied.ts';
import {
  decodeManagers,
  encodeManagers,
  indexOfManager,
  keepSame,
  type Manager,
  type ManagerOrigin,
  putManager,
} from './managed-entries.ts';
import { mergeApplied } from './merge.ts';
import { compareInVersion, comparisonsFor, conflictsWithOthers, disownOthers, reconcileManagers } from './ownership.ts';
import { pruneAbandoned } from './prune.ts';
import type { FieldType } from './type-model.ts';
import { unownedFields } from './unowned-fields.ts';
import { emptyObject, updateManagers } from './update-managed-fields.ts';
import { fieldOrderOf, inVersion, typeOf, type VersionedKind } from './versioned-kind.ts';

export interface ApplyConfigurationInput {
  /** the stored object; absent when the apply creates it */
  live?: UnstructuredObject;
  /** the configuration as sent, in the version of the request */
  applied: UnstructuredObject;
  /** managedFields of the stored object */
  liveManaged: ManagedFieldsEntry[];
  manager: string;
  apiVersion: string;
  subresource?: string;
  /** whether to take over fields that others own */
  force: boolean;
  nowMs: number;
  versions: VersionedKind;
  /** fields this endpoint never owns: `status` on the main resource, `metadata` and `spec` on the status subresource */
  resetFields?: FieldSet;
}

export interface AppliedConfiguration {
  /** the merged object in the version of the request, without managedFields; shares parts with the input */
  object: UnstructuredObject;
  managedFields: ManagedFieldsEntry[];
  /** whether the object differs from the live object apart from managedFields */
  changed: boolean;
}

/**
 * Server-side apply: lays the configuration over the live object, removes what the manager applied before and now
 * leaves out, and records who owns what.
 * @throws ApplyConflictError when others own fields it would change, unless forced
 * @throws ApplyError when the configuration is not of the right type
 */
export async function applyConfiguration(input: ApplyConfigurationInput): Promise<AppliedConfiguration> {
  const type = checkInput(input);
  const live = withoutManagedFields(
    input.live
      ? await inVersion(input.versions, input.live, input.apiVersion)
      : emptyObject(input.applied, input.apiVersion),
  );
  const managers = await managersBefore(input);
  try {
    return await applyOnce(input, type, live, managers, { force: input.force });
  } catch (error) {
    if (!(error instanceof ConflictFound)) throw error;
    if (input.manager !== kubectlManager) throw error.conflict;
    const allowed = fieldsOfLastApplied(live, input.apiVersion, input.versions);
    if (!allowed) throw error.conflict;
    const remaining = error.fields.filter(({ path }) => !hasPath(allowed, path));
    if (remaining.length > 0) throw conflictError(remaining);
    return applyOnce(input, type, live, managers, { force: true });
  }
}

function checkInput(input: ApplyConfigurationInput): FieldType {
  const { applied, apiVersion, versions } = input;
  const kind = input.live?.kind ?? applied.kind;
  if (applied.apiVersion !== apiVersion || applied.kind !== kind) {
    throw new ApplyError(400, `invalid object type: ${describeKind(applied)}`);
  }
  if (applied.metadata?.managedFields !== undefined && applied.metadata.managedFields !== null) {
    throw new ApplyError(400, 'metadata.managedFields must be nil');
  }
  const type = typeOf(versions, apiVersion);
  if (!type) throw new ApplyError(500, `no corresponding type for ${describeKind(applied)}`);
  const problems = problemsOfApplied(type, asJson(applied));
  if (problems.length > 0) {
    const { namespace = '', name = '' } = applied.metadata ?? {};
    const list = problems.length === 1 ? problems[0] : `errors:\n${problems.map((text) => `  ${text}`).join('\n')}`;
    throw new ApplyError(
      500,
      `failed to create typed patch object (${namespace}/${name}; ${describeKind(applied)}): ${list}`,
    );
  }
  return type;
}

function describeKind(object: UnstructuredObject): string {
  const { group, version } = parseApiVersion(object.apiVersion ?? '');
  return `${group}/${version}, Kind=${object.kind ?? ''}`;
}

function withoutManagedFields(object: UnstructuredObject): UnstructuredObject {
  if (object.metadata?.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Returns the recorded managers. If none are recorded, existing fields belong to `before-first-apply`. */
async function managersBefore(input: ApplyConfigurationInput): Promise<Manager[]> {
  const { live, liveManaged, ...write } = input;
  let managers: Manager[];
  try {
    managers = decodeManagers(liveManaged);
  } catch (error) {
    throw new ApplyError(500, `failed to decode managed fields: ${errorMessage(error)}`);
  }
  if (managers.length > 0 || !live) return managers;
  return updateManagers(managers, { ...write, next: withoutManagedFields(live), manager: 'before-first-apply' });
}

interface ConflictField {
  manager: Manager;
  path: string[];
}

/** Internal: a conflict with unformatted paths, so that fields of client-side apply can be checked again. */
class ConflictFound extends Error {
  readonly fields: ConflictField[];

  constructor(fields: ConflictField[]) {
    super('apply conflict');
    this.fields = fields;
  }

  get conflict(): ApplyConflictError {
    return conflictError(this.fields);
  }
}

function conflictError(fields: readonly ConflictField[]): ApplyConflictError {
  return new ApplyConflictError(
    fields.map(({ manager, path }) => ({
      manager: manager.name,
      operation: manager.operation,
      apiVersion: manager.apiVersion,
      ...(manager.subresource !== '' && { subresource: manager.subresource }),
      ...(manager.time !== undefined && { time: manager.time }),
      field: formatPath(path),
    })),
  );
}

async function applyOnce(
  input: ApplyConfigurationInput,
  type: FieldType,
  live: UnstructuredObject,
  before: readonly Manager[],
  { force }: { force: boolean },
): Promise<AppliedConfiguration> {
  const { applied, apiVersion, versions, resetFields } = input;
  const writer: ManagerOrigin = {
    name: input.manager,
    operation: 'Apply',
    apiVersion,
    subresource: input.subresource ?? '',
  };
  const managers = reconcileManagers(before, versions);
  const last = managers[indexOfManager(managers, writer)];
  let set = appliedSet(type, asJson(applied));
  if (resetFields) set = recursiveDifference(set, resetFields);
  putManager(managers, { ...writer, set, time: last?.time, entry: last?.entry });

  let object = asTyped<UnstructuredObject>(mergeApplied(type, asJson(live), asJson(applied)));
  if (last) object = await pruneAbandoned(object, managers, last, versions);

  const compare = (version: string): Comparison | Promise<Comparison> =>
    compareInVersion(versions, { before: live, after: object, apiVersion: version }, resetFields);
  const own = { apiVersion, comparison: compare(apiVersion) as Comparison };
  const comparisons = await comparisonsFor(managers, compare, own);
  if (!force) {
    const conflicts = conflictsWithOthers(managers, writer, comparisons);
    if (conflicts.length > 0) {
      throw new ConflictFound(
        conflicts.flatMap(({ manager, fields }) => [...paths(fields)].map((path) => ({ manager, path }))),
      );
    }
  }
  const after = disownOthers(managers, writer, comparisons);

  const merged = !deepEqual(live, object);
  // An apply without changes keeps its time. A first apply without changes has no time.
  const time = merged ? entryTime(input.nowMs) : last?.time;
  putManager(after, { ...writer, set: difference(set, unownedFields), time, entry: last?.entry });
  const result = input.manager === kubectlManager ? syncLastApplied(object, applied) : object;
  return {
    object: result,
    managedFields: keepSame(encodeManagers(after, fieldOrderOf(versions)), input.liveManaged),
    changed: merged || result !== object,
  };
}
