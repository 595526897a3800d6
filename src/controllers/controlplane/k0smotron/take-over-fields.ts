import { type K0smotronCluster, K0smotronClusters } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import {
  asJson,
  formatApiVersion,
  isJsonObject,
  type JsonObject,
  type ManagedFieldsEntry,
} from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { copiedSpecAnnotation, planeFieldManager } from './names.ts';

/**
 * Takes over the fields of a plane that k0smotron's own program created, before the first apply. Otherwise a field that
 * the user later removes from the control plane would stay in the plane, because its former manager still owns it.
 */
export async function takeOverFields(
  { client, signal }: Pick<ReconcileContext, 'client' | 'signal'>,
  plane: K0smotronCluster,
): Promise<void> {
  if (plane.metadata.annotations?.[copiedSpecAnnotation] === undefined) return;
  const key = objectKey(plane);
  // caches do not have field managers
  const live = await client.get(K0smotronClusters, key, { signal });
  const entries = live.metadata.managedFields ?? [];
  const managedFields = withOurs(entries);
  if (!managedFields) return;
  const patch = { metadata: { resourceVersion: live.metadata.resourceVersion ?? '', managedFields } };
  await client.patch(K0smotronClusters, key, 'merge', asJson(patch), { fieldManager: planeFieldManager, signal });
}

/** Moves spec and annotations to our entry; undefined if nobody else owns any. */
function withOurs(entries: readonly ManagedFieldsEntry[]): ManagedFieldsEntry[] | undefined {
  const apiVersion = formatApiVersion(K0smotronClusters.group, K0smotronClusters.version);
  let ours: JsonObject = {};
  const others: ManagedFieldsEntry[] = [];
  let hasMoved = false;
  for (const entry of entries) {
    const fields = asJson(entry.fieldsV1 ?? {});
    if (entry.operation === 'Apply' && entry.manager === planeFieldManager && !entry.subresource) {
      ours = merged(ours, fields);
      continue;
    }
    const taken = entry.operation === 'Update' && !entry.subresource ? takenFrom(fields) : {};
    if (Object.keys(taken).length === 0 || entry.apiVersion !== apiVersion) {
      others.push(entry);
      continue;
    }
    hasMoved = true;
    ours = merged(ours, taken);
    const left = without(fields, taken);
    if (Object.keys(left).length > 0) others.push({ ...entry, fieldsV1: left });
  }
  if (!hasMoved) return undefined;
  const own = { manager: planeFieldManager, operation: 'Apply', apiVersion, fieldsType: 'FieldsV1' } as const;
  return [{ ...own, fieldsV1: ours }, ...others];
}

/** Finalizers and owners stay with their managers. */
function takenFrom(fields: JsonObject): JsonObject {
  const spec = fields['f:spec'];
  const metadata = fields['f:metadata'];
  const annotations = isJsonObject(metadata) ? metadata['f:annotations'] : undefined;
  return {
    ...(spec !== undefined && { 'f:spec': spec }),
    ...(annotations !== undefined && { 'f:metadata': { 'f:annotations': annotations } }),
  };
}

function merged(a: JsonObject, b: JsonObject): JsonObject {
  const result: JsonObject = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const before = result[key];
    result[key] = isJsonObject(before) && isJsonObject(value) ? merged(before, value) : value;
  }
  return result;
}

/** Removes whole branches that were taken. */
function without(fields: JsonObject, taken: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(fields)) {
    const gone = taken[key];
    if (key === 'f:metadata' && isJsonObject(value) && isJsonObject(gone)) {
      const { 'f:annotations': _, ...kept } = value;
      if (Object.keys(kept).length > 0) result[key] = kept;
    } else if (gone === undefined) result[key] = value;
  }
  return result;
}
