import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  MutatingWebhookConfigurations,
  Namespaces,
  Pods,
  ValidatingWebhookConfigurations,
  type WebhookConfiguration,
} from '../../api/index.ts';
import { type Client, objectKey } from '../../client/index.ts';
import { CapstanError, isAlreadyExists, isNotFound, type KubeObject, type Resource } from '../../machinery/index.ts';
import { configurationName } from '../../webhooks/index.ts';
import { systemNamespace } from '../controller-identity.ts';
import { resourceOf } from '../install/apply-installation.ts';
import type { Installation } from '../install/installation.ts';
import { isInstalledByUs } from '../install/labels.ts';
import { migrateStorage } from '../install/storage-migration.ts';
import { controllersKey } from '../install/workload.ts';
import { type AdoptionIo, configurationKind, enteredKind } from './adopt.ts';
import { restoreDefinition } from './definitions.ts';
import { findNamed } from './find-named.ts';
import { handBackK0smotronPlanes, releaseObstacles } from './k0smotron-planes.ts';
import { k0smotronPlanes } from './known-managers.ts';
import { adoptionManager, restoreOwners } from './owners.ts';
import { type AdoptionRecord, deleteAdoption, readSaved, type SavedObject, writeAdoption } from './record.ts';
import { forgetEndOfUpstream } from './shared-identities.ts';
import { scale, startManagers, waitForOwnEnd } from './stop-managers.ts';
import { switchOn } from './switch-webhooks.ts';
import { waitFor } from './wait.ts';

const by = { fieldManager: adoptionManager };

/** Restores the recorded state. An interrupted release continues when called again. */
export async function releaseAdoption(
  io: AdoptionIo,
  installation: Installation,
  record: AdoptionRecord,
): Promise<void> {
  const { client, clock, signal, onProgress } = io;
  await refuseLostRecord(client, record, signal);
  await refuseUnfinishedPlanes(client, record, signal);
  if (record.phase !== 'releasing') await writeAdoption(client, { ...record, phase: 'releasing' }, signal);
  await forgetEndOfUpstream(client, signal);
  await storeAsBefore(io, record);
  await stopOwn(client, io);
  onProgress('stopped our controllers');
  const planes = ranPlanes(record) ? await handBackK0smotronPlanes(client, { clock, signal }) : 0;
  if (planes > 0) onProgress(`left the Pods of ${planes} control planes to k0smotron`);
  await eachSaved<CustomResourceDefinition>(client, record, 'definition', signal, (object) =>
    restoreDefinition(client, object, signal),
  );
  // Before upstream's webhooks are back, which would refuse the writes until its managers run.
  await enterAllAgain(io, record, 'extension');
  for (const kind of ['mutating', 'validating'] as const) {
    const resource = configurationKind(kind);
    if (!resource) continue;
    await eachSaved<WebhookConfiguration>(client, record, kind, signal, (object) =>
      switchOn(client, resource, object, signal),
    );
  }
  onProgress(`put back ${record.saved.length} objects of upstream`);
  await removeOwn(io, installation, record);
  await enterAllAgain(io, record, 'provider');
  await startManagers(client, record.managers, { clock, signal });
  onProgress(`started ${record.managers.length} managers`);
  // The record is deleted last, so that an interrupted command can continue.
  if (record.hadNamespace) await deleteAdoption(client, record, signal);
  else await remove(client, Namespaces, { name: systemNamespace }, signal);
}

/** Runs before any change, because an incomplete record cannot be restored. */
async function refuseLostRecord(client: Client, record: AdoptionRecord, signal: AbortSignal): Promise<void> {
  for (const key of record.saved) {
    if (await readSaved(client, key, signal)) continue;
    throw new CapstanError('CAP_ADOPTION', `the note of ${key.kind} ${key.name} in ${systemNamespace} is missing`, {
      hint: 'nothing was changed; install the provider again as it was, for instance with clusterctl, after `capstan uninstall`',
    });
  }
}

/** Without a program to go back to, control planes stay as they are. */
const ranPlanes = ({ planes }: AdoptionRecord): boolean => planes?.includes(k0smotronPlanes.kind) === true;

/** Runs before any change; once the controllers are stopped, nothing would finish. */
async function refuseUnfinishedPlanes(client: Client, record: AdoptionRecord, signal: AbortSignal): Promise<void> {
  if (record.phase === 'releasing' || !ranPlanes(record)) return;
  const obstacles = await releaseObstacles(client, signal);
  if (obstacles.length === 0) return;
  throw new CapstanError('CAP_ADOPTION', `not given back yet: ${obstacles.join('; ')}`, {
    hint: 'nothing was changed; run the same command again once this is done',
  });
}

async function eachSaved<T extends KubeObject>(
  client: Client,
  { saved }: AdoptionRecord,
  kind: SavedObject['kind'],
  signal: AbortSignal,
  restore: (object: T) => Promise<void>,
): Promise<void> {
  for (const key of saved.filter((one) => one.kind === kind)) {
    const object = await readSaved<T>(client, key, signal);
    if (object) await restore(object);
  }
}

/**
 * Upstream's definition may lack the current storage version. While our conversion webhook still runs, the storage
 * version is set back and all objects are rewritten.
 */
