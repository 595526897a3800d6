import {
  CustomResourceDefinitions,
  Deployments,
  ExtensionConfigs,
  MutatingWebhookConfigurations,
  Namespaces,
  Providers,
  ValidatingWebhookConfigurations,
  type WebhookConfiguration,
} from '../../api/index.ts';
import type { Client, RestMapper } from '../../client/index.ts';
import {
  type Clock,
  inParallel,
  isAlreadyExists,
  isJsonObject,
  isNotFound,
  type KubeObject,
  type Resource,
} from '../../machinery/index.ts';
import { configurationName } from '../../webhooks/index.ts';
import { systemNamespace } from '../controller-identity.ts';
import { applyInstallation } from '../install/apply-installation.ts';
import { applyKinds, definitionsAtOnce } from '../install/apply-kinds.ts';
import type { Installation } from '../install/installation.ts';
import { installedLabels, isInstalledByUs } from '../install/labels.ts';
import { migrateStorage } from '../install/storage-migration.ts';
import { controllersKey } from '../install/workload.ts';
import { disownDefinition, replaceDefinition } from './definitions.ts';
import { findNamed } from './find-named.ts';
import { listed } from './listed.ts';
import type { FoundManager } from './managers.ts';
import { adoptionManager } from './owners.ts';
import {
  type AdoptionRecord,
  type RecordedManager,
  type SavedKind,
  type SavedObject,
  saveObject,
  writeAdoption,
} from './record.ts';
import { noteEndOfUpstream } from './shared-identities.ts';
import { stopManagers } from './stop-managers.ts';
import type { Survey } from './survey.ts';
import { switchOff } from './switch-webhooks.ts';
import { waitFor } from './wait.ts';

export interface AdoptionIo {
  readonly client: Client;
  readonly mapper: RestMapper;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  onProgress(line: string): void;
}

export interface AdoptOptions extends AdoptionIo {
  readonly installation: Installation;
  /** false: the controllers run outside the cluster */
  readonly withControllers: boolean;
}

/** Includes the time to pull images. */
const readyPatienceMs = 300_000;

/**
 * Records the current state, so that it can be restored. Nothing of upstream changes before the record is complete. A
 * repeated start writes the record again.
 */
export async function beginAdoption(io: AdoptionIo, survey: Survey): Promise<AdoptionRecord> {
  const { client, signal, onProgress } = io;
  const namespace = await findNamed(client, Namespaces, systemNamespace, signal);
  // A namespace created by an earlier attempt is removed at the end.
  const hadNamespace = namespace !== undefined && !isInstalledByUs(namespace);
  await ensureNamespace(client, signal);
  const objects: [SavedObject, KubeObject][] = [
    ...survey.kinds.map((object) => saved('definition', object)),
    ...survey.configurations.map(({ resource, object }) =>
      saved(resource.kind === MutatingWebhookConfigurations.kind ? 'mutating' : 'validating', {
        ...object,
        apiVersion: `${resource.group}/${resource.version}`,
        kind: resource.kind,
      }),
    ),
    ...survey.inventory.map((object) => saved('provider', object)),
    ...survey.extensions.map((object) => saved('extension', object)),
  ];
  for (const [key, object] of objects) await saveObject(client, key, object, signal);
  const kinds = await listed(client, CustomResourceDefinitions, signal);
  const record: AdoptionRecord = {
    phase: 'adopting',
    managers: survey.managers.map(recorded),
    saved: objects.map(([key]) => key),
    stoppedWebhooks: survey.configurations.flatMap(({ stopped }) => stopped.map(({ name }) => name)),
    hadNamespace,
    hadKinds: kinds.map(({ metadata }) => metadata.name ?? ''),
    planes: [...new Set(survey.managers.flatMap(({ known }) => known.planes?.kind ?? []))],
  };
  await writeAdoption(client, record, signal);
  onProgress(`noted ${objects.length} objects of upstream in ConfigMaps of ${systemNamespace}`);
  return record;
}

/**
 * Performs the adoption after the record. Every step checks the current state first, so an interrupted adoption
 * continues when called again.
 */
export async function carryOutAdoption(options: AdoptOptions, record: AdoptionRecord): Promise<void> {
  const { client, clock, signal, onProgress } = options;
  await stopManagers(client, record.managers, { clock, signal });
  onProgress(`stopped ${record.managers.length} managers`);
  await switchWebhooksOff(client, record, signal);
  await forget(client, record, signal);
  await noteEndOfUpstream(client, signal);
  await takeKinds(options, record);
  if (options.withControllers) {
    await applyInstallation(client, options.mapper, options.installation, { clock, signal, onApplied: () => {} });
    onProgress('installed the controllers');
    await waitFor(() => whatIsMissing(client, signal), {
      clock,
      signal,
      patienceMs: readyPatienceMs,
      hint: `look at the Pods of ${systemNamespace}; run the same command again to continue, or with --release to revert`,
    });
    await migrateStorage(client, isInstalledByUs, {
      signal,
      onMigrated: (name, objects, version) => onProgress(`stored ${objects} objects of ${name} as ${version}`),
      onRefused: (name, reason) => onProgress(`${name} is not stored in one version yet: ${reason}`),
    });
  }
  await writeAdoption(client, { ...record, phase: 'adopted' }, signal);
}

