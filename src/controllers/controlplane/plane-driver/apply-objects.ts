import { createHash } from 'node:crypto';
import { type Client, objectKey, resourceId } from '../../../client/index.ts';
import {
  CapstanError,
  errorMessage,
  ignoreNotFound,
  isInvalid,
  isNotFound,
  type KubeObject,
} from '../../../machinery/index.ts';
import type { CacheReader } from '../../../runtime/index.ts';
import { shows } from '../../shared/index.ts';
import { allDone } from './all-done.ts';
import { followedResources, objectId, resourceOfObject } from './resources.ts';

/**
 * Annotation of plane objects with a checksum of the last applied object, so that a restarted process need not apply it
 * again.
 */
export const appliedAnnotation = 'controlplane.cluster.x-k8s.io/applied-checksum';

/** The management API rejected an object of a plane. */
export class PlaneObjectError extends CapstanError {
  /** an immutable field would have to change */
  readonly isImmutable: boolean;
  readonly object: KubeObject;

  constructor(object: KubeObject, cause: unknown) {
    const { kind, metadata } = object;
    super('CAP_PLANE_OBJECT', `${kind} ${metadata.name ?? ''} is refused: ${errorMessage(cause)}`, { cause });
    this.name = 'PlaneObjectError';
    this.object = object;
    this.isImmutable = /immutable|forbidden|may not change/i.test(errorMessage(cause));
  }
}

interface Applied {
  readonly checksum: string;
  readonly uid: string;
  /** generation after the write, or resourceVersion for kinds without generation */
  readonly stamp: string;
  readonly at: number;
}

/** Objects applied for one plane. It saves requests only; no decision depends on it. */
export type AppliedMemory = Map<string, Applied>;

export interface ApplyOptions {
  client: Client;
  cache: CacheReader;
  fieldManager: string;
  memory: AppliedMemory;
  nowMs: number;
  signal: AbortSignal;
  /** collects the objects to be created */
  making?: Set<string>;
  /** called after every write */
  onWrite?(object: KubeObject): void;
}

/** Recheck interval for kinds that are not watched. */
const recheckMs = 10 * 60_000;
const followed = new Set(followedResources.map(resourceId));

/** Kinds that start Pods; written after everything the Pods read. */
const starting: ReadonlySet<string> = new Set(['StatefulSet', 'Deployment', 'CronJob']);

/**
 * Applies objects with server-side apply, and returns all as stored. An object is written if its spec changed, a field
 * drifted, or it is missing. Objects that start no Pods are written in parallel.
 */
export async function applyObjects(options: ApplyOptions, objects: readonly KubeObject[]): Promise<KubeObject[]> {
  const stored: KubeObject[] = [];
  let together: KubeObject[] = [];
  const finish = async (): Promise<void> => {
    stored.push(...(await allDone(together.map((object) => applyObject(options, object)))));
    together = [];
  };
  for (const object of objects) {
    if (!starting.has(object.kind)) {
      together.push(object);
      continue;
    }
    await finish();
    stored.push(await applyObject(options, object));
  }
  await finish();
  return stored;
}

export async function applyObject(options: ApplyOptions, object: KubeObject): Promise<KubeObject> {
  const { client, memory, fieldManager, nowMs, signal } = options;
  const resource = resourceOfObject(object);
  const isFollowed = followed.has(resourceId(resource));
  const checksum = checksumOf(object);
  const id = objectId(resource, object);
  const known = memory.get(id);
  if (!isFollowed && known?.checksum === checksum && nowMs - known.at < recheckMs) return object;
  try {
    const live = isFollowed
      ? options.cache.lister(resource).get(objectKey(object))
      : await client.get(resource, objectKey(object), { signal }).catch(ignoreNotFound);
    if (live && isAsDesired(live, object, checksum, known)) {
      if (!isFollowed) memory.set(id, appliedNow(live, checksum, nowMs));
      return live;
    }
    const annotations = { ...object.metadata.annotations, [appliedAnnotation]: checksum };
    const desired: KubeObject = { ...object, metadata: { ...object.metadata, annotations } };
    if (!live) options.making?.add(id);
    const stored = await client.apply(resource, desired, { fieldManager, force: true, signal });
    if (stored.metadata.resourceVersion !== live?.metadata.resourceVersion) options.onWrite?.(stored);
    memory.set(id, appliedNow(stored, checksum, nowMs));
    return stored;
  } catch (error) {
    memory.delete(id);
    // rejected, or the kind is not served
    if (isInvalid(error) || (isNotFound(error) && !isFollowed)) throw new PlaneObjectError(object, error);
    throw error;
  }
}

const appliedNow = (stored: KubeObject, checksum: string, nowMs: number): Applied => ({
  checksum,
  uid: stored.metadata.uid ?? '',
  stamp: stampOf(stored),
  at: nowMs,
});

function isAsDesired(live: KubeObject, desired: KubeObject, checksum: string, known: Applied | undefined): boolean {
  if (live.metadata.annotations?.[appliedAnnotation] !== checksum || live.metadata.deletionTimestamp !== undefined) {
    return false;
  }
  // the server normalizes some values; the result of the last own write counts as desired
  if (known?.checksum === checksum && known.uid === live.metadata.uid && known.stamp === stampOf(live)) return true;
  return shows(live, desired);
}

const stampOf = ({ metadata }: KubeObject): string =>
  metadata.generation === undefined ? `version ${metadata.resourceVersion ?? ''}` : `generation ${metadata.generation}`;

function checksumOf(object: KubeObject): string {
  return createHash('sha256').update(JSON.stringify(object)).digest('hex').slice(0, 16);
}
