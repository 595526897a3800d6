import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { pruneEmbeddedMetadata } from './metadata.ts';
import { own } from './own.ts';
import { dottedPath, type PathSegment } from './path.ts';
import type { Schema } from './types.ts';

/**
 * Removes unknown fields from a draft and returns their paths, sorted. Does not touch apiVersion, kind and metadata of
 * the object itself. Embedded resources keep theirs, with metadata pruned to ObjectMeta.
 */
export function pruneUnknownFields(draft: JsonObject, schema: Schema): string[] {
  const unknown: string[] = [];
  pruneMembers(draft, schema, { isResource: true, keepUnknown: keepsUnknown(schema) }, [], unknown);
  return unknown.length > 1 ? unknown.sort() : unknown;
}

/** Removes unknown fields from a value that is not a whole resource, such as a default. */
export function pruneValue(draft: JsonValue, schema: Schema): string[] {
  const unknown: string[] = [];
  prune(draft, schema, [], unknown);
  return unknown.sort();
}

function prune(draft: JsonValue | undefined, schema: Schema | undefined, path: PathSegment[], unknown: string[]): void {
  if (typeof draft !== 'object' || draft === null) return;
  if (Array.isArray(draft)) {
    const items = schema?.items;
    for (let i = 0; i < draft.length; i++) {
      const item = draft[i];
      if (typeof item !== 'object' || item === null) continue;
      path.push(i);
      if (!keepsUnknown(schema)) prune(item, items, path, unknown);
      else if (items) prunePreserved(item, items, path, unknown);
      path.pop();
    }
    return;
  }
  const isResource = schema?.['x-kubernetes-embedded-resource'] === true;
  if (isResource) pruneEmbeddedMetadata(draft, path, unknown);
  pruneMembers(draft, schema, { isResource, keepUnknown: keepsUnknown(schema) }, path, unknown);
}

/** Elements of a list with x-kubernetes-preserve-unknown-fields keep unknown fields. Declared members are pruned. */
function prunePreserved(draft: JsonValue, schema: Schema, path: PathSegment[], unknown: string[]): void {
  if (isJsonObject(draft)) {
    const isResource = schema['x-kubernetes-embedded-resource'] === true;
    pruneMembers(draft, schema, { isResource, keepUnknown: true }, path, unknown);
  } else if (Array.isArray(draft) && schema.items) {
    for (let i = 0; i < draft.length; i++) {
      path.push(i);
      prunePreserved(draft[i] ?? null, schema.items, path, unknown);
      path.pop();
    }
  }
}

function keepsUnknown(schema: Schema | undefined): boolean {
  return schema?.['x-kubernetes-preserve-unknown-fields'] === true;
}

function pruneMembers(
  draft: JsonObject,
  schema: Schema | undefined,
  { isResource, keepUnknown }: { isResource: boolean; keepUnknown: boolean },
  path: PathSegment[],
  unknown: string[],
): void {
  const properties = schema?.properties;
  const additional = schema?.additionalProperties;
  for (const key in draft) {
    if (isResource && (key === 'apiVersion' || key === 'kind' || key === 'metadata')) continue;
    const member = own(properties, key);
    if (member !== undefined || (additional !== undefined && additional !== false)) {
      const value = draft[key];
      if (typeof value !== 'object' || value === null) continue;
      path.push(key);
      // With `additionalProperties: true` the values have no schema, so all their fields are pruned, as upstream.
      prune(value, member ?? (typeof additional === 'object' ? additional : undefined), path, unknown);
      path.pop();
    } else if (!keepUnknown) {
      path.push(key);
      unknown.push(dottedPath(path));
      path.pop();
      delete draft[key];
    }
  }
}
