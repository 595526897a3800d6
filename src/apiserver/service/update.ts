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

/** Retries of an unconditional change. Each attempt starts from the newest state, so few are needed. */
const maxAttempts = 10;

export interface NextState {
  /** desired object in the version of the target, private to the update */
  draft: UnstructuredObject;
  /** the client sent a revision, so a concurrent change is a conflict and not retried */
  conditional: boolean;
  /** precomputed field ownership (server-side apply); otherwise the write is recorded as an update */
  managedFields?: ManagedFieldsEntry[];
}

export interface UpdateRequest {
  context: ServiceContext;
  target: NamedTarget;
  subresource: string | undefined;
  caller: Caller;
  settings: WriteSettings;
  /** whether the request is a client patch other than an apply */
  isPatch?: boolean;
  /** computes the desired object from the live object, which is shared and in the storage version */
  next(live: UnstructuredObject): NextState | Promise<NextState>;
}

/** Reads the newest state, computes the desired object with `next` and stores it. Retries on conflict. */
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
 * Waits until the newest state of an object is durable and visible. Writes start from states that are not yet on disk.
 * A response that depends on such a state (refused, not found, unchanged) must match what the client can read.
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
  // This replaces defaulting webhooks that know the old object, so fields omitted in an update are not treated as new.
  const isOwnKind = resource.definition.crd !== undefined;
  if (isOwnKind && isMainWrite(subresource)) strategy.prepareForUpdate?.(object, live, strategyContext);
  strategy.applyDefaults?.(object);
  // Ownership is recorded before the server adds its own fields, which nobody owns.
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

/** Tells whether a write would change only the timestamps of field ownership. */
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

/** Scale writes the main object; other subresources have their own rules. */
export function isMainWrite(subresource: string | undefined): boolean {
  return subresource === undefined || subresource === 'scale';
}

/** The approval subresource writes the status of CertificateSigningRequests under its own rules. */
export function isStatusWrite(subresource: string | undefined): boolean {
  return subresource === 'status' || subresource === 'approval';
}

/** Tells whether an update removed the last finalizer of a terminating object, which is then deleted. */
function isReadyToVanish(object: UnstructuredObject): boolean {
  const { metadata } = object;
  if (metadata.deletionTimestamp === undefined || (metadata.finalizers?.length ?? 0) > 0) return false;
  if ((metadata.deletionGracePeriodSeconds ?? 0) > 0) return false;
  const spec = object.spec as { finalizers?: string[] } | undefined;
  return !(object.kind === 'Namespace' && object.apiVersion === 'v1' && (spec?.finalizers?.length ?? 0) > 0);
}

/**
 * For kinds with a status subresource, main writes keep the status and status writes keep everything else. Status
 * writers of built-in kinds may also change labels and annotations; those of custom kinds may not.
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
  // A binding writes the spec and the status of a Pod at once.
  if (target.version.hasStatus && subresource !== 'binding') {
    if (live.status === undefined) delete object.status;
    else object.status = clone(live.status);
  }
  return object;
}

/** Increments the generation when the spec changes: everything except metadata and, if it is a subresource, status. */
function bumpGeneration(
  target: NamedTarget,
  object: UnstructuredObject,
  live: UnstructuredObject,
  subresource: string | undefined,
): void {
  const { definition, isCustom } = target.resource;
  // A binding is a decision of the scheduler and no change of the user's spec.
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
