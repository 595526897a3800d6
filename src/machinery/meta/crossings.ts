import type { JsonObject, JsonValue } from '../json/value.ts';
import type { KubeObject, UnstructuredObject } from './types.ts';

// Where typed objects and JSON meet. An interface has no index signature, so the compiler cannot see that a typed object
// holds nothing but JSON, nor that JSON which passed the schema of a kind has the type of that kind. These functions are
// the places that say so; they do nothing at run time.

/** A typed object, or a list of them, as the JSON it is. */
export function asJson(value: readonly object[]): JsonObject[];
export function asJson(value: object): JsonObject;
export function asJson(value: object): JsonObject | JsonObject[] {
  return value as JsonObject | JsonObject[];
}

/** The typed view of an object whose shape has been checked: by the schema of its kind, or by whoever wrote it. */
export function asTyped<T extends object>(value: JsonValue | KubeObject): T {
  return value as object as T;
}

/** An object of any kind, its fields read by name. */
export function asUnstructured(object: KubeObject | JsonObject): UnstructuredObject {
  return object as UnstructuredObject;
}