async function storeAsBefore({ client, signal, onProgress }: AdoptionIo, record: AdoptionRecord): Promise<void> {
  const concerned = new Set<string>();
  await eachSaved<CustomResourceDefinition>(client, record, 'definition', signal, async (saved) => {
    const name = saved.metadata.name ?? '';
    const present = await findNamed(client, CustomResourceDefinitions, name, signal);
    const before = new Set(saved.spec.versions.map((version) => version.name));
    const storage = saved.spec.versions.find((version) => version.storage)?.name;
    if (!present || !isInstalledByUs(present) || storage === undefined) return;
    if ((present.status?.storedVersions ?? []).every((version) => before.has(version))) return;
    concerned.add(name);
    const versions = present.spec.versions.map((version) => ({ ...version, storage: version.name === storage }));
    if (versions.every((version, index) => version.storage === present.spec.versions[index]?.storage)) return;
    await client.update(
      CustomResourceDefinitions,
      { ...present, spec: { ...present.spec, versions } },
      { ...by, signal },
    );
  });
  if (concerned.size === 0) return;
  await migrateStorage(client, ({ metadata }) => concerned.has(metadata.name ?? ''), {
    signal,
    onMigrated: (name, objects, version) => onProgress(`stored ${objects} objects of ${name} as ${version} again`),
    onRefused: (name, reason) => {
      throw new CapstanError(
        'CAP_ADOPTION',
        `objects of ${name} cannot be stored in the version that upstream supports: ${reason}`,
        {
          hint: 'the Capstan controllers convert these objects, and must run until they are stored again (`capstan controller --install` if they run outside); correct the cause and run the same command again',
        },
      );
    },
  });
}

/** Removes the webhooks first, then stops the controllers. */
async function stopOwn(client: Client, { clock, signal }: AdoptionIo): Promise<void> {
  const configurations: readonly Resource<WebhookConfiguration>[] = [
    MutatingWebhookConfigurations,
    ValidatingWebhookConfigurations,
  ];
  for (const resource of configurations) await remove(client, resource, { name: configurationName }, signal);
  await scale(client, controllersKey, 0, signal);
  const labelSelector = 'app.kubernetes.io/name=capstan,app.kubernetes.io/component=controllers';
  await waitFor(
    async () => {
      const { items } = await client.list(Pods, { namespace: systemNamespace, labelSelector, limit: 1, signal });
      return items[0] && `Pod ${systemNamespace}/${items[0].metadata.name} still runs`;
    },
    { clock, signal, patienceMs: 120_000, hint: 'run the same command again to continue' },
  );
  await waitForOwnEnd(client, { clock, signal });
}

/**
 * Removes everything of an installation except the namespace, which contains the record. Kinds are removed only if they
 * are unused.
 */
async function removeOwn(
  { client, mapper, signal, onProgress }: AdoptionIo,
  { kinds, others }: Installation,
  record: AdoptionRecord,
): Promise<void> {
  for (const object of [...others].reverse()) {
    if (object.kind === 'Namespace') continue;
    const resource = await resourceOf(mapper, object, signal);
    const { name = '', namespace } = object.metadata;
    await remove(client, resource, { name, ...(namespace !== undefined && { namespace }) }, signal);
  }
  const before = new Set(record.hadKinds);
  for (const { metadata, spec } of kinds) {
    const name = metadata.name ?? '';
    const present = before.has(name) ? undefined : await findNamed(client, CustomResourceDefinitions, name, signal);
    if (!present || !isInstalledByUs(present)) continue;
    if (await hasObjects(client, spec, signal)) onProgress(`${name} stays: objects of it exist`);
    else await remove(client, CustomResourceDefinitions, { name }, signal);
  }
}

async function hasObjects(
  client: Client,
  { group, names, scope, versions }: CustomResourceDefinition['spec'],
  signal: AbortSignal,
): Promise<boolean> {
  const version = versions.find(({ storage }) => storage)?.name ?? '';
  const { kind, plural } = names;
  const resource: Resource<KubeObject> = { group, version, kind, plural, namespaced: scope === 'Namespaced' };
  try {
    return (await client.list(resource, { limit: 1, signal })).items.length > 0;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

async function enterAllAgain(
  { client, signal }: AdoptionIo,
  record: AdoptionRecord,
  kind: 'provider' | 'extension',
): Promise<void> {
  const resource = enteredKind(kind);
  if (!resource) return;
  await eachSaved(client, record, kind, signal, (object) => enterAgain(client, resource, object, signal));
}

async function enterAgain(
  client: Client,
  resource: Resource<KubeObject>,
  { metadata, ...content }: KubeObject,
  signal: AbortSignal,
): Promise<void> {
  const { name = '', namespace, labels, annotations } = metadata;
  const again = {
    ...content,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
    },
  };
  const entered = await client.create(resource, again, { ...by, signal }).catch(async (error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
    return await client.get(resource, objectKey(again), { signal });
  });
  await restoreOwners(client, resource, entered, { managedFields: metadata.managedFields, signal });
}

async function remove<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  key: { name: string; namespace?: string },
  signal: AbortSignal,
): Promise<void> {
  await client.delete(resource, key, { signal }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}
