import type { Schema } from '../schema/types.ts';

const text: Schema = { type: 'string' };
const time: Schema = { type: 'string', format: 'date-time' };
const integer: Schema = { type: 'integer', format: 'int64' };
const textMap: Schema = { type: 'object', additionalProperties: text };

const ownerReference: Schema = {
  type: 'object',
  'x-kubernetes-map-type': 'atomic',
  required: ['apiVersion', 'kind', 'name', 'uid'],
  properties: {
    apiVersion: text,
    blockOwnerDeletion: { type: 'boolean' },
    controller: { type: 'boolean' },
    kind: text,
    name: text,
    uid: text,
  },
};

const managedFieldsEntry: Schema = {
  type: 'object',
  properties: {
    apiVersion: text,
    fieldsType: text,
    fieldsV1: { type: 'object' },
    manager: text,
    operation: text,
    subresource: text,
    time,
  },
};

/** Merge and ownership rules of object metadata, the same for all kinds. */
export const objectMetaSchema: Schema = {
  type: 'object',
  component: 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
  properties: {
    annotations: textMap,
    creationTimestamp: time,
    deletionGracePeriodSeconds: integer,
    deletionTimestamp: time,
    finalizers: {
      type: 'array',
      items: text,
      'x-kubernetes-list-type': 'set',
      'x-kubernetes-patch-strategy': 'merge',
    },
    generateName: text,
    generation: integer,
    labels: textMap,
    managedFields: { type: 'array', items: managedFieldsEntry, 'x-kubernetes-list-type': 'atomic' },
    name: text,
    namespace: text,
    ownerReferences: {
      type: 'array',
      items: ownerReference,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['uid'],
      'x-kubernetes-patch-strategy': 'merge',
      'x-kubernetes-patch-merge-key': 'uid',
    },
    resourceVersion: text,
    selfLink: text,
    uid: text,
  },
};
