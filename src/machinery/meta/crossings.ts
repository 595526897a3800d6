import type { JsonObject, JsonValue } from '../json/value.ts';
import type { KubeObject, UnstructuredObject } from './types.ts';

// Conversions between typed objects and JSON. Interfaces have no index signature, so the compiler cannot see that a
// typed object contains only JSON, nor that validated JSON has the type of its kind. These functions only cast; they do
// nothing at run time.

/** Casts a typed object, or a list of them, to JSON. */
export function asJson(value: readonly object[]): JsonObject[];
export function asJson(value: object): JsonObject;
export function asJson(value: object): JsonObject | JsonObject[] {
  return value as JsonObject | JsonObject[];
}

/** Casts an object whose shape has been checked: by the schema of its kind, or by its author. */
export function asTyped<T extends object>(value: JsonValue | KubeObject): T {
  return value as object as T;
}

/** Casts to an object whose fields are read by name. */
export function asUnstructured(object: KubeObject | JsonObject): UnstructuredObject {
  return object as UnstructuredObject;
}
