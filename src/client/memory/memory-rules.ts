import {
  clone,
  deepFreeze,
  fieldsMatch,
  isJsonObject,
  type JsonObject,
  type KubeObject,
  parseFieldSelector,
  parseLabelSelector,
} from '../../machinery/index.ts';
import type { ReadListOptions } from '../types.ts';

// Server behavior of the memory client as pure functions.

export type Stored = KubeObject & JsonObject;

export function withVersion(object: Stored, revision: number): Stored {
  return deepFreeze({ ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } }) as Stored;
}

/** Returns the content of an object; a change of it increments the generation. */
export function contentOf(object: Stored): JsonObject {
  const { metadata: _metadata, status: _status, ...content } = object;
  return content as JsonObject;
}

/** Tells whether nothing blocks the removal of an object. */
export function isFree(object: Stored): boolean {
  if ((object.metadata.finalizers ?? []).length > 0) return false;
  if (object.kind !== 'Namespace' || object.apiVersion !== 'v1') return true;
  const spec = object['spec'];
  const held = isJsonObject(spec) ? spec['finalizers'] : undefined;
  return !Array.isArray(held) || held.length === 0;
}

/**
 * Returns the stored object with the parts of `desired` that a write to the main resource or a subresource may change.
 */
export function nextState(stored: Stored, desired: Stored, subresource: string | undefined): Stored {
  const draft = clone(stored);
  if (subresource === 'status') {
    if (desired['status'] === undefined) delete draft['status'];
    else draft['status'] = clone(desired['status']);
    return draft;
  }
  if (subresource === 'finalize') {
    draft['spec'] = {
      ...(draft['spec'] as JsonObject),
      finalizers: (desired['spec'] as JsonObject | undefined)?.['finalizers'],
    };
    return draft;
  }
  const next = clone(desired);
  if (draft['status'] === undefined) delete next['status'];
  else next['status'] = draft['status'];
  // Finalizers of a namespace change only through the subresource.
  if (stored.kind === 'Namespace' && stored.apiVersion === 'v1' && draft['spec'] !== undefined)
    next['spec'] = draft['spec'];
  const { uid, creationTimestamp, generation, deletionTimestamp, deletionGracePeriodSeconds } = stored.metadata;
  next.metadata = {
    ...next.metadata,
    ...(uid !== undefined && { uid }),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
    ...(generation !== undefined && { generation }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...(deletionGracePeriodSeconds !== undefined && { deletionGracePeriodSeconds }),
  };
  if (next.metadata.finalizers?.length === 0) delete next.metadata.finalizers;
  if (next.metadata.ownerReferences?.length === 0) delete next.metadata.ownerReferences;
  return next;
}

export function matcher(
  options: Pick<ReadListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>,
): (object: Stored) => boolean {
  const { namespace } = options;
  const labels = options.labelSelector ? parseLabelSelector(options.labelSelector) : undefined;
  const fields = options.fieldSelector ? parseFieldSelector(options.fieldSelector) : undefined;
  return (object) => {
    if (namespace !== undefined && namespace !== '' && object.metadata.namespace !== namespace) return false;
    if (labels && !labels.matches(object.metadata.labels)) return false;
    return !fields || fieldsMatch(fields, (path) => readField(object, path));
  };
}

function readField(object: Stored, path: string): string {
  let node: unknown = object;
  for (const step of path.split('.')) node = isJsonObject(node) ? node[step] : undefined;
  return node === undefined || node === null ? '' : String(node);
}
