import { type FieldError, fieldError } from '../errors/field-error.ts';
import type { JsonObject, JsonValue } from '../json/value.ts';
import type { ObjectMeta } from '../meta/types.ts';
import { checkDns1035Label, checkPathSegmentName } from '../validation/names.ts';
import { validateObjectMeta } from '../validation/object-meta.ts';
import { objectMetaSchema } from './metadata.ts';
import { own } from './own.ts';
import { bracketPath, joinPath, type PathSegment } from './path.ts';
import { subtreeQuery } from './subtree.ts';
import { checkTypes, decodeErrorText } from './type-check.ts';
import type { Schema } from './types.ts';

type ResourceCheck = (resource: JsonObject, path: string) => void;

const hasEmbedded = subtreeQuery((schema) => schema['x-kubernetes-embedded-resource'] === true);

/** Appends errors about the apiVersion, kind and metadata of embedded resources. */
export function validateEmbeddedResources(
  value: JsonValue,
  schema: Schema,
  prefix: string,
  errors: FieldError[],
): void {
  if (!hasEmbedded(schema)) return;
  walk(value, schema, [], (resource, path) => validateResource(resource, joinPath(prefix, path), errors));
}

function walk(value: JsonValue | undefined, schema: Schema, path: PathSegment[], check: ResourceCheck): void {
  if (typeof value !== 'object' || value === null || !hasEmbedded(schema)) return;
  if (Array.isArray(value)) {
    if (!schema.items) return;
    for (let i = 0; i < value.length; i++) {
      path.push(i);
      walk(value[i], schema.items, path, check);
      path.pop();
    }
    return;
  }
  if (schema['x-kubernetes-embedded-resource'] === true) {
    check(value, bracketPath(path));
  }
  const rest = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  for (const key in value) {
    const property = own(schema.properties, key);
    const member = property ?? rest;
    if (!member) continue;
    path.push(property ? key : { key });
    walk(value[key], member, path, check);
    path.pop();
  }
}

function validateResource(resource: JsonObject, path: string, errors: FieldError[]): void {
  const { apiVersion, kind, metadata } = resource;
  const at = (field: string): string => joinPath(path, field);
  if (apiVersion === undefined) errors.push(fieldError.required(at('apiVersion')));
  else if (typeof apiVersion !== 'string') {
    errors.push(fieldError.invalid(at('apiVersion'), apiVersion, 'must be a string'));
  } else if (apiVersion === '') errors.push(fieldError.invalid(at('apiVersion'), apiVersion, 'must not be empty'));
  else if (apiVersion.split('/').length > 2) {
    errors.push(fieldError.invalid(at('apiVersion'), apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
  }
  if (kind === undefined) errors.push(fieldError.required(at('kind')));
  else if (typeof kind !== 'string') errors.push(fieldError.invalid(at('kind'), kind, 'must be a string'));
  else if (kind === '') errors.push(fieldError.invalid(at('kind'), kind, 'must not be empty'));
  else {
    const problems = checkDns1035Label(kind.toLowerCase());
    if (problems.length > 0) {
      const detail = `may have mixed case, but should otherwise match: ${problems.join(',')}`;
      errors.push(fieldError.invalid(at('kind'), kind, detail));
    }
  }
  if (metadata === undefined) return;
  const mismatch = checkTypes(metadata, objectMetaSchema);
  if (mismatch) errors.push(fieldError.invalid(at('metadata'), metadata, decodeErrorText(mismatch)));
  else if (metadata !== null) errors.push(...validateEmbeddedMeta(metadata as ObjectMeta, at('metadata')));
}

/** An embedded object needs neither a name nor a namespace. */
function validateEmbeddedMeta(meta: ObjectMeta, path: string): FieldError[] {
  const named = meta.name ? meta : { ...meta, name: 'unnamed' };
  return validateObjectMeta(named, { namespaced: Boolean(meta.namespace), nameValidator: checkPathSegmentName, path });
}

/**
 * Finds the first resource inside a custom resource whose apiVersion, kind or metadata cannot be decoded.
 * kube-apiserver detects this while decoding and answers 400, not 422.
 */
export function findUndecodableResource(value: JsonValue, schema: Schema): FieldError | undefined {
  if (!hasEmbedded(schema)) return undefined;
  const errors: FieldError[] = [];
  walk(value, schema, [], (resource, path) => checkDecodable(resource, path, errors));
  return errors[0];
}

function checkDecodable(resource: JsonObject, path: string, errors: FieldError[]): void {
  for (const key of ['apiVersion', 'kind'] as const) {
    const value = resource[key];
    if (value !== undefined && typeof value !== 'string') {
      errors.push(fieldError.invalid(joinPath(path, key), value, 'must be a string'));
    }
  }
  const mismatch = checkTypes(resource['metadata'], objectMetaSchema);
  if (mismatch) {
    errors.push(fieldError.invalid(joinPath(path, 'metadata'), resource['metadata'], decodeErrorText(mismatch)));
  }
}
