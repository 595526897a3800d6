import type { IdentityReference, OpenStackClusterIdentity } from '../../../api/index.ts';
import {
  begunUntilAnnotation,
  Namespaces,
  OpenStackClusterIdentities,
  type Secret,
  Secrets,
} from '../../../api/index.ts';
import {
  type Client,
  createInformer,
  type Informer,
  type InformerFactory,
  type ObjectKey,
} from '../../../client/index.ts';
import {
  type Clock,
  deepEqual,
  ignoreNotFound,
  isNotFound,
  type KubeObject,
  type Random,
  type Resource,
} from '../../../machinery/index.ts';
import {
  type CredentialText,
  cloudCaKey,
  cloudsYamlKey,
  credentialSecretKey,
  credentialText,
  secretContent,
  valuesChanged,
} from '../../shared/index.ts';

export interface CredentialOptions {
  readonly signal?: AbortSignal;
  /** the object is being deleted, so a Secret deleted before it is still used */
  readonly leaving?: boolean;
}

/** Secrets that were used, by namespace and name, for clusters that are deleted together with their Secret. */
export type UsedCredentials = Map<string, Secret>;

const maxRemembered = 1_000;

/** Finds the Secret of an identityRef, and reports its changes. */
export interface Credentials {
  read(identity: IdentityReference, namespace: string, options: CredentialOptions): Promise<CredentialText>;
  /**
   * for a shared identity: objects created until then may come from upstream's provider; undefined for one of a
   * namespace
   */
  begunUntil(identity: IdentityReference, signal: AbortSignal | undefined): Promise<number | undefined>;
  /** calls with the index values of identities whose credentials changed; returns an unsubscribe function */
  onChange(listener: (identity: string) => void): () => void;
  run(signal: AbortSignal): Promise<void>;
}

/** Index value under which the objects that use an identity are found. */
export function identityIndexValue(identity: Pick<IdentityReference, 'type' | 'name'>, namespace: string): string {
  return identity.type === 'ClusterIdentity'
    ? `ClusterIdentity/${identity.name}`
    : `Secret/${namespace}/${identity.name}`;
}

export function createCredentials(options: {
  client: Client;
  clock: Clock;
  random: Random;
  /** provides Secrets, shared with other controllers */
  cache: Pick<InformerFactory, 'informer'>;
  namespace?: string | undefined;
  /** from an earlier run in this process */
  used?: UsedCredentials | undefined;
}): Credentials {
  const { client, clock, random } = options;
  const informer = <T extends KubeObject>(resource: Resource<T>, transform: (object: T) => T): Informer<T> =>
    createInformer<T>({
      client,
      resource,
      clock,
      random,
      transform,
      ...(resource.namespaced && options.namespace !== undefined && { namespace: options.namespace }),
    });
  const secrets = options.cache.informer(Secrets);
  const identities = informer(OpenStackClusterIdentities, (identity) => identity);
  const namespaces = informer(Namespaces, (namespace) => namespace);

  // Remembers used Secrets: `kubectl delete -f` deletes the Secret at once, but the cluster's resources take a while.
  const used: UsedCredentials = options.used ?? new Map();
  const placeOf = ({ namespace, name }: Pick<ObjectKey, 'namespace' | 'name'>): string => `${namespace}/${name}`;
  const remember = (key: ObjectKey, secret: Secret): void => {
    const place = placeOf(key);
    // move to the end, so that the least recently used is dropped first
    used.delete(place);
    used.set(place, cloudsOnly(secret));
    for (const [oldest] of used) {
      if (used.size <= maxRemembered) break;
      used.delete(oldest);
    }
  };

  /** Reads from the cache, otherwise from the API: the object may be newer than the cache, or not covered by it. */
  const find = async <T extends KubeObject>(
    cache: Informer<T>,
    key: ObjectKey,
    signal: AbortSignal | undefined,
  ): Promise<T | undefined> => {
    const cached = cache.hasSynced() ? cache.lister.get(key) : undefined;
    if (cached) return cached;
    try {
      return await client.get(cache.resource, key, signal ? { signal } : {});
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };

  return {
    async read(identity, namespace, { signal, leaving = false }) {
      const key = await credentialSecretKey(
        {
          identity: (name) => find(identities, { name }, signal),
          namespace: (name) => find(namespaces, { name }, signal),
        },
        identity,
        namespace,
      );
      const cached = secrets.hasSynced() ? secrets.lister.get(key) : undefined;
      const secret = await secretContent(cached, () =>
        client.get(Secrets, key, signal ? { signal } : {}).catch(ignoreNotFound),
      );
      if (secret) remember(key, secret);
      return credentialText(key, secret ?? (leaving ? used.get(placeOf(key)) : undefined));
    },
    async begunUntil({ type, name }, signal) {
      if (type !== 'ClusterIdentity') return undefined;
      const until = (await find(identities, { name }, signal))?.metadata.annotations?.[begunUntilAnnotation];
      const time = Date.parse(until ?? '');
      return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : time;
    },
    onChange(listener) {
      const ofSecret = (secret: Secret): void => {
        const { namespace = '', name = '' } = secret.metadata;
        listener(`Secret/${namespace}/${name}`);
        for (const { metadata, spec } of identities.lister.list()) {
          if (spec.secretRef.namespace === namespace && spec.secretRef.name === name) {
            listener(`ClusterIdentity/${metadata.name}`);
          }
        }
      };
      const ofIdentity = ({ metadata }: OpenStackClusterIdentity): void => listener(`ClusterIdentity/${metadata.name}`);
      const removers = [
        secrets.addHandler({
          onAdd: (secret, initial) => {
            if (!initial) ofSecret(secret);
          },
          onUpdate: (secret, old) => {
            if (isOther({ type: 'update', object: secret, old })) ofSecret(secret);
          },
          onDelete: ofSecret,
        }),
        identities.addHandler({
          onAdd: (identity, initial) => {
            if (!initial) ofIdentity(identity);
          },
          onUpdate: (identity, old) => {
            const { generation, annotations } = identity.metadata;
            const isSame =
              generation === old.metadata.generation &&
              annotations?.[begunUntilAnnotation] === old.metadata.annotations?.[begunUntilAnnotation];
            if (!isSame) ofIdentity(identity);
          },
        }),
        namespaces.addHandler({
          onUpdate: (namespace, old) => {
            if (deepEqual(namespace.metadata.labels, old.metadata.labels)) return;
            for (const identity of identities.lister.list()) if (identity.spec.namespaceSelector) ofIdentity(identity);
          },
        }),
      ];
      return () => {
        for (const remove of removers) remove();
      };
    },
    async run(signal) {
      await Promise.all([identities.run(signal), namespaces.run(signal)]);
    },
  };
}

const isOther = valuesChanged([cloudsYamlKey, cloudCaKey]);

/** Keeps only the keys that describe clouds, because Secrets can be large. */
function cloudsOnly(secret: Secret): Secret {
  const { name, namespace, uid, resourceVersion } = secret.metadata;
  const clouds = secret.data?.[cloudsYamlKey];
  const ca = secret.data?.[cloudCaKey];
  return {
    apiVersion: secret.apiVersion,
    kind: secret.kind,
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
    ...(clouds !== undefined && { data: { [cloudsYamlKey]: clouds, ...(ca !== undefined && { [cloudCaKey]: ca }) } }),
  };
}
