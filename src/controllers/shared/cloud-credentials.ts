import type { IdentityReference, Namespace, OpenStackClusterIdentity, Secret } from '../../api/index.ts';
import type { ObjectKey } from '../../client/index.ts';
import { CapstanError, labelSelectorFromObject } from '../../machinery/index.ts';

// Finds the Secret for an identityRef.

/** Unusable credentials. The message names the faulty object, the cause and the remedy. */
export class CredentialsError extends CapstanError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('CAP_CLOUD_CREDENTIALS', message, options);
    this.name = 'CredentialsError';
  }
}

/** The keys of a Secret that describe a cloud. */
export interface CredentialText {
  /** for example `Secret default/cloud-config` */
  readonly source: string;
  /** changes with the content */
  readonly version: string;
  readonly cloudsYaml: string;
  readonly ca: string | undefined;
}

/** Keys of a credentials Secret. */
export const cloudsYamlKey = 'clouds.yaml';
export const cloudCaKey = 'cacert';

/** Reads the objects behind an identityRef; undefined if missing. */
export interface IdentityLookup {
  identity(name: string): Promise<OpenStackClusterIdentity | undefined>;
  namespace(name: string): Promise<Namespace | undefined>;
}

/** Resolves an identityRef of an object in this namespace to its Secret. Throws CredentialsError. */
export async function credentialSecretKey(
  lookup: IdentityLookup,
  { type, name }: Pick<IdentityReference, 'type' | 'name'>,
  namespace: string,
): Promise<ObjectKey> {
  if (type !== 'ClusterIdentity') return { namespace, name };
  const identity = await lookup.identity(name);
  if (!identity) {
    throw new CredentialsError(
      `identityRef: there is no OpenStackClusterIdentity "${name}"; create it, or correct identityRef.name`,
    );
  }
  if (!mayUse(identity, await lookup.namespace(namespace))) {
    throw new CredentialsError(
      `identityRef: OpenStackClusterIdentity "${name}" may not be used in namespace "${namespace}"; give the namespace the labels its namespaceSelector asks for`,
    );
  }
  return { namespace: identity.spec.secretRef.namespace, name: identity.spec.secretRef.name };
}

function mayUse({ spec }: OpenStackClusterIdentity, namespace: Namespace | undefined): boolean {
  return (
    spec.namespaceSelector === undefined ||
    labelSelectorFromObject(spec.namespaceSelector).matches(namespace?.metadata.labels ?? {})
  );
}

/** Reads the cloud keys of a Secret. Throws CredentialsError. */
export function credentialText(key: ObjectKey, secret: Secret | undefined): CredentialText {
  const source = `Secret ${key.namespace}/${key.name}`;
  if (!secret) throw new CredentialsError(`${source} does not exist; create it with the key ${cloudsYamlKey}`);
  const text = secret.data?.[cloudsYamlKey];
  if (text === undefined || text === '') {
    throw new CredentialsError(`${source} has no key ${cloudsYamlKey}; add a clouds.yaml under that key`);
  }
  const ca = decode(secret.data?.[cloudCaKey]);
  return {
    source,
    version: `${secret.metadata.uid}/${secret.metadata.resourceVersion}`,
    cloudsYaml: decode(text),
    ca: ca.trim() === '' ? undefined : ca,
  };
}

const decode = (base64: string | undefined): string => Buffer.from(base64 ?? '', 'base64').toString('utf8');
