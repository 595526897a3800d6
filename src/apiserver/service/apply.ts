import {
  ApplyConflictError,
  ApplyError,
  applyConfiguration,
  asJson,
  clone,
  isJsonObject,
  type ManagedFieldsEntry,
  parseApiVersion,
  statusError,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import { ConflictError } from '../../store/index.ts';
import { objectKey } from '../storage/keys.ts';
import { findAppliedNulls } from './applied-nulls.ts';
import type { ServiceContext } from './context.ts';
import { createObject } from './create.ts';
import { decodeObject, dropUnset, reportAppliedDuplicates } from './decode.ts';
import { resetFieldsFor } from './managed-fields.ts';
import { checkNameMatches, modifiedConflict, placeInNamespace } from './metadata.ts';
import type { Caller, DecodedBody, NamedTarget, WriteSettings, WrittenObject } from './types.ts';
import { notFound, updateObject } from './update.ts';

export interface ApplyRequest {
  context: ServiceContext;
  target: NamedTarget;
  subresource: string | undefined;
  body: DecodedBody;
  /** take over fields owned by others */
  force: boolean;
  caller: Caller;
  settings: WriteSettings;
}

/** Server-side apply: the body is the complete intent of its field manager. */
export async function applyObject(request: ApplyRequest): Promise<WrittenObject> {
  const { context, target, subresource, caller, settings } = request;
  if (!isJsonObject(request.body.value)) throw statusError.badRequest('the apply configuration must be an object');
  const { apiVersion, kind } = request.body.value;
  if (!apiVersion || !kind) {
    const { group, version } = parseApiVersion(typeof apiVersion === 'string' ? apiVersion : '');
    throw statusError.badRequest(
      `invalid object type: ${group}/${version}, Kind=${typeof kind === 'string' ? kind : ''}`,
    );
  }
  // Type errors are refused for every fieldValidation setting, because merging would refuse them otherwise.
  const applied = decodeObject(request.body, target, caller, settings.fieldValidation, { applied: true });
  if (applied.metadata.managedFields !== undefined) {
    throw statusError.badRequest('metadata.managedFields must be nil');
  }
  checkNameMatches(applied, target);
  placeInNamespace(applied, target);
  const key = objectKey(target.resource.keySpace, target.namespace, target.name);
  for (;;) {
    if (context.store.head(key)) break;
    if (subresource !== undefined) throw notFound(target);
    if (applied.metadata.uid !== undefined) {
      throw statusError.conflict(
        { group: target.resource.definition.group, resource: target.resource.definition.plural, name: target.name },
        `uid mismatch: the provided object specified uid ${applied.metadata.uid}, and no existing object was found`,
      );
    }
    try {
      return await applyNew(request, applied);
    } catch (error) {
      // Another client created the object in the meantime, so apply to that one.
      const raced =
        error instanceof ConflictError ||
        (error instanceof Error && 'reason' in error && error.reason === 'AlreadyExists');
      if (!raced) throw error;
    }
  }
  return updateObject({
    context,
    target,
    subresource,
    caller,
    settings,
    next: async (live) => {
      const { metadata } = applied;
      if (metadata.uid !== undefined && metadata.uid !== live.metadata.uid) {
        throw statusError.conflict(
          { group: target.resource.definition.group, resource: target.resource.definition.plural, name: target.name },
          `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${live.metadata.uid}`,
        );
      }
      if (metadata.resourceVersion !== undefined && metadata.resourceVersion !== live.metadata.resourceVersion) {
        throw modifiedConflict(target);
      }
      // A repeated attempt begins with what was sent.
      const claimed = clone(applied);
      target.resource.definition.strategy.prepareForApply?.(claimed, live);
      const { object, managedFields } = await merge(request, claimed, live);
      return { draft: object, conditional: metadata.resourceVersion !== undefined, managedFields };
    },
  });
}

/** Upstream returns 500 for a configuration that does not match its type; a 400 is the client's to correct. */
function unfit(error: ApplyError): Error {
  return statusError.badRequest(error.message);
}

/** Refuses nulls that remain after merging. */
function refuseNulls(applied: UnstructuredObject, merged: UnstructuredObject, target: NamedTarget): void {
  const { schema } = target.version;
  if (findAppliedNulls(asJson(applied), schema).length === 0) return;
  const nulls = findAppliedNulls(asJson(merged), schema);
  const { group, kind } = target.resource.definition;
  if (nulls.length > 0) throw statusError.invalid(group, kind, target.name, nulls);
}

async function applyNew(request: ApplyRequest, applied: UnstructuredObject): Promise<WrittenObject> {
  request.context.checkMayCreate(request.caller.user, request.target);
  const { object, managedFields } = await merge(request, applied, undefined);
  return createObject(request.context, request.target, {
    draft: object,
    caller: request.caller,
    settings: request.settings,
    managedFields,
  });
}

async function merge(
  request: ApplyRequest,
  applied: UnstructuredObject,
  live: UnstructuredObject | undefined,
): Promise<{ object: UnstructuredObject; managedFields: ManagedFieldsEntry[] }> {
  const { target, subresource, settings, context } = request;
  const resetFields = resetFieldsFor(target, subresource);
  try {
    const merged = await applyConfiguration({
      ...(live && { live }),
      applied,
      liveManaged: live?.metadata.managedFields ?? [],
      manager: settings.fieldManager,
      apiVersion: target.apiVersion,
      ...(subresource !== undefined && { subresource }),
      force: request.force,
      nowMs: context.clock.now(),
      versions: target.resource.versionedKind,
      ...(resetFields && { resetFields }),
    });
    reportAppliedDuplicates(request.body, request.caller, settings.fieldValidation);
    if (target.resource.isCustom) refuseNulls(applied, merged.object, target);
    // The result shares unchanged parts with the live object.
    const object = clone(merged.object);
    if (!target.resource.isCustom) dropUnset(asJson(object), target.version.schema);
    return { object, managedFields: merged.managedFields };
  } catch (error) {
    if (error instanceof ApplyConflictError) throw error.toApiStatusError();
    if (error instanceof ApplyError) throw unfit(error);
    throw error;
  }
}
