import type { UnstructuredObject } from '../meta/types.ts';
import type { Schema } from '../schema/types.ts';
import type { FieldOrder } from './field-set.ts';
import { type FieldType, type KindOrigin, rootTypeOf } from './type-model.ts';

/** What field ownership must know of a kind: its shape in each version, and how to get from one to another. */
export interface VersionedKind {
  /** undefined when the kind has no such version (any more): managers recorded in it are forgotten */
  schema(apiVersion: string): Schema | undefined;
  /** must not change its input */
  convert(object: UnstructuredObject, apiVersion: string): UnstructuredObject | Promise<UnstructuredObject>;
  /** `builtin` kinds are Go structs upstream, whose fields exist also when empty; default `custom` */
  origin?: KindOrigin;
}

export function typeOf(versions: VersionedKind, apiVersion: string): FieldType | undefined {
  const schema = versions.schema(apiVersion);
  return schema && rootTypeOf(schema, versions.origin ?? 'custom');
}

export function fieldOrderOf(versions: VersionedKind): FieldOrder {
  return versions.origin === 'builtin' ? 'typed' : 'plain';
}

/** The object in a version; no promise unless the conversion needs one. */
export function inVersion(
  versions: VersionedKind,
  object: UnstructuredObject,
  apiVersion: string,
): UnstructuredObject | Promise<UnstructuredObject> {
  if (object.apiVersion === apiVersion) return object;
  if (object.metadata !== undefined) return versions.convert(object, apiVersion);
  // Everything in metadata may have been pruned for the moment; conversions count on it.
  const converted = versions.convert({ ...object, metadata: {} }, apiVersion);
  return converted instanceof Promise ? converted.then(withoutMetadata) : withoutMetadata(converted);
}

function withoutMetadata(object: UnstructuredObject): UnstructuredObject {
  const { metadata: _, ...rest } = object;
  return rest as UnstructuredObject;
}
