import type { AppliedResource } from '../../../api/index.ts';
import { type Client, objectKey } from '../../../client/index.ts';
import {
  errorMessage,
  ignoreNotFound,
  parseApiVersion,
  type Resource,
  type UnstructuredObject,
} from '../../../machinery/index.ts';
import { type ServedKinds, shows, UnservedKindError } from '../../shared/index.ts';

/** A cluster to which release objects are written. */
export interface ObjectTarget {
  readonly client: Client;
  readonly kinds: ServedKinds;
  readonly fieldManager: string;
  readonly signal: AbortSignal;
}

/** A desired object with its resource and namespace. */
export interface PlacedObject {
  readonly resource: Resource<UnstructuredObject>;
  readonly desired: UnstructuredObject;
}

export const synced = 'synced';
const notSynced = 'not-synced';

/** Builds the status entry of an object. */
export function resourceEntry(object: UnstructuredObject, error?: unknown): AppliedResource {
  const { group, version } = parseApiVersion(object.apiVersion ?? '');
  const { namespace, name } = object.metadata;
  return {
    ...(group !== '' && { group }),
    version,
    ...(object.kind !== undefined && { kind: object.kind }),
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    status: error === undefined ? synced : notSynced,
    ...(error !== undefined && { error: shortened(errorMessage(error)) }),
  };
}

const shortened = (text: string): string => (text.length > 1024 ? `${text.slice(0, 1024)}…` : text);

/** Compares entries regardless of version. */
export const sameResource = (a: AppliedResource, b: AppliedResource): boolean =>
  (a.group ?? '') === (b.group ?? '') && a.kind === b.kind && a.namespace === b.namespace && a.name === b.name;

/** Applies an object unless it is as desired; returns the stored object. */
export async function applyObject(
  { client, fieldManager, signal }: ObjectTarget,
  { resource, desired }: PlacedObject,
  options: { dryRun?: boolean } = {},
): Promise<UnstructuredObject> {
  const live = await client.get(resource, objectKey(desired), { signal }).catch(ignoreNotFound);
  if (live && live.metadata.deletionTimestamp === undefined && shows(live, desired)) return live;
  return await client.apply(resource, desired, {
    fieldManager,
    force: true,
    signal,
    ...(options.dryRun === true && { dryRun: true }),
  });
}

/** Deletes a recorded object if it has our label; returns whether it is gone, for example with its definition. */
export async function deleteMarked(
  { client, kinds, signal }: ObjectTarget,
  entry: AppliedResource,
  isMarked: (live: UnstructuredObject) => boolean,
): Promise<boolean> {
  const apiVersion = entry.group ? `${entry.group}/${entry.version}` : (entry.version ?? '');
  const resource = await kinds.resourceOf({ apiVersion, kind: entry.kind ?? '' }, signal).catch((error: unknown) => {
    if (error instanceof UnservedKindError) return undefined;
    throw error;
  });
  if (resource === undefined) return true;
  const key = { ...(entry.namespace !== undefined && { namespace: entry.namespace }), name: entry.name ?? '' };
  const live = await client.get(resource, key, { signal }).catch(ignoreNotFound);
  if (live === undefined || !isMarked(live)) return true;
  if (live.metadata.deletionTimestamp !== undefined) return false;
  const { uid } = live.metadata;
  const left = await client
    .delete(resource, key, { signal, ...(uid !== undefined && { preconditions: { uid } }) })
    .catch(ignoreNotFound);
  return left === undefined;
}
