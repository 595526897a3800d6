import type { IdentityReference, Namespace, OpenStackClusterIdentity } from '../../../api/index.ts';
import { Namespaces, openStackClusterIdentities, type Secret, Secrets } from '../../../api/index.ts';
import { type Client, createInformer, type Informer, type ObjectKey } from '../../../client/index.ts';
import {
  CapstanError,
  type Clock,
  deepEqual,
  isNotFound,
  type KubeObject,
  labelSelectorFromObject,
  type Random,
  type Resource,
} from '../../../machinery/index.ts';

/** Credentials that cannot be used. The message names the object at fault, the cause and the cure. */
export class CredentialsError extends CapstanError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('CAP_CLOUD_CREDENTIALS', message, options);
    this.name = 'CredentialsError';
  }
}

/** The parts of a Secret that describe a cloud. */
export interface CredentialText {
  /** `Secret default/cloud-config` */
  readonly source: string;
  /** changes whenever the content may have */
  readonly version: string;
  readonly cloudsYaml: string;
  readonly ca: string | undefined;
}

/** Finds the Secret an identityRef leads to, and tells when it changes. */
export interface Credentials {
  read(identity: IdentityReference, namespace: string, options: { signal?: AbortSignal }): Promise<CredentialText>;
  /** calls with the index values of identities whose credentials changed; returns what ends that */
  onChange(listener: (identity: string) => void): () => void;
  run(signal: AbortSignal): Promise<void>;
}

const cloudsKey = 'clouds.yaml';
const caKey = 'cacert';

/** Under which value an object that uses an identity is found in an index. */
export function identityIndexValue(identity: Pick<IdentityReference, 'type' | 'name'>, namespace: string): string {
  return identity.type === 'ClusterIdentity'
    ? `ClusterIdentity/${identity.name}`
    : `Secret/${namespace}/${identity.name}`;
}

export function createCredentials(options: {
  client: Client;
  clock: Clock;
  random: Random;
  namespace?: string | undefined;
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
  const secrets = informer(Secrets, cloudsOnly);
  const identities = informer(openStackClusterIdentities, (identity) => identity);
  const namespaces = informer(Namespaces, (namespace) => namespace);

  /** From the cache; what it does not have may be newer than it, or outside of what it covers. */
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

  const secretKeyOf = async (
    { type, name }: IdentityReference,
    namespace: string,
    signal: AbortSignal | undefined,
  ): Promise<ObjectKey> => {
    if (type !== 'ClusterIdentity') return { namespace, name };
    const identity = await find(identities, { name }, signal);
    if (!identity) {
      throw new CredentialsError(
        `identityRef: there is no OpenStackClusterIdentity "${name}"; create it, or correct identityRef.name`,
      );
    }
    if (!mayUse(identity, await find(namespaces, { name: namespace }, signal))) {
      throw new CredentialsError(
        `identityRef: OpenStackClusterIdentity "${name}" may not be used in namespace "${namespace}"; give the namespace the labels its namespaceSelector asks for`,
      );
    }
    return { namespace: identity.spec.secretRef.namespace, name: identity.spec.secretRef.name };
  };

  return {
    async read(identity, namespace, { signal }) {
      const key = await secretKeyOf(identity, namespace, signal);
      const source = `Secret ${key.namespace}/${key.name}`;
      const secret = await find(secrets, key, signal);
      if (!secret) throw new CredentialsError(`${source} does not exist; create it with the key ${cloudsKey}`);
      const text = secret.data?.[cloudsKey];
      if (text === undefined || text === '') {
        throw new CredentialsError(`${source} has no key ${cloudsKey}; add a clouds.yaml under that key`);
      }
      const ca = decode(secret.data?.[caKey]);
      return {
        source,
        version: `${secret.metadata.uid}/${secret.metadata.resourceVersion}`,
        cloudsYaml: decode(text),
        ca: ca.trim() === '' ? undefined : ca,
      };
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
            if (secret.data?.[cloudsKey] !== old.data?.[cloudsKey] || secret.data?.[caKey] !== old.data?.[caKey]) {
              ofSecret(secret);
            }
          },
        }),
        identities.addHandler({
          onAdd: (identity, initial) => {
            if (!initial) ofIdentity(identity);
          },
          onUpdate: (identity, old) => {
            if (identity.metadata.generation !== old.metadata.generation) ofIdentity(identity);
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
      await Promise.all([secrets.run(signal), identities.run(signal), namespaces.run(signal)]);
    },
  };
}

function mayUse({ spec }: OpenStackClusterIdentity, namespace: Namespace | undefined): boolean {
  return (
    spec.namespaceSelector === undefined ||
    labelSelectorFromObject(spec.namespaceSelector).matches(namespace?.metadata.labels ?? {})
  );
}

/** Secrets are many and some are large; only the content of those that describe clouds is kept. */
function cloudsOnly(secret: Secret): Secret {
  const { name, namespace, uid, resourceVersion } = secret.metadata;
  const clouds = secret.data?.[cloudsKey];
  const ca = secret.data?.[caKey];
  return {
    apiVersion: secret.apiVersion,
    kind: secret.kind,
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
    ...(clouds !== undefined && { data: { [cloudsKey]: clouds, ...(ca !== undefined && { [caKey]: ca }) } }),
  };
}

const decode = (base64: string | undefined): string => Buffer.from(base64 ?? '', 'base64').toString('utf8');
