import type { UnstructuredObject } from '../meta/types.ts';
import type { Schema } from '../schema/types.ts';
import type { FieldOrder } from './field-set.ts';
import { type FieldType, type KindOrigin, rootTypeOf } from './type-model.ts';

/** Data about a kind that field ownership needs: schemas by version, and conversion between versions. */
export interface VersionedKind {
  /** undefined if the version does not exist (any more): its managers are dropped */
  schema(apiVersion: string): Schema | undefined;
  /** must not modify its input */
  convert(object: UnstructuredObject, apiVersion: string): UnstructuredObject | Promise<UnstructuredObject>;
  /** `builtin` kinds are Go structs upstream, whose fields exist even when empty; default `custom` */
  origin?: KindOrigin;
}

export function typeOf(versions: VersionedKind, apiVersion: string): FieldType | undefined {
  const schema = versions.schema(apiVersion);
  return schema && rootTypeOf(schema, versions.origin ?? 'custom');
}

export function fieldOrderOf(versions: VersionedKind): FieldOrder {
  return versions.origin === 'builtin' ? 'typed' : 'plain';
}

/** Converts the object to a version. Returns a promise only if the conversion does. */
export function inVersion(
  versions: VersionedKind,
  object: UnstructuredObject,
  apiVersion: string,
): UnstructuredObject | Promise<UnstructuredObject> {
  if (object.apiVersion === apiVersion) return object;
  if (object.metadata !== undefined) return versions.convert(object, apiVersion);
  // Metadata may have been pruned temporarily, but conversions expect it.
  const converted = versions.convert({ ...object, metadata: {} }, apiVersion);
  return converted instanceof Promise ? converted.then(withoutMetadata) : withoutMetadata(converted);
}

function withoutMetadata(object: UnstructuredObject): UnstructuredObject {
  const { metadata: _, ...rest } = object;
  return rest as UnstructuredObject;
}
