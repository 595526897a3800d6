import { clusterNameLabel, type Secret, Secrets } from '../../api/index.ts';
import { formatKey, hasContent, type ObjectKey, objectKey, type PartedResource } from '../../client/index.ts';
import { ignoreNotFound } from '../../machinery/index.ts';
import type { CacheReader, ObjectEvent, ReconcileContext } from '../../runtime/index.ts';
import { clusterSecretType } from './names.ts';

/** Type of Secrets that may be applied to clusters; others are refused, whoever refers to them. */
export const resourceSetSecretType = 'addons.cluster.x-k8s.io/resource-set';

/**
 * Most Secrets of a management cluster are unrelated. Caches keep the content only of cluster Secrets, known by label
 * or type, and just the metadata of all others. Secrets that users refer to (cloud credentials) are read by name.
 */
export const partedSecrets: PartedResource = {
  resource: Secrets,
  labels: [clusterNameLabel, 'kamaji.clastix.io/project', 'kamaji.clastix.io/managed-by'],
  types: [clusterSecretType, resourceSetSecretType],
};

/** Content by cached Secret version; dropped with that version. */
const contents = new WeakMap<Secret, Promise<Secret | undefined>>();

/** Returns a Secret with content from the cache; undefined if the cache lacks the content. */
export function cachedSecret(cache: CacheReader, key: ObjectKey): Secret | undefined {
  const secret = cache.lister(Secrets).get(key);
  return secret && hasContent(secret) ? secret : undefined;
}

/**
 * Reads a Secret by name: from the cache, or from the API and then memoized while the cached version stays the same.
 */
export async function readSecret(
  { client, cache, signal }: Pick<ReconcileContext, 'client' | 'cache' | 'signal'>,
  key: ObjectKey,
): Promise<Secret | undefined> {
  return await secretContent(cache.lister(Secrets).get(key), () =>
    client.get(Secrets, key, { signal }).catch(ignoreNotFound),
  );
}

/** Same for callers with their own cache. `read` requests it from the API. */
export async function secretContent(
  cached: Secret | undefined,
  read: () => Promise<Secret | undefined>,
): Promise<Secret | undefined> {
  // the Secret may be newer than the cache, or not covered by it
  if (!cached) return await read();
  if (hasContent(cached)) return cached;
  const known = contents.get(cached);
  if (known) return await known;
  const reading = read();
  contents.set(cached, reading);
  try {
    const secret = await reading;
    if (!secret) contents.delete(cached);
    return secret;
  } catch (error) {
    contents.delete(cached);
    throw error;
  }
}

/**
 * Returns Secrets for synchronous use: cached ones, and owned ones cached without content, which are read beforehand.
 * The latter were created by others, or by earlier versions without labels.
 */
export async function secretsOf(
  access: Parameters<typeof readSecret>[0],
  namespace: string,
  owner: string | undefined,
): Promise<(key: ObjectKey) => Secret | undefined> {
  const { cache } = access;
  const isBare = (secret: Secret): boolean =>
    !hasContent(secret) && secret.metadata.ownerReferences?.some(({ uid }) => uid === owner) === true;
  const bare = cache.lister(Secrets).list({ namespace, filter: isBare });
  const read = await Promise.all(bare.map((secret) => readSecret(access, objectKey(secret))));
  const found = new Map(read.flatMap((secret) => (secret ? [[formatKey(objectKey(secret)), secret]] : [])));
  return (key) => cachedSecret(cache, key) ?? found.get(formatKey(key));
}

/** Tells whether values under some keys may have changed; without content in the cache, always. */
export function valuesChanged(keys: readonly string[]): (event: ObjectEvent<Secret>) => boolean {
  return (event) => {
    if (event.type !== 'update' || !hasContent(event.object) || !hasContent(event.old)) return true;
    const { data } = event.object;
    const { data: before } = event.old;
    return keys.some((key) => data?.[key] !== before?.[key]);
  };
}
