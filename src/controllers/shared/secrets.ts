import { clusterNameLabel, type Secret, Secrets } from '../../api/index.ts';
import { formatKey, hasContent, type ObjectKey, objectKey, type PartedResource } from '../../client/index.ts';
import { ignoreNotFound } from '../../machinery/index.ts';
import type { CacheReader, ObjectEvent, ReconcileContext } from '../../runtime/index.ts';
import { clusterSecretType } from './names.ts';

/** Type of Secrets whose content is applied to clusters: others are not handed to them, whoever names them. */
export const resourceSetSecretType = 'addons.cluster.x-k8s.io/resource-set';

/**
 * A management cluster has Secrets of all kinds of programs, and most are none of our business: caches keep those of clusters whole, which are known
 * by their labels and types, and of others that they are there. What users name (credentials of clouds) is read by its name.
 */
export const partedSecrets: PartedResource = {
  resource: Secrets,
  labels: [clusterNameLabel, 'kamaji.clastix.io/project', 'kamaji.clastix.io/managed-by'],
  types: [clusterSecretType, resourceSetSecretType],
};

/** Content that was read, by the version of the Secret in the cache it belongs to: it is forgotten with that version. */
const contents = new WeakMap<Secret, Promise<Secret | undefined>>();

/** A Secret from the cache, with its content; undefined where the cache does not keep that. */
export function cachedSecret(cache: CacheReader, key: ObjectKey): Secret | undefined {
  const secret = cache.lister(Secrets).get(key);
  return secret && hasContent(secret) ? secret : undefined;
}

/** A Secret by its name: from the cache, or from the API and then remembered for as long as the cache shows no other version. */
export async function readSecret(
  { client, cache, signal }: Pick<ReconcileContext, 'client' | 'cache' | 'signal'>,
  key: ObjectKey,
): Promise<Secret | undefined> {
  return await secretContent(cache.lister(Secrets).get(key), () =>
    client.get(Secrets, key, { signal }).catch(ignoreNotFound),
  );
}

/** The same for whoever has the cache otherwise. `read` asks the API. */
export async function secretContent(
  cached: Secret | undefined,
  read: () => Promise<Secret | undefined>,
): Promise<Secret | undefined> {
  // what the cache does not have may be newer than it, or outside of what it covers
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
 * Secrets to be used without waiting: what the cache has, and those of an owner that it has without their content, which were read before. Such are
 * made by others, or by earlier versions, without our labels.
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

/** Whether the values under some keys may have changed; of Secrets without content in the cache nobody knows better. */
export function valuesChanged(keys: readonly string[]): (event: ObjectEvent<Secret>) => boolean {
  return (event) => {
    if (event.type !== 'update' || !hasContent(event.object) || !hasContent(event.old)) return true;
    const { data } = event.object;
    const { data: before } = event.old;
    return keys.some((key) => data?.[key] !== before?.[key]);
  };
}
