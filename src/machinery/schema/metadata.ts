import { isJsonObject, type JsonObject } from '../json/value.ts';
import { own } from './own.ts';
import { dottedPath, type PathSegment } from './path.ts';
import { checkTypes, type TypeMismatch } from './type-check.ts';
import type { Schema } from './types.ts';

const string: Schema = { type: 'string' };
const stringMap: Schema = { type: 'object', additionalProperties: string };
const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const time: Schema = { type: 'string', format: 'date-time', component: `${meta}.Time` };
const int64: Schema = { type: 'integer', format: 'int64' };

/** ObjectMeta as the server decodes it. Descriptions are added when OpenAPI is published. */
export const objectMetaSchema: Schema = {
  type: 'object',
  component: `${meta}.ObjectMeta`,
  properties: {
    annotations: stringMap,
    creationTimestamp: time,
    deletionGracePeriodSeconds: int64,
    deletionTimestamp: time,
    finalizers: { type: 'array', items: string, 'x-kubernetes-list-type': 'set' },
    generateName: string,
    generation: int64,
    labels: stringMap,
    managedFields: {
      type: 'array',
      items: {
        type: 'object',
        component: `${meta}.ManagedFieldsEntry`,
        properties: {
          apiVersion: string,
          fieldsType: string,
          // Raw JSON: any value can be decoded.
          fieldsV1: { 'x-kubernetes-preserve-unknown-fields': true, component: `${meta}.FieldsV1` },
          manager: string,
          operation: string,
          subresource: string,
          time,
        },
      },
      'x-kubernetes-list-type': 'atomic',
    },
    name: string,
    namespace: string,
    ownerReferences: {
      type: 'array',
      items: {
        type: 'object',
        component: `${meta}.OwnerReference`,
        properties: {
          apiVersion: string,
          blockOwnerDeletion: { type: 'boolean' },
          controller: { type: 'boolean' },
          kind: string,
          name: string,
          uid: string,
        },
        required: ['apiVersion', 'kind', 'name', 'uid'],
        'x-kubernetes-map-type': 'atomic',
      },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['uid'],
    },
    resourceVersion: string,
    selfLink: string,
    uid: string,
  },
};

/** Result of pruning an object's metadata. */
export interface MetadataPruning {
  /** paths of removed fields, such as `metadata.foo`, sorted */
  unknownFields: string[];
  /** set if the metadata cannot be decoded; then nothing was pruned */
  mismatch?: TypeMismatch;
}

/** Removes unknown fields from `draft.metadata` and checks the types of the others. */
export function pruneMetadata(draft: JsonObject): MetadataPruning {
  const { metadata } = draft;
  if (metadata === undefined || metadata === null) return { unknownFields: [] };
  const mismatch = checkTypes(metadata, objectMetaSchema, 'metadata');
  if (mismatch) return { unknownFields: [], mismatch };
  const unknownFields: string[] = [];
  pruneMeta(metadata as JsonObject, objectMetaSchema, ['metadata'], unknownFields);
  return { unknownFields: unknownFields.sort() };
}

/** Prunes the metadata of an embedded resource. Metadata of the wrong type is left to validation. */
export function pruneEmbeddedMetadata(resource: JsonObject, path: PathSegment[], unknown: string[]): void {
  const { metadata } = resource;
  if (!isJsonObject(metadata)) return;
  if (checkTypes(metadata, objectMetaSchema)) return;
  path.push('metadata');
  pruneMeta(metadata, objectMetaSchema, path, unknown);
  path.pop();
  // Decoding and encoding ObjectMeta drops an unset time.
  if (metadata['creationTimestamp'] === null) delete metadata['creationTimestamp'];
}

function pruneMeta(draft: JsonObject, schema: Schema, path: PathSegment[], unknown: string[]): void {
  for (const key in draft) {
    const member = own(schema.properties, key);
    if (!member) {
      path.push(key);
      unknown.push(dottedPath(path));
      path.pop();
      delete draft[key];
      continue;
    }
    const items = member.items;
    const value = draft[key];
    if (!items?.properties || !Array.isArray(value)) continue;
    for (let i = 0; i < value.length; i++) {
      const item = value[i];
      if (!isJsonObject(item)) continue;
      path.push(key, i);
      pruneMeta(item, items, path, unknown);
      path.length -= 2;
    }
  }
}
