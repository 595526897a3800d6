import { type Client, objectKey } from '../../../client/index.ts';
import type { WorkloadObject } from '../../../hosting/index.ts';
import {
  ignoreNotFound,
  isAlreadyExists,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type KubeObject,
} from '../../../machinery/index.ts';
import { shows } from '../../shared/index.ts';
import { resourceOfObject } from './resources.ts';

export interface InClusterOptions {
  /** client of the workload cluster */
  client: Client;
  fieldManager: string;
  signal: AbortSignal;
}

/**
 * Ensures the required objects in a workload cluster. Reads first, and writes nothing if all is as desired. Returns the
 * number of writes.
 */
export async function reconcileInCluster(options: InClusterOptions, specs: readonly WorkloadObject[]): Promise<number> {
  let writes = 0;
  for (const desired of specs) if (await reconcileOne(options, desired)) writes++;
  return writes;
}

async function reconcileOne(options: InClusterOptions, desired: WorkloadObject): Promise<boolean> {
  const { client, fieldManager, signal } = options;
  const { object } = desired;
  const resource = resourceOfObject(object);
  const apply = async (content: KubeObject): Promise<true> => {
    await client.apply(resource, content, { fieldManager, force: true, signal });
    return true;
  };
  // a missing field in the spec cannot be distinguished from a field of another owner; server-side apply resolves that and is a
  // no-op without changes
  if (desired.mode === 'own') return await apply(object);
  const live = await client.get(resource, objectKey(object), { signal }).catch(ignoreNotFound);
  if (desired.mode === 'gone') {
    if (!live || !shows(live, object)) return false;
    await client.delete(resource, objectKey(object), { signal }).catch(ignoreNotFound);
    return true;
  }
  if (desired.mode === 'keep') return live && shows(live, object) ? false : await apply(object);
  if (live && desired.mode === 'marked') {
    if (live.metadata.annotations?.[desired.mark] === undefined || shows(live, object)) return false;
    // a full update with the observed resourceVersion, so that a Secret taken over by someone else stays unchanged
    const annotations = { ...live.metadata.annotations, ...object.metadata.annotations };
    const next = { ...live, ...object, metadata: { ...live.metadata, annotations } };
    await client.update(resource, next, { fieldManager, signal });
    return true;
  }
  if (live && desired.mode === 'once') {
    const patch = followed(live, object, desired.follow ?? []);
    return patch ? await apply(patch) : false;
  }
  // created without field ownership: users own it from now on, or it is written as a whole
  await client.create(resource, object, { fieldManager, signal }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
  return true;
}

/** Returns an object to apply that changes only the given paths to the spec; undefined if they match. */
export function followed(
  live: KubeObject,
  desired: KubeObject,
  paths: readonly (readonly string[])[],
): KubeObject | undefined {
  const partial: JsonObject = {};
  let differs = false;
  for (const path of paths) {
    const wanted = at(desired, path);
    if (wanted === undefined) continue;
    if (!shows(at(live, path), wanted)) differs = true;
    put(partial, path, wanted, desired);
  }
  if (!differs) return undefined;
  const { name, namespace } = desired.metadata;
  return {
    ...partial,
    apiVersion: desired.apiVersion,
    kind: desired.kind,
    metadata: { ...(name !== undefined && { name }), ...(namespace !== undefined && { namespace }) },
  } as KubeObject;
}

/** A path element into a list is the name of the entry. */
function at(object: unknown, path: readonly string[]): JsonValue | undefined {
  let node: unknown = object;
  for (const step of path) {
    if (Array.isArray(node)) node = node.find((entry) => isJsonObject(entry) && entry['name'] === step);
    else node = isJsonObject(node) ? node[step] : undefined;
  }
  return node as JsonValue | undefined;
}

/** Builds the path to a value. List entries get their names, as server-side apply requires. */
function put(into: JsonObject, path: readonly string[], value: JsonValue, desired: unknown): void {
  const [step = '', ...rest] = path;
  if (rest.length === 0) {
    into[step] = value;
    return;
  }
  const source = at(desired, [step]);
  if (!Array.isArray(source)) {
    const child = isJsonObject(into[step]) ? into[step] : {};
    into[step] = child;
    put(child, rest, value, source);
    return;
  }
  const [name = '', ...inside] = rest;
  const list = Array.isArray(into[step]) ? (into[step] as JsonObject[]) : [];
  into[step] = list;
  let entry = list.find((one) => one['name'] === name);
  if (!entry) {
    entry = { name };
    list.push(entry);
  }
  if (inside.length > 0) put(entry, inside, value, at(source, [name]));
}
