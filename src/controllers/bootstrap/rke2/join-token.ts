import { Clusters, clusterNameLabel, type Secret, Secrets } from '../../../api/index.ts';
import { ignoreNotFound, isAlreadyExists } from '../../../machinery/index.ts';
import { clusterSecretName, clusterSecretType, fieldManager, ownerReference, secretText } from '../../shared/index.ts';
import { BootstrapInputError } from '../common/machine-content.ts';
import type { RKE2ConfigScope } from './scope.ts';

/** as sixteen bytes in hexadecimal digits */
const tokenLength = 32;
const hexadecimal = '0123456789abcdef';
const valueKey = 'value';

/** The token all machines of a cluster share: made once, by the machine that makes the cluster. */
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
      // not the configuration: it must outlive the machine that came first
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

/** The token of a cluster that exists; one that got lost is not made anew, for the servers know only the old one. */
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
