import type { IdentityReference, Namespace, OpenStackClusterIdentity, Secret } from '../../api/index.ts';
import type { ObjectKey } from '../../client/index.ts';
import { CapstanError, labelSelectorFromObject } from '../../machinery/index.ts';

// From the identityRef of an object to the Secret that opens its cloud.

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

/** Keys of a Secret with credentials. */
export const cloudsYamlKey = 'clouds.yaml';
export const cloudCaKey = 'cacert';

/** How what an identityRef leads through is found; undefined: there is none. */
export interface IdentityLookup {
  identity(name: string): Promise<OpenStackClusterIdentity | undefined>;
  namespace(name: string): Promise<Namespace | undefined>;
}

/** The Secret an identityRef of an object in this namespace leads to. Throws CredentialsError. */
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

/** What the Secret under a key says of clouds. Throws CredentialsError. */
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
