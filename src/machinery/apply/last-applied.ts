import { isJsonObject, type JsonObject } from '../json/value.ts';
import { asJson } from '../meta/crossings.ts';
import type { UnstructuredObject } from '../meta/types.ts';
import { compareObjects } from './compare.ts';
import { difference, type FieldSet } from './field-set.ts';
import { appliedSet } from './field-walk.ts';
import { goJson } from './path-element.ts';
import { typeOf, type VersionedKind } from './versioned-kind.ts';

export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** Only the default manager of `kubectl apply --server-side` migrates from client-side apply. */
export const kubectlManager = 'kubectl';

const maxAnnotationBytes = 256 * 1024;

function lastAppliedOf(object: UnstructuredObject): string {
  return object.metadata?.annotations?.[lastAppliedAnnotation] ?? '';
}

/**
 * Returns the fields that client-side apply wrote and that still have the same value. Server-side apply takes them over
 * without a conflict. Undefined if the object was not written by client-side apply, or in another version.
 */
export function fieldsOfLastApplied(
  live: UnstructuredObject,
  apiVersion: string,
  versions: VersionedKind,
): FieldSet | undefined {
  const text = lastAppliedOf(live);
  const type = typeOf(versions, apiVersion);
  if (text === '' || !type) return undefined;
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(config) || config['apiVersion'] !== apiVersion) return undefined;
  const { changed, removed } = compareObjects(type, config, asJson(live));
  return difference(difference(appliedSet(type, config), changed), removed);
}

/**
 * Updates the last-applied annotation after a server-side apply, so that users can return to client-side apply. Objects
 * without the annotation stay without it.
 */
export function syncLastApplied(object: UnstructuredObject, applied: UnstructuredObject): UnstructuredObject {
  if (lastAppliedOf(object) === '') return object;
  const { metadata, ...rest } = asJson(applied);
  const config: JsonObject = { ...rest };
  if (isJsonObject(metadata)) {
    const { annotations, ...otherMetadata } = metadata;
    config['metadata'] = otherMetadata;
    if (isJsonObject(annotations)) {
      const { [lastAppliedAnnotation]: _, ...otherAnnotations } = annotations;
      if (Object.keys(otherAnnotations).length > 0) {
        config['metadata'] = { ...otherMetadata, annotations: otherAnnotations };
      }
    }
  }
  const annotations: Record<string, string> = {
    ...object.metadata.annotations,
    [lastAppliedAnnotation]: `${goJson(config)}\n`,
  };
  let bytes = 0;
  for (const key in annotations) bytes += Buffer.byteLength(key) + Buffer.byteLength(annotations[key] ?? '');
  // Too large to store: the annotation is dropped so that the write does not fail.
  if (bytes > maxAnnotationBytes) delete annotations[lastAppliedAnnotation];
  if (annotations[lastAppliedAnnotation] === object.metadata.annotations?.[lastAppliedAnnotation]) return object;
  return { ...object, metadata: { ...object.metadata, annotations } };
}
