import { gunzipSync, gzipSync } from 'node:zlib';
import { type ConfigMap, ConfigMaps } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { asJson, asTyped, isJsonObject, isNotFound, type KubeObject, parseJson } from '../../machinery/index.ts';
import { systemNamespace } from '../controller-identity.ts';

/**
 * `adopting`: upstream's managers are stopped one after the other and ours take their place. `adopted`: ours work. `releasing`: on the way
 * back; from there it only goes back.
 */
export type AdoptionPhase = 'adopting' | 'adopted' | 'releasing';

/** A Deployment of upstream as it was. */
export interface RecordedManager {
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
  readonly podLabels: Readonly<Record<string, string>>;
  readonly leases: readonly string[];
}

export type SavedKind = 'definition' | 'mutating' | 'validating' | 'provider';

/** An object of upstream that is kept whole, in a ConfigMap of its own. */
export interface SavedObject {
  readonly kind: SavedKind;
  readonly name: string;
  readonly namespace?: string;
}

export interface AdoptionRecord {
  readonly phase: AdoptionPhase;
  readonly managers: readonly RecordedManager[];
  readonly saved: readonly SavedObject[];
  /** webhooks that are switched off, by name */
  readonly stoppedWebhooks: readonly string[];
  /** the namespace of the record was there before */
  readonly hadNamespace: boolean;
  /** kinds that were there before, ours or not: others were brought by the take-over */
  readonly hadKinds: readonly string[];
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

/** Keeps an object whole, packed: definitions of kinds are large. */
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

/** Forgets an adoption where the namespace stays: the record itself last. */
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
