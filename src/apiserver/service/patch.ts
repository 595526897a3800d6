import {
  ApiStatusError,
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  asJson,
  clone,
  fieldError,
  goFormat,
  isJsonObject,
  type JsonValue,
  PatchError,
  statusError,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import type { ServiceContext } from './context.ts';
import { decodeObject, jsonTypeName } from './decode.ts';
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

/** Applies a patch to the newest state. A patch without resourceVersion is retried on conflict. */
export function patchObject(request: PatchRequest): Promise<WrittenObject> {
  const { context, target, subresource, caller, settings } = request;
  return updateObject({
    context,
    target,
    subresource,
    caller,
    settings,
    isPatch: true,
    next: async (live) => {
      const { resource, version } = target;
      const inVersion = await resource.convert(live, version.name);
      // The patch shares unchanged parts with its input, and the live object is shared, so it is cloned.
      const document = asJson(clone(inVersion));
      const patched = applyPatch(request.kind, document, request.patch, target);
      const draft = decodePatched(request, patched);
      checkNameMatches(draft, target);
      checkNamespaceUnchanged(draft, target);
      const wanted = draft.metadata.resourceVersion;
      const named = wanted !== undefined && wanted !== '' && wanted !== '0';
      if (named && wanted !== live.metadata.resourceVersion) throw modifiedConflict(target);
      const uid = draft.metadata.uid;
      if (uid !== undefined && uid !== live.metadata.uid) {
        // Unlike in an update, a uid in a patch is a new value and not a precondition.
        throw statusError.invalid(resource.definition.group, resource.definition.kind, target.name, [
          fieldError.invalid('metadata.uid', uid, 'field is immutable'),
        ]);
      }
      return { draft, conditional: namesResourceVersion(request.patch) };
    },
  });
}

/** Returns the patched document; pure. Errors have upstream's codes and messages. */
export function applyPatch(kind: PatchKind, document: JsonValue, patch: unknown, target: NamedTarget): JsonValue {
  try {
    switch (kind) {
      case 'json':
        return applyJsonPatch(document, patch);
      case 'merge':
        if (!isJsonObject(patch)) throw notAnObject(patch);
        return applyMergePatch(document, patch as JsonValue);
      case 'strategic':
        if (!isJsonObject(patch)) throw notAnObject(patch);
        return applyStrategicMergePatch(document, patch as JsonValue, target.version.schema);
    }
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    // Upstream returns 500 for a contradictory strategic patch; a 400 is the client's to correct.
    throw error.status === 500 ? statusError.badRequest(error.message) : error.toApiStatusError();
  }
}

/** Decodes the patched object. If it does not match its kind, the error is about the patch. */
function decodePatched(request: PatchRequest, patched: JsonValue): UnstructuredObject {
  const { target, caller, settings, duplicateFields, kind } = request;
  const ofPatch =
    kind === 'json' ? { problemPrefix: 'json patch ', unknownFields: unknownMembers(request.patch) } : undefined;
  try {
    return decodeObject({ value: patched, duplicateFields, ...ofPatch }, target, caller, settings.fieldValidation);
  } catch (error) {
    if (!(error instanceof ApiStatusError) || error.code !== 400) throw error;
    const shown = request.kind === 'strategic' ? goFormat(request.patch as JsonValue) : JSON.stringify(patched);
    // Upstream reports this error without kind and name.
    throw statusError.invalid('', '', '', [
      fieldError.invalid('patch', shown, error.message.replace(/^.* cannot be handled as a \w+: /, '')),
    ]);
  }
}

const operationMembers: ReadonlySet<string> = new Set(['op', 'path', 'from', 'value']);

function unknownMembers(patch: unknown): string[] {
  const operations = Array.isArray(patch) ? patch : [];
  return operations.flatMap((operation, index) =>
    isJsonObject(operation)
      ? Object.keys(operation)
          .filter((name) => !operationMembers.has(name))
          .map((name) => `[${index}].${name}`)
      : [],
  );
}

function notAnObject(patch: unknown): Error {
  return statusError.badRequest(
    `error decoding patch: json: cannot unmarshal ${jsonTypeName(patch)} into Go value of type map[string]interface {}`,
  );
}

function checkNamespaceUnchanged(draft: UnstructuredObject, target: NamedTarget): void {
  if (target.namespace === undefined) {
    delete draft.metadata.namespace;
    return;
  }
  if (draft.metadata.namespace !== target.namespace) {
    throw statusError.badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
}

/** Tells whether a merge patch sets metadata.resourceVersion, which requests optimistic locking. */
function namesResourceVersion(patch: unknown): boolean {
  if (!isJsonObject(patch) || !isJsonObject(patch['metadata'])) return false;
  const version = patch['metadata']['resourceVersion'];
  return typeof version === 'string' && version !== '';
}
