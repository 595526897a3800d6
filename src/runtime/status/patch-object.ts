import { type Client, objectKey, withOptimisticLock } from '../../client/index.ts';
import {
  asJson,
  asTyped,
  type Clock,
  type Condition,
  createMergePatch,
  isConflict,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type KubeObject,
  must,
  type Resource,
} from '../../machinery/index.ts';
import { applyConditionChanges, type ConditionChanges, diffConditions } from './condition-changes.ts';
import { type StatusChange, statusChangeOf } from './status-change.ts';

export interface PatchObjectOptions {
  fieldManager: string;
  clock: Clock;
  signal?: AbortSignal;
  /** fail if the object changed since `before` was read; for finalizers and other lists */
  optimisticLock?: boolean;
  /** copy `metadata.generation` of the object as read to `status.observedGeneration` */
  observedGeneration?: boolean;
  /** paths of condition lists; default `status.conditions` */
  conditionPaths?: readonly (readonly string[])[];
  /** sorts a list of conditions before it is written; must return the same list if it is already sorted */
  arrangeConditions?: (conditions: readonly Condition[], path: readonly string[]) => readonly Condition[];
  /** called before the status is written; true skips the write */
  statusMayWait?: (change: StatusChange) => boolean;
}

const defaultConditionPaths: readonly (readonly string[])[] = [['status', 'conditions']];
const maxConflicts = 5;

/**
 * Writes the difference between an object as read and as desired: one patch for spec and metadata, one for the status,
 * neither if unchanged. Conditions are merged by type with concurrent changes of others. Resolves with the stored
 * object.
 */
export async function patchObject<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  before: T,
  after: T,
  options: PatchObjectOptions,
): Promise<T> {
  const { status: statusBefore, ...restBefore } = before as T & { status?: unknown };
  const { status: statusAfter, ...restAfter } = after as T & { status?: unknown };
  let stored = before;
  const main = createMergePatch(writable(restBefore), writable(restAfter));
  if (main) {
    const lock = options.optimisticLock === true || touchesLists(main);
    stored = await client.patch(resource, objectKey(before), 'merge', lock ? withOptimisticLock(main, before) : main, {
      fieldManager: options.fieldManager,
      ...(options.signal && { signal: options.signal }),
    });
    // The last finalizer was removed and the object is gone, so there is no status to write.
    if (stored.metadata.deletionTimestamp !== undefined && (stored.metadata.finalizers ?? []).length === 0)
      return stored;
  }
  if (statusBefore === statusAfter && options.observedGeneration !== true) return stored;
  const wroteSpec = main?.['spec'] !== undefined;
  return await writeStatus(client, resource, { before, after, stored, wroteSpec }, options);
}

/** The status part of `patchObject`. `before` must have the resourceVersion at which the status was read. */
export function patchStatus<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  before: T,
  after: T,
  options: PatchObjectOptions,
): Promise<T> {
  return writeStatus(client, resource, { before, after, stored: before, wroteSpec: false }, options);
}

/** `stored` is the newest known state, `before` the state that our changes are based on. */
async function writeStatus<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  { before, after, stored, wroteSpec }: { before: T; after: T; stored: T; wroteSpec: boolean },
  options: PatchObjectOptions,
): Promise<T> {
  const paths = options.conditionPaths ?? defaultConditionPaths;
  const desired = statusOf(after);
  const generation = observedGeneration(after.metadata.generation, stored.metadata.generation, wroteSpec);
  if (options.observedGeneration === true && generation !== undefined) desired['observedGeneration'] = generation;
  const changes = paths.map((path) =>
    diffConditions(conditionsAt(before, path), conditionsAt({ status: desired }, path)),
  );
  let base = stored;
  for (let conflicts = 0; ; ) {
    const patch = statusPatch({ before, base, desired, paths, changes }, options);
    if (!patch || options.statusMayWait?.(statusChangeOf(patch, base)) === true) return base;
    const lists = touchesLists(patch);
    try {
      return await client.patch(
        resource,
        objectKey(before),
        'merge',
        lists || options.optimisticLock === true ? withOptimisticLock(patch, base) : patch,
        {
          fieldManager: options.fieldManager,
          subresource: 'status',
          ...(options.signal && { signal: options.signal }),
        },
      );
    } catch (error) {
      if (!isConflict(error) || options.optimisticLock === true || ++conflicts > maxConflicts) throw error;
      const latest = await client.get(resource, objectKey(before), {
        ...(options.signal && { signal: options.signal }),
      });
      if (latest.metadata.uid !== before.metadata.uid) throw error;
      base = latest;
    }
  }
}

