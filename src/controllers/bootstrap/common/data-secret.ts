import { type BootstrapFormat, clusterNameLabel, type Secret, Secrets } from '../../../api/index.ts';
import { type Client, objectKey, withOptimisticLock } from '../../../client/index.ts';
import {
  asJson,
  ignoreNotFound,
  isAlreadyExists,
  type JsonObject,
  type KubeObject,
  type Resource,
} from '../../../machinery/index.ts';
import {
  clusterSecretType,
  controllerOf,
  fieldManager,
  ownerReference,
  type ReadSecret,
  withOwner,
} from '../../shared/index.ts';
import { BootstrapInputError } from './machine-content.ts';

export interface DataSecretAccess {
  client: Client;
  /** the bootstrap configuration; the Secret takes its name */
  config: KubeObject;
  resource: Resource;
  /** reads a Secret from a cache; a missing one is then requested from the API */
  cached?: ReadSecret;
  signal: AbortSignal;
}

export interface DataSecretSpec extends DataSecretAccess {
  clusterName: string;
  userData: string;
  format: BootstrapFormat;
  /** added to the labels that every data Secret has */
  labels?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
  /** further keys besides the user data itself */
  extra?: Readonly<Record<string, string>>;
}

/** Writes the user data Secret, named after the configuration, and returns its name. */
export async function writeDataSecret(desired: DataSecretSpec): Promise<string> {
  const { client, config, signal } = desired;
  const secret = dataSecret(desired);
  try {
    await client.create(Secrets, secret, { fieldManager, signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const existing = await client.get(Secrets, objectKey(config), { signal });
    await update(desired, existing, secret);
  }
  return config.metadata.name ?? '';
}

export function findDataSecret({ client, config, signal }: DataSecretAccess): Promise<Secret | undefined> {
  return client.get(Secrets, objectKey(config), { signal }).catch(ignoreNotFound);
}

/** Sets the owner reference of an existing Secret; returns undefined if there is no Secret. */
export async function keepDataSecretOwned(access: DataSecretAccess): Promise<Secret | undefined> {
  const secret = access.cached?.(objectKey(access.config)) ?? (await findDataSecret(access));
  if (secret) await update(access, secret, undefined);
  return secret;
}

async function update(access: DataSecretAccess, existing: Secret, wanted: Secret | undefined): Promise<void> {
  const { client, config, resource, signal } = access;
  const other = controllerOf(existing);
  if (other && (other.kind !== resource.kind || other.name !== config.metadata.name)) {
    const { name = '' } = existing.metadata;
    throw new BootstrapInputError(
      `Secret ${name} belongs to ${other.kind} ${other.name}; delete it, or rename the machine`,
      { mayHeal: true },
    );
  }
  const patch: JsonObject = {};
  const owners = withOwner(existing.metadata.ownerReferences, ownerReference(config, resource, { controller: true }));
  const metadata: JsonObject = {};
  if (owners !== existing.metadata.ownerReferences) metadata['ownerReferences'] = asJson(owners);
  if (wanted) {
    const labels = missing(wanted.metadata.labels, existing.metadata.labels);
    if (labels) metadata['labels'] = labels;
    const annotations = missing(wanted.metadata.annotations, existing.metadata.annotations);
    if (annotations) metadata['annotations'] = annotations;
    const data = missing(wanted.data, existing.data);
    if (data) patch['data'] = data;
  }
  if (Object.keys(metadata).length > 0) patch['metadata'] = metadata;
  if (Object.keys(patch).length === 0) return;
  await client.patch(Secrets, objectKey(existing), 'merge', withOptimisticLock(patch, existing), {
    fieldManager,
    signal,
  });
}

type Texts = Readonly<Record<string, string>>;

/** Returns the wanted entries that are absent or different; undefined if there are none. */
function missing(wanted: Texts | undefined, existing: Texts | undefined): Record<string, string> | undefined {
  const changed = Object.entries(wanted ?? {}).filter(([key, value]) => existing?.[key] !== value);
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}

function dataSecret(desired: DataSecretSpec): Secret {
  const { config, resource, clusterName, userData, format, labels, annotations, extra } = desired;
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const { name = '', namespace = '' } = config.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace,
      labels: { ...labels, [clusterNameLabel]: clusterName },
      ...(annotations && { annotations: { ...annotations } }),
      ownerReferences: [ownerReference(config, resource, { controller: true })],
    },
    type: clusterSecretType,
    data: Object.fromEntries(
      Object.entries({ ...extra, value: userData, format }).map(([key, value]) => [key, base64(value)]),
    ),
  };
}
