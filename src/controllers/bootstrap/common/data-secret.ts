import { type BootstrapFormat, clusterNameLabel, type Secret, Secrets } from '../../../api/index.ts';
import { type Client, objectKey, withOptimisticLock } from '../../../client/index.ts';
import {
  ignoreNotFound,
  isAlreadyExists,
  type JsonObject,
  type JsonValue,
  type KubeObject,
  type Resource,
} from '../../../machinery/index.ts';
import { clusterSecretType, controllerOf, fieldManager, ownerReference, withOwner } from '../../shared/index.ts';
import { BootstrapInputError } from './machine-content.ts';

export interface DataSecretAccess {
  client: Client;
  /** the bootstrap configuration, which gives the Secret its name */
  config: KubeObject;
  resource: Resource;
  signal: AbortSignal;
}

export interface DataSecretWish extends DataSecretAccess {
  clusterName: string;
  userData: string;
  format: BootstrapFormat;
}

/** Stores what a machine boots with, under the name of its configuration; resolves with that name. */
export async function writeDataSecret(wish: DataSecretWish): Promise<string> {
  const { client, config, signal } = wish;
  const secret = dataSecret(wish);
  try {
    await client.create(Secrets, secret, { fieldManager, signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const existing = await client.get(Secrets, objectKey(config), { signal });
    await update(wish, existing, secret);
  }
  return config.metadata.name ?? '';
}

/** Makes sure the Secret, where it exists, belongs to its configuration; false when there is none. */
export async function keepDataSecretOwned(access: DataSecretAccess): Promise<boolean> {
  const { client, config, signal } = access;
  const secret = await client.get(Secrets, objectKey(config), { signal }).catch(ignoreNotFound);
  if (!secret) return false;
  await update(access, secret, undefined);
  return true;
}

async function update(access: DataSecretAccess, existing: Secret, wished: Secret | undefined): Promise<void> {
  const { client, config, resource, signal } = access;
  const other = controllerOf(existing);
  if (other && (other.kind !== resource.kind || other.name !== config.metadata.name)) {
    const { name = '' } = existing.metadata;
    throw new BootstrapInputError(
      `Secret ${name} belongs to ${other.kind} ${other.name}; delete it, or give the machine another name`,
      { mayHeal: true },
    );
  }
  const patch: JsonObject = {};
  const owners = withOwner(existing.metadata.ownerReferences, ownerReference(config, resource, { controller: true }));
  const metadata: JsonObject = {};
  if (owners !== existing.metadata.ownerReferences) metadata['ownerReferences'] = owners as unknown as JsonValue;
  if (wished) {
    const label = wished.metadata.labels?.[clusterNameLabel] ?? '';
    if (existing.metadata.labels?.[clusterNameLabel] !== label) metadata['labels'] = { [clusterNameLabel]: label };
    const changed = Object.entries(wished.data ?? {}).filter(([key, value]) => existing.data?.[key] !== value);
    if (changed.length > 0) patch['data'] = Object.fromEntries(changed);
  }
  if (Object.keys(metadata).length > 0) patch['metadata'] = metadata;
  if (Object.keys(patch).length === 0) return;
  await client.patch(Secrets, objectKey(existing), 'merge', withOptimisticLock(patch, existing), {
    fieldManager,
    signal,
  });
}

function dataSecret({ config, resource, clusterName, userData, format }: DataSecretWish): Secret {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const { name = '', namespace = '' } = config.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace,
      labels: { [clusterNameLabel]: clusterName },
      ownerReferences: [ownerReference(config, resource, { controller: true })],
    },
    type: clusterSecretType,
    data: { value: base64(userData), format: base64(format) },
  };
}
