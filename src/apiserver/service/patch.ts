import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  isJsonObject,
  type JsonValue,
  PatchError,
  statusError,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import type { ServiceContext } from './context.ts';
import { decodeObject } from './decode.ts';
import { checkNameMatches, modifiedConflict } from './metadata.ts';
import type { Caller, NamedTarget, WriteSettings, WrittenObject } from './types.ts';
import { updateObject } from './update.ts';

export type PatchKind = 'json' | 'merge' | 'strategic';

export interface PatchRequest {
  context: ServiceContext;
  target: NamedTarget;
  subresource: string | undefined;
  kind: PatchKind;
  patch: unknown;
  duplicateFields: readonly string[];
  caller: Caller;
  settings: WriteSettings;
}

/** Applies a patch to the newest state; a patch that names no resourceVersion is retried on conflict. */
export function patchObject(request: PatchRequest): Promise<WrittenObject> {
  const { context, target, subresource, caller, settings } = request;
  return updateObject({
    context,
    target,
    subresource,
    caller,
    settings,
    next: async (live) => {
      const { resource, version } = target;
      const inVersion = await resource.convert(live, version.name);
      const patched = applyPatch(request.kind, inVersion as unknown as JsonValue, request.patch, target);
      const draft = decodeObject({ value: patched, duplicateFields: request.duplicateFields }, target, caller, settings.fieldValidation);
      checkNameMatches(draft, target);
      checkNamespaceUnchanged(draft, target);
      const wanted = draft.metadata.resourceVersion;
      const named = wanted !== undefined && wanted !== '' && wanted !== '0';
      if (named && wanted !== live.metadata.resourceVersion) throw modifiedConflict(target);
      const uid = draft.metadata.uid;
      if (uid !== undefined && uid !== live.metadata.uid) {
        throw statusError.conflict(
          { group: resource.definition.group, resource: resource.definition.plural, name: target.name },
          `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${live.metadata.uid}`,
        );
      }
      return { draft, conditional: namesResourceVersion(request.patch) };
    },
  });
}

/** The patched document; pure. Refusals carry upstream's code and words. */
export function applyPatch(kind: PatchKind, document: JsonValue, patch: unknown, target: NamedTarget): JsonValue {
  try {
    switch (kind) {
      case 'json':
        return applyJsonPatch(document, patch);
      case 'merge':
        if (!isJsonObject(patch)) throw statusError.badRequest('the merge patch must be a JSON object');
        return applyMergePatch(document, patch as JsonValue);
      case 'strategic':
        if (!isJsonObject(patch)) throw statusError.badRequest('the strategic merge patch must be a JSON object');
        return applyStrategicMergePatch(document, patch as JsonValue, target.version.schema);
    }
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    if (error.status === 422) {
      const status = statusError.invalid(target.resource.definition.group, target.resource.definition.kind, target.name, []);
      status.status.message = error.message;
      throw status;
    }
    throw statusError.badRequest(error.message);
  }
}

function checkNamespaceUnchanged(draft: UnstructuredObject, target: NamedTarget): void {
  if (target.namespace !== undefined && draft.metadata.namespace !== target.namespace) {
    throw statusError.badRequest('the namespace of the object does not match the namespace on the request');
  }
}

/** A merge patch that carries metadata.resourceVersion asks for optimistic locking. */
function namesResourceVersion(patch: unknown): boolean {
  if (!isJsonObject(patch) || !isJsonObject(patch['metadata'])) return false;
  const version = patch['metadata']['resourceVersion'];
  return typeof version === 'string' && version !== '';
}