function saved(kind: SavedKind, object: KubeObject): [SavedObject, KubeObject] {
  const { name = '', namespace } = object.metadata;
  return [{ kind, name, ...(namespace !== undefined && { namespace }) }, object];
}

function recorded({ namespace, name, replicas, podLabels, known }: FoundManager): RecordedManager {
  return { namespace, name, replicas, podLabels, leases: known.leases };
}

async function ensureNamespace(client: Client, signal: AbortSignal): Promise<void> {
  const namespace = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: systemNamespace, labels: { ...installedLabels } },
  };
  await client.create(Namespaces, namespace, { fieldManager: adoptionManager, signal }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

async function switchWebhooksOff(client: Client, record: AdoptionRecord, signal: AbortSignal): Promise<void> {
  const stopped = new Set(record.stoppedWebhooks);
  for (const { kind, name } of record.saved) {
    const resource = configurationKind(kind);
    if (resource) await switchOff(client, resource, name, { stopped, signal });
  }
}

/** Returns the kind of a saved webhook configuration; undefined for other kinds. */
export function configurationKind(kind: SavedKind): Resource<WebhookConfiguration> | undefined {
  if (kind === 'mutating') return MutatingWebhookConfigurations;
  return kind === 'validating' ? ValidatingWebhookConfigurations : undefined;
}

/**
 * Deletes inventory entries, because clusterctl allows one per provider and ours replace those of upstream, and the
 * runtime extensions of the stopped managers, which nobody serves any more.
 */
async function forget(client: Client, record: AdoptionRecord, signal: AbortSignal): Promise<void> {
  for (const { kind, name, namespace } of record.saved) {
    const resource = enteredKind(kind);
    if (!resource) continue;
    const key = { name, ...(namespace !== undefined && { namespace }) };
    await client.delete(resource, key, { signal }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
}

/** Returns the kind of a saved object that an adoption deletes and a release creates again. */
export function enteredKind(kind: SavedKind): Resource<KubeObject> | undefined {
  if (kind === 'provider') return Providers;
  return kind === 'extension' ? ExtensionConfigs : undefined;
}

async function takeKinds(
  { client, clock, signal, installation, onProgress }: AdoptOptions,
  record: AdoptionRecord,
): Promise<void> {
  const taken = new Set(record.saved.filter(({ kind }) => kind === 'definition').map(({ name }) => name));
  const some = { atOnce: definitionsAtOnce };
  const wanted = installation.kinds.filter(({ metadata }) => taken.has(metadata.name ?? ''));
  await inParallel(wanted, (definition) => replaceDefinition(client, definition, signal), some);
  await applyKinds(client, installation.kinds, { clock, signal });
  await inParallel(taken, (name) => disownDefinition(client, name, signal), some);
  onProgress(`took over ${taken.size} kinds, and brought what was missing`);
}

/** Our installation is ready when one replica is ready and API servers have the CA of the webhooks. */
async function whatIsMissing(client: Client, signal: AbortSignal): Promise<string | undefined> {
  const { status } = await client.get(Deployments, controllersKey, { signal });
  if ((status?.availableReplicas ?? 0) === 0) {
    return `Deployment ${controllersKey.namespace}/${controllersKey.name} has no replica that is available`;
  }
  for (const resource of [MutatingWebhookConfigurations, ValidatingWebhookConfigurations]) {
    const found = await findNamed<WebhookConfiguration>(client, resource, configurationName, signal);
    if (!found?.webhooks?.every(({ clientConfig }) => clientConfig?.caBundle !== undefined)) {
      return `${resource.kind} ${configurationName} does not say yet whom to trust`;
    }
  }
  const kinds = (await listed(client, CustomResourceDefinitions, signal)).filter(isInstalledByUs);
  const untrusted = kinds.find(
    ({ spec }) => spec.conversion?.strategy === 'Webhook' && !hasBundle(spec.conversion.webhook),
  );
  return untrusted && `the definition ${untrusted.metadata.name} does not say yet whom to trust`;
}

function hasBundle(webhook: unknown): boolean {
  const config = isJsonObject(webhook) ? webhook['clientConfig'] : undefined;
  return isJsonObject(config) && typeof config['caBundle'] === 'string';
}
