import { Clusters, clusterNameLabel, type Secret, Secrets } from '../../../api/index.ts';
import { ignoreNotFound, isAlreadyExists } from '../../../machinery/index.ts';
import { clusterSecretName, clusterSecretType, fieldManager, ownerReference, secretText } from '../../shared/index.ts';
import { BootstrapInputError } from '../common/machine-content.ts';
import type { RKE2ConfigScope } from './scope.ts';

/** 16 bytes as hexadecimal digits */
const tokenLength = 32;
const hexadecimal = '0123456789abcdef';
const valueKey = 'value';

/** Returns the join token shared by all machines of a cluster; the first machine creates it. */
export async function ensureJoinToken(scope: RKE2ConfigScope): Promise<string> {
  const { context, cluster } = scope;
  const existing = await readSecret(scope);
  if (existing) return tokenIn(existing);
  const value = context.random.text(tokenLength, hexadecimal);
  const secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      ...keyOf(scope),
      labels: { [clusterNameLabel]: cluster.metadata.name ?? '' },
      // owned by the cluster, not the configuration: the token must outlive the first machine
      ownerReferences: [ownerReference(cluster, Clusters, { controller: true })],
    },
    type: clusterSecretType,
    data: { [valueKey]: Buffer.from(value).toString('base64') },
  };
  try {
    await context.client.create(Secrets, secret, { fieldManager, signal: context.signal });
    return value;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return requireJoinToken(scope);
  }
}

/**
 * Returns the join token of an initialized cluster. A lost token is not recreated, because the servers accept only the
 * old one.
 */
export async function requireJoinToken(scope: RKE2ConfigScope): Promise<string> {
  const secret = await readSecret(scope);
  if (secret) return tokenIn(secret);
  const { namespace, name } = keyOf(scope);
  throw new BootstrapInputError(
    `Secret ${namespace}/${name} with the token of the cluster does not exist; put it back from a backup, ` +
      `or from /var/lib/rancher/rke2/server/token of a server, under the key ${valueKey}`,
    { mayHeal: true },
  );
}

function keyOf({ cluster }: RKE2ConfigScope): { namespace: string; name: string } {
  const { namespace = '', name = '' } = cluster.metadata;
  return { namespace, name: clusterSecretName(name, 'token') };
}

function readSecret(scope: RKE2ConfigScope): Promise<Secret | undefined> {
  const { client, signal } = scope.context;
  return client.get(Secrets, keyOf(scope), { signal }).catch(ignoreNotFound);
}

function tokenIn(secret: Secret): string {
  const token = secretText(secret, valueKey);
  if (token) return token;
  const { namespace, name } = secret.metadata;
  throw new BootstrapInputError(`Secret ${namespace}/${name} has no key "${valueKey}"; add it`, { mayHeal: true });
}
