import { gunzipSync, gzipSync } from 'node:zlib';
import { type ConfigMap, ConfigMaps } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { asJson, asTyped, isJsonObject, isNotFound, type KubeObject, parseJson } from '../../machinery/index.ts';
import { systemNamespace } from '../controller-identity.ts';

/**
 * `adopting`: upstream's managers are stopped one by one and ours take over. `adopted`: ours are active. `releasing`:
 * going back; this cannot be reversed.
 */
export type AdoptionPhase = 'adopting' | 'adopted' | 'releasing';

/** The original state of an upstream Deployment. */
export interface RecordedManager {
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
  readonly podLabels: Readonly<Record<string, string>>;
  readonly leases: readonly string[];
}

export type SavedKind = 'definition' | 'mutating' | 'validating' | 'provider' | 'extension';

/** A complete upstream object, saved in its own ConfigMap. */
export interface SavedObject {
  readonly kind: SavedKind;
  readonly name: string;
  readonly namespace?: string;
}

export interface AdoptionRecord {
  readonly phase: AdoptionPhase;
  readonly managers: readonly RecordedManager[];
  readonly saved: readonly SavedObject[];
  /** names of disabled webhooks */
  readonly stoppedWebhooks: readonly string[];
  /** whether the namespace of the record existed before */
  readonly hadNamespace: boolean;
  /** kinds that existed before, ours or not; the adoption added the others */
  readonly hadKinds: readonly string[];
  /** kinds of control planes as Pods that the stopped managers ran, and run again after a release */
  readonly planes?: readonly string[];
}

const recordName = 'capstan-adoption';
const by = { fieldManager: 'capstan-adoption', force: true };

export async function readAdoption(client: Client, signal: AbortSignal): Promise<AdoptionRecord | undefined> {
  const found = await find(client, recordName, signal);
  const record = parseJson(found?.data?.['record'] ?? 'null');
  return isJsonObject(record) ? asTyped<AdoptionRecord>(record) : undefined;
}

export async function writeAdoption(client: Client, record: AdoptionRecord, signal: AbortSignal): Promise<void> {
  const object = configMap(recordName);
  await client.apply(
    ConfigMaps,
    { ...object, data: { phase: record.phase, record: JSON.stringify(record) } },
    { ...by, signal },
  );
}

/** Saves a complete object, compressed because CustomResourceDefinitions are large. */
export async function saveObject(
  client: Client,
  saved: SavedObject,
  object: KubeObject,
  signal: AbortSignal,
): Promise<void> {
  const packed = gzipSync(JSON.stringify(asJson(object))).toString('base64');
  await client.apply(ConfigMaps, { ...configMap(nameOf(saved)), binaryData: { object: packed } }, { ...by, signal });
}

export async function readSaved<T extends KubeObject>(
  client: Client,
  saved: SavedObject,
  signal: AbortSignal,
): Promise<T | undefined> {
  const packed = (await find(client, nameOf(saved), signal))?.binaryData?.['object'];
  if (packed === undefined) return undefined;
  const object = parseJson(gunzipSync(Buffer.from(packed, 'base64')).toString('utf8'));
  return isJsonObject(object) ? asTyped<T>(object) : undefined;
}

/** Deletes the record of an adoption if the namespace stays. The main record goes last. */
export async function deleteAdoption(client: Client, { saved }: AdoptionRecord, signal: AbortSignal): Promise<void> {
  for (const name of [...saved.map(nameOf), recordName]) {
    await client.delete(ConfigMaps, { namespace: systemNamespace, name }, { signal }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
}

function nameOf({ kind, name, namespace }: SavedObject): string {
  return [recordName, kind, ...(namespace === undefined ? [] : [namespace]), name].join('.');
}

function configMap(name: string): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: systemNamespace } };
}

async function find(client: Client, name: string, signal: AbortSignal): Promise<ConfigMap | undefined> {
  try {
    return await client.get(ConfigMaps, { namespace: systemNamespace, name }, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