/** Accounts for our own spec write. If the generation advanced by more than one, others changed the spec too. */
function observedGeneration(
  read: number | undefined,
  stored: number | undefined,
  wroteSpec: boolean,
): number | undefined {
  return wroteSpec && read !== undefined && stored === read + 1 ? stored : read;
}

interface DesiredStatus {
  readonly before: KubeObject;
  readonly base: KubeObject;
  readonly desired: JsonObject;
  readonly paths: readonly (readonly string[])[];
  readonly changes: readonly ConditionChanges[];
}

/** Computes the patch against `base`: our own differences, with conditions merged into those of `base`. */
function statusPatch(
  { before, base, desired, paths, changes }: DesiredStatus,
  options: PatchObjectOptions,
): JsonObject | undefined {
  const nowMs = options.clock.now();
  const oldStatus = statusOf(before);
  const newStatus = cloneAlong(desired, paths);
  paths.forEach((path, index) => {
    const change = must(changes[index], 'the changes of a list of conditions');
    const current = conditionsAt(base, path);
    const changed = applyConditionChanges(current, change, nowMs);
    const merged = options.arrangeConditions?.(changed, path) ?? changed;
    // Compared with the stored conditions, not with those read earlier.
    setAt(oldStatus, path, current as JsonValue | undefined);
    setAt(newStatus, path, merged.length === 0 && current === undefined ? undefined : asJson(merged));
  });
  const status = createMergePatch(oldStatus, newStatus);
  return status && { status };
}

function statusOf(object: object): JsonObject {
  const status = (object as { status?: unknown }).status;
  return isJsonObject(status) ? { ...status } : {};
}

/** Returns a copy that may be changed along `paths` without changing the original. */
function cloneAlong(status: JsonObject, paths: readonly (readonly string[])[]): JsonObject {
  const copy = { ...status };
  for (const path of paths) {
    let node = copy;
    for (const step of path.slice(1, -1)) {
      const child = node[step];
      if (!isJsonObject(child)) break;
      node = node[step] = { ...child };
    }
  }
  return copy;
}

function conditionsAt(object: object, path: readonly string[]): readonly Condition[] | undefined {
  let node: unknown = object;
  for (const step of path) node = isJsonObject(node) ? node[step] : undefined;
  return Array.isArray(node) ? asTyped<Condition[]>(node) : undefined;
}

/** `path` starts with `status`; the parameter `status` is that member. */
function setAt(status: JsonObject, path: readonly string[], value: JsonValue | undefined): void {
  let node = status;
  for (const step of path.slice(1, -1)) {
    const child = node[step];
    if (isJsonObject(child)) node = node[step] = { ...child };
    else {
      if (value === undefined) return;
      const created: JsonObject = {};
      node[step] = created;
      node = created;
    }
  }
  const last = must(path.at(-1), 'the last step of a path');
  if (value === undefined) delete node[last];
  else node[last] = value;
}

/** Keeps only what a client may write; the server owns the rest of the metadata. */
function writable(object: object): JsonObject {
  const { metadata, ...rest } = object as KubeObject & JsonObject;
  const { labels, annotations, finalizers, ownerReferences } = metadata;
  return {
    ...rest,
    metadata: {
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(finalizers && finalizers.length > 0 && { finalizers }),
      ...(ownerReferences && ownerReferences.length > 0 && { ownerReferences: asJson(ownerReferences) }),
    },
  } as JsonObject;
}

/**
 * Reports whether the patch contains lists. A merge patch replaces whole lists, so without a lock it would undo
 * additions of others.
 */
function touchesLists(patch: JsonObject): boolean {
  const metadata = patch['metadata'];
  if (isJsonObject(metadata) && ('finalizers' in metadata || 'ownerReferences' in metadata)) return true;
  const status = patch['status'];
  return isJsonObject(status) && hasConditions(status);
}

function hasConditions(value: JsonObject): boolean {
  for (const [key, child] of Object.entries(value)) {
    if (key === 'conditions') return true;
    if (isJsonObject(child) && hasConditions(child)) return true;
  }
  return false;
}
