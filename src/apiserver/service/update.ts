import {
  applySchemaDefaults,
  asJson,
  clone,
  deepEqual,
  equalManagedFieldsIgnoringTimes,
  type ManagedFieldsEntry,
  must,
  statusError,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import { ConflictError } from '../../store/index.ts';
import { objectKey } from '../storage/keys.ts';
import { type ServiceContext, strategyContextFor } from './context.ts';
import { removeRecord } from './delete.ts';
import { recordUpdate, setManagedFields } from './managed-fields.ts';
import { carryOverMetadata, dropDuplicateOwners, modifiedConflict } from './metadata.ts';
import type { Caller, NamedTarget, WriteSettings, WrittenObject } from './types.ts';
import { toStorageVersion, validateObject } from './validate.ts';

/** Attempts at an unconditional change before giving up; each starts from the newest state, so few are ever needed. */
const maxAttempts = 10;

export interface NextState {
  /** the desired state in the version of the target, private */
  draft: UnstructuredObject;
  /** the client named the revision it started from: a concurrent change is its conflict, not ours to retry */
  conditional: boolean;
  /** managedFields already decided (server-side apply); otherwise the write is recorded as an update */
  managedFields?: ManagedFieldsEntry[];
}

export interface UpdateRequest {
  context: ServiceContext;
  target: NamedTarget;
  subresource: string | undefined;
  caller: Caller;
  settings: WriteSettings;
  /** the request is a patch of a client, other than an apply */
  isPatch?: boolean;
  /** computes the desired object from the live object, which is in the storage version and shared */
  next(live: UnstructuredObject): NextState | Promise<NextState>;
}

/** Reads the newest state, lets `next` compute the desired object, and stores it; repeats when somebody else was faster. */
export async function updateObject(request: UpdateRequest): Promise<WrittenObject> {
  for (let attempt = 1; ; attempt++) {
    let conditional = false;
    try {
      return await attemptUpdate(request, (value) => {
        conditional = value;
      });
    } catch (error) {
      const retry = error instanceof ConflictError && !conditional && attempt < maxAttempts;
      if (retry) continue;
      await seenIsStored(request.context, request.target);
      throw error instanceof ConflictError ? modifiedConflict(request.target) : error;
    }
  }
}

/**
 * Waits until the newest state of an object is durable and visible. Writers start from states that are still on their way
 * to disk; who is only told about one (refused, not found, nothing to change) must find it when looking.
 */
export function seenIsStored(
  { store }: ServiceContext,
  { resource, namespace, name }: NamedTarget,
): Promise<unknown> | undefined {
  return store.settled(objectKey(resource.keySpace, namespace, name));
}

export function notFound(target: NamedTarget): Error {
  const { definition } = target.resource;
  return statusError.notFound({ group: definition.group, resource: definition.plural, name: target.name });
}

async function attemptUpdate(request: UpdateRequest, onConditional: (value: boolean) => void): Promise<WrittenObject> {
  const { context, target, subresource, caller, settings } = request;
  const { resource } = target;
  const { strategy } = resource.definition;
  const key = objectKey(resource.keySpace, target.namespace, target.name);
  const record = context.store.head(key);
  if (!record) throw notFound(target);
  const fromRecord = resource.fromRecord(record);
  const live = fromRecord instanceof Promise ? await fromRecord : fromRecord;

  const nextState = request.next(live);
  const { draft, conditional, managedFields } = nextState instanceof Promise ? await nextState : nextState;
  onConditional(conditional);

  const nowMs = context.clock.now();
  const strategyContext = strategyContextFor(context, caller, settings, nowMs, subresource);
  if (request.isPatch === true) strategyContext.patchedBy = settings.fieldManager;
  dropDuplicateOwners(draft, caller);
  if (resource.isCustom) applySchemaDefaults(asJson(draft), target.version.schema);
  const converted = toStorageVersion(target, draft);
  let object = converted instanceof Promise ? await converted : converted;
  resource.fillStorageDefaults(object, target.version);
  // The webhooks this stands in for fill in defaults knowing the old object: what an update leaves out is not new.
  const isOwnKind = resource.definition.crd !== undefined;
  if (isOwnKind && isMainWrite(subresource)) strategy.prepareForUpdate?.(object, live, strategyContext);
  strategy.applyDefaults?.(object);
  // Ownership is recorded before the server adds what is its own: nobody owns that.
  if (managedFields) setManagedFields(object, managedFields);
  else {
    const recording = recordUpdate(target, { object, live, subresource, settings, nowMs });
    if (recording) await recording;
  }
  object = isolateSubresource(target, object, live, subresource);
  carryOverMetadata(object, live);
  object.metadata.resourceVersion = must(live.metadata.resourceVersion, 'metadata.resourceVersion');
  if (isMainWrite(subresource)) {
    if (!isOwnKind) strategy.prepareForUpdate?.(object, live, strategyContext);
  } else if (isStatusWrite(subresource)) strategy.prepareForStatusUpdate?.(object, live, strategyContext);

  const admission = {
    operation: 'UPDATE' as const,
    target,
    subresource,
    caller,
    object,
    oldObject: live,
    dryRun: settings.dryRun,
    options: settings,
  };
  if (strategyContext.patchedBy !== undefined && isMainWrite(subresource) && strategy.validateWritten) {
    strategyContext.written = clone(object);
  }
  const mutating = context.admission.mutate(admission);
  if (mutating) {
    await mutating;
    dropDuplicateOwners(object, caller, ' after mutating admission happens');
    carryOverMetadata(object, live);
    strategy.applyDefaults?.(object);
  }
  bumpGeneration(target, object, live, subresource);
  const checking = validateObject({ target, object, old: live, subresource, strategyContext });
  if (checking) await checking;
  const validating = context.admission.validate(admission);
  if (validating) await validating;
  for (const warning of strategy.warnings?.(object, live) ?? []) caller.warn(warning);

  object.metadata.resourceVersion = String(record.revision);
  if (isUnchanged(object, live)) {
    await seenIsStored(context, target);
    return { object: live, json: resource.isDirect(record) ? record.value.json : undefined, created: false };
  }
  if (isReadyToVanish(object)) {
    if (!settings.dryRun) await removeRecord(context, record);
    return { object, json: undefined, created: false };
  }
  if (settings.dryRun) return { object, json: undefined, created: false };
  const stored = await context.store.put(key, { kind: 'revision', revision: record.revision }, (revision) => {
    object.metadata.resourceVersion = String(revision);
    return resource.toStored(object, nowMs, record.value.maxBytesOfNext);
  });
  return { object, json: resource.isDirect(stored) ? stored.value.json : undefined, created: false };
}

/** A write that would only renew the times of field ownership is no change. */
function isUnchanged(object: UnstructuredObject, live: UnstructuredObject): boolean {
  const next = object.metadata.managedFields;
  const old = live.metadata.managedFields;
  if (next !== old && equalManagedFieldsIgnoringTimes(next ?? [], old ?? [])) {
    const { managedFields: _old, ...liveMetadata } = live.metadata;
    const { managedFields: _next, ...metadata } = object.metadata;
    return deepEqual({ ...object, metadata }, { ...live, metadata: liveMetadata });
  }
  return deepEqual(object, live);
}

/** Scale changes the main object by another door; other subresources have rules of their own. */
export function isMainWrite(subresource: string | undefined): boolean {
  return subresource === undefined || subresource === 'scale';
}

/** Approval is a second door to the status of CertificateSigningRequests, with rules of its own. */
export function isStatusWrite(subresource: string | undefined): boolean {
  return subresource === 'status' || subresource === 'approval';
}

/** A terminating object whose last finalizer is gone is deleted by the update that removed it. */
function isReadyToVanish(object: UnstructuredObject): boolean {
  const { metadata } = object;
  if (metadata.deletionTimestamp === undefined || (metadata.finalizers?.length ?? 0) > 0) return false;
  if ((metadata.deletionGracePeriodSeconds ?? 0) > 0) return false;
  const spec = object.spec as { finalizers?: string[] } | undefined;
  return !(object.kind === 'Namespace' && object.apiVersion === 'v1' && (spec?.finalizers?.length ?? 0) > 0);
}

/**
 * Main writes leave status alone and status writes leave everything else alone, where the kind has a status
 * subresource. Built-in kinds let status writers change labels and annotations too, custom kinds do not.
 */
function isolateSubresource(
  target: NamedTarget,
  object: UnstructuredObject,
  live: UnstructuredObject,
  subresource: string | undefined,
): UnstructuredObject {
  if (isStatusWrite(subresource)) {
    const isolated = clone(live);
    if (object.status === undefined) delete isolated.status;
    else isolated.status = object.status;
    if (!target.resource.isCustom) {
      isolated.metadata = { ...object.metadata };
      if (live.metadata.ownerReferences) isolated.metadata.ownerReferences = clone(live.metadata.ownerReferences);
    } else if (object.metadata.managedFields) {
      isolated.metadata.managedFields = object.metadata.managedFields;
    }
    return isolated;
  }
  // that a Pod has a node is said in its spec and in its status, at once
  if (target.version.hasStatus && subresource !== 'binding') {
    if (live.status === undefined) delete object.status;
    else object.status = clone(live.status);
  }
  return object;
}

/** The generation counts changes of the spec: everything but metadata and (where it is a subresource) status. */
function bumpGeneration(
  target: NamedTarget,
  object: UnstructuredObject,
  live: UnstructuredObject,
  subresource: string | undefined,
): void {
  const { definition, isCustom } = target.resource;
  // Where a Pod runs is decided for its user, who asked for nothing else than before.
  if (definition.noGeneration || isStatusWrite(subresource) || subresource === 'binding') return;
  const generation = live.metadata.generation ?? (isCustom ? 1 : 0);
  if (specEquals(object, live, target.version.hasStatus)) {
    if (live.metadata.generation !== undefined) object.metadata.generation = live.metadata.generation;
    return;
  }
  object.metadata.generation = generation + 1;
}

function specEquals(a: UnstructuredObject, b: UnstructuredObject, ignoreStatus: boolean): boolean {
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    if (key === 'metadata' || key === 'apiVersion' || key === 'kind' || (ignoreStatus && key === 'status')) continue;
    if (!deepEqual(a[key], b[key])) return false;
  }
  return true;
}
