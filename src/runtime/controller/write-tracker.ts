import {
  type Client,
  type Informer,
  isAtLeast,
  keyOf,
  type ObjectKey,
  objectKey,
  resourceId,
} from '../../client/index.ts';
import type { KubeObject, Resource } from '../../machinery/index.ts';

/** A written object. */
export interface Written {
  resource: Resource;
  /** state after the last write */
  object: KubeObject;
  key: string;
  resourceVersion: string;
  /** all written versions, oldest first */
  versions: string[];
}

/** A client that records its writes. */
export interface TrackedClient {
  client: Client;
  /** newest written version per object */
  written(): readonly Written[];
  /** reports whether this client wrote this version of an object */
  wrote(resource: Resource, key: string, resourceVersion: string): boolean;
}

/** Version of an object in its cache; undefined without a cache. */
export type ShownVersion = (resource: Resource, key: ObjectKey) => string | undefined;

/**
 * Records the resource version of every write, so that the next reconcile of a key can wait until the caches show it. A
 * write without changes returns the version of another writer: if the cache showed it before, it is not counted as
 * ours.
 */
export function trackWrites(client: Client, shownVersion: ShownVersion = () => undefined): TrackedClient {
  const writes = new Map<string, Written>();
  const note = (resource: Resource, object: KubeObject, shown?: string): void => {
    const { resourceVersion } = object.metadata;
    if (resourceVersion === undefined || resourceVersion === shown) return;
    const key = keyOf(object);
    const id = `${resourceId(resource)} ${key}`;
    const before = writes.get(id);
    if (!before) writes.set(id, { resource, object, key, resourceVersion, versions: [resourceVersion] });
    else {
      before.versions.push(resourceVersion);
      if (isAtLeast(before.resourceVersion, resourceVersion)) return;
      before.resourceVersion = resourceVersion;
      before.object = object;
    }
  };
  /** `key` is set for an object that may already exist */
  const tracked = async <T extends KubeObject | undefined>(
    { resource, key, dryRun }: { resource: Resource; key?: ObjectKey; dryRun: boolean | undefined },
    write: () => Promise<T>,
  ): Promise<T> => {
    const shown = key && shownVersion(resource, key);
    const object = await write();
    if (object && dryRun !== true) note(resource, object, shown);
    return object;
  };
  return {
    written: () => [...writes.values()],
    wrote: (resource, key, resourceVersion) =>
      writes.get(`${resourceId(resource)} ${key}`)?.versions.includes(resourceVersion) ?? false,
    client: {
      get: (resource, key, options) => client.get(resource, key, options),
      list: (resource, options) => client.list(resource, options),
      watch: (resource, options) => client.watch(resource, options),
      create: (resource, object, options) =>
        tracked({ resource, dryRun: options.dryRun }, () => client.create(resource, object, options)),
      update: (resource, object, options) =>
        tracked({ resource, key: objectKey(object), dryRun: options.dryRun }, () =>
          client.update(resource, object, options),
        ),
      patch: (resource, key, type, patch, options) =>
        tracked({ resource, key, dryRun: options.dryRun }, () => client.patch(resource, key, type, patch, options)),
      apply: (resource, object, options) =>
        tracked({ resource, key: objectKey(object), dryRun: options.dryRun }, () =>
          client.apply(resource, object, options),
        ),
      delete: (resource, key, options) =>
        tracked({ resource, key, dryRun: options?.dryRun }, () => client.delete(resource, key, options)),
      deleteCollection: (resource, options) => client.deleteCollection(resource, options),
      createSubresource: (resource, key, subresource, body, options) =>
        client.createSubresource(resource, key, subresource, body, options),
    },
  };
}

/**
 * Resolves when the caches show all writes, or after `timeoutMs`: a slow cache may delay a key, but must never block
 * it.
 */
export async function waitForWrites(
  written: readonly Written[],
  informers: readonly Informer<KubeObject>[],
  options: { timeoutMs: number; signal: AbortSignal },
): Promise<void> {
  const waits: Promise<boolean>[] = [];
  for (const { resource, object, key, resourceVersion } of written) {
    const id = resourceId(resource);
    for (const informer of informers) {
      if (resourceId(informer.resource) !== id || !informer.hasSynced()) continue;
      if (informer.namespace !== undefined && informer.namespace !== object.metadata.namespace) continue;
      const part = informer.partWith?.(object);
      if (part) {
        waits.push(part.waitForResourceVersion(resourceVersion, options));
        continue;
      }
      // A cache with a selector may never receive the object, unless it already contains it.
      const selective = informer.labelSelector !== undefined || informer.fieldSelector !== undefined;
      if (selective && informer.lister.get(splitKey(key)) === undefined) continue;
      waits.push(informer.waitForResourceVersion(resourceVersion, options));
    }
  }
  await Promise.all(waits);
}

function splitKey(key: string): { namespace?: string; name: string } {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
