import { clone, formatTime, isJsonObject, statusError, type UnstructuredObject } from '../../machinery/index.ts';
import { ConflictError, type StoreRecord } from '../../store/index.ts';
import { objectKey } from '../storage/keys.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { ServiceContext } from './context.ts';
import type { Caller, NamedTarget } from './types.ts';

export type PropagationPolicy = 'Background' | 'Foreground' | 'Orphan';

export interface DeleteSettings {
  propagationPolicy?: PropagationPolicy;
  orphanDependents?: boolean;
  gracePeriodSeconds?: number;
  preconditions?: { uid?: string; resourceVersion?: string };
  dryRun: boolean;
}

export interface DeleteResult {
  /** last state of the object in the storage version */
  object: UnstructuredObject;
  /** false if finalizers or a grace period delay the deletion */
  gone: boolean;
}

const orphanFinalizer = 'orphan';
const foregroundFinalizer = 'foregroundDeletion';

/** Deletes an object, or marks it as terminating while it has finalizers or a grace period. */
export async function deleteObject(
  context: ServiceContext,
  target: NamedTarget,
  caller: Caller,
  settings: DeleteSettings,
): Promise<DeleteResult> {
  for (;;) {
    try {
      return await attemptDelete(context, target, caller, settings);
    } catch (error) {
      // The object changed meanwhile. An unconditional delete applies to the newest state.
      if (error instanceof ConflictError) continue;
      await context.store.settled(objectKey(target.resource.keySpace, target.namespace, target.name));
      throw error;
    }
  }
}

async function attemptDelete(
  context: ServiceContext,
  target: NamedTarget,
  caller: Caller,
  settings: DeleteSettings,
): Promise<DeleteResult> {
  const { resource } = target;
  const { definition } = resource;
  const key = objectKey(resource.keySpace, target.namespace, target.name);
  const record = context.store.head(key);
  const subject = { group: definition.group, resource: definition.plural, name: target.name };
  if (!record) throw statusError.notFound(subject);
  // Upstream names the kind instead of the resource here.
  const byKind = { ...subject, resource: definition.kind };
  const live = await resource.fromRecord(record);
  const { uid, resourceVersion } = settings.preconditions ?? {};
  if (uid !== undefined && uid !== live.metadata.uid) {
    throw statusError.conflict(
      byKind,
      `the UID in the precondition (${uid}) does not match the UID in record (${live.metadata.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== live.metadata.resourceVersion) {
    throw statusError.conflict(
      byKind,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${live.metadata.resourceVersion}). The object might have been modified`,
    );
  }
  const admission = {
    operation: 'DELETE' as const,
    target,
    subresource: undefined,
    caller,
    object: undefined,
    oldObject: live,
    dryRun: settings.dryRun,
    options: settings,
  };
  // A delete has no object to change, but mutating webhooks for DELETE are called anyway.
  const mutating = context.admission.mutate(admission);
  if (mutating) await mutating;
  const validating = context.admission.validate(admission);
  if (validating) await validating;

  const { finalizers: present = [], deletionTimestamp } = live.metadata;
  const added = deletionTimestamp === undefined ? definition.strategy.deletionFinalizers?.(live) : undefined;
  const finalizers = finalizersAfterDelete(added ? [...new Set([...present, ...added])] : present, settings);
  const graceSeconds = effectiveGracePeriod(live, definition.strategy.gracePeriodSeconds?.(live), settings);
  const held = finalizers.length > 0 || graceSeconds > 0 || hasNamespaceFinalizers(live);
  if (!held) {
    if (!settings.dryRun) await removeRecord(context, record);
    return { object: live, gone: true };
  }
  const nowMs = context.clock.now();
  const marked = markTerminating(live, finalizers, graceSeconds, nowMs);
  if (!marked) {
    await context.store.settled(key);
    return { object: live, gone: false };
  }
  if (settings.dryRun) return { object: marked, gone: false };
  await context.store.put(key, { kind: 'revision', revision: record.revision }, (revision) => {
    marked.metadata.resourceVersion = String(revision);
    return resource.toStored(marked, nowMs);
  });
  return { object: marked, gone: false };
}

/** Removes a record unless it changed since it was read. */
export async function removeRecord(context: ServiceContext, record: StoreRecord<StoredObject>): Promise<void> {
  await context.store.delete(record.key, { kind: 'revision', revision: record.revision });
}

/** Translates the propagation policy into finalizers for the garbage collector. */
function finalizersAfterDelete(present: readonly string[], settings: DeleteSettings): string[] {
  const wanted = (finalizer: string, policy: PropagationPolicy): boolean => {
    // The older field orphanDependents can only orphan.
    if (settings.orphanDependents !== undefined) return policy === 'Orphan' && settings.orphanDependents;
    if (settings.propagationPolicy !== undefined) return settings.propagationPolicy === policy;
    return present.includes(finalizer);
  };
  const orphan = wanted(orphanFinalizer, 'Orphan');
  const foreground = wanted(foregroundFinalizer, 'Foreground');
  const kept = present.filter((name) => name !== orphanFinalizer && name !== foregroundFinalizer);
  if (orphan) kept.push(orphanFinalizer);
  if (foreground) kept.push(foregroundFinalizer);
  return kept;
}

function effectiveGracePeriod(
  live: UnstructuredObject,
  ownSeconds: number | undefined,
  settings: DeleteSettings,
): number {
  // Zero means that no process needs time to stop.
  if (ownSeconds === undefined || ownSeconds === 0) return 0;
  const asked = settings.gracePeriodSeconds ?? ownSeconds;
  // A second delete can only shorten the grace period.
  if (live.metadata.deletionTimestamp !== undefined) {
    return Math.min(asked, live.metadata.deletionGracePeriodSeconds ?? asked);
  }
  return Math.max(0, asked);
}

function hasNamespaceFinalizers(live: UnstructuredObject): boolean {
  if (live.kind !== 'Namespace' || live.apiVersion !== 'v1' || !isJsonObject(live.spec)) return false;
  const finalizers = live.spec['finalizers'];
  return Array.isArray(finalizers) && finalizers.length > 0;
}

/** Returns a copy marked as terminating, or undefined if nothing changes. */
function markTerminating(
  live: UnstructuredObject,
  finalizers: string[],
  graceSeconds: number,
  nowMs: number,
): UnstructuredObject | undefined {
  const { metadata } = live;
  const { deletionTimestamp } = metadata;
  const terminating = deletionTimestamp !== undefined;
  const sameFinalizers = finalizers.join() === (metadata.finalizers ?? []).join();
  if (terminating && sameFinalizers && graceSeconds >= (metadata.deletionGracePeriodSeconds ?? 0)) return undefined;
  const marked = clone(live);
  if (finalizers.length > 0) marked.metadata.finalizers = finalizers;
  else delete marked.metadata.finalizers;
  if (terminating) {
    // A shorter grace period counts from the first delete.
    const startMs = Date.parse(deletionTimestamp) - (metadata.deletionGracePeriodSeconds ?? 0) * 1000;
    marked.metadata.deletionTimestamp = formatTime(startMs + graceSeconds * 1000);
  } else {
    marked.metadata.deletionTimestamp = formatTime(nowMs + graceSeconds * 1000);
    if (metadata.generation !== undefined) marked.metadata.generation = metadata.generation + 1;
  }
  marked.metadata.deletionGracePeriodSeconds = graceSeconds;
  if (marked.kind === 'Namespace' && marked.apiVersion === 'v1') {
    marked.status = { ...(isJsonObject(marked.status) ? marked.status : {}), phase: 'Terminating' };
  }
  return marked;
}
