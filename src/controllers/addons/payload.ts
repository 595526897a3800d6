import { createHash } from 'node:crypto';
import type { ConfigMap, Secret } from '../../api/index.ts';
import {
  asUnstructured,
  isJsonObject,
  type JsonObject,
  parseYamlDocuments,
  type UnstructuredObject,
  YamlParseError,
} from '../../machinery/index.ts';

/** Limit of objects in one Secret or ConfigMap. The API limits their size to about 1 MiB. */
const maxObjects = 1000;

/** The objects parsed from one Secret or ConfigMap. */
export interface Payload {
  /** computed from the values alone, as upstream does */
  readonly hash: string;
  /** in apply order */
  readonly objects: readonly UnstructuredObject[];
}

export type PayloadAnswer = { readonly payload: Payload } | { readonly problem: string };

/** Parses every value as YAML or JSON documents. Errors never quote the content, which may be secret. */
export function readPayload(source: Secret | ConfigMap): PayloadAnswer {
  const values = valuesOf(source);
  const hash = createHash('sha256');
  for (const [, bytes] of values) hash.update(bytes);
  const objects: UnstructuredObject[] = [];
  for (const [key, bytes] of values) {
    const problem = readValue(bytes.toString('utf8'), objects);
    if (problem !== undefined) return { problem: `key ${JSON.stringify(key)}: ${problem}` };
  }
  if (objects.length === 0) return { problem: 'it holds no objects; put manifests under its keys' };
  return { payload: { hash: `sha256:${hash.digest('hex')}`, objects: inInstallOrder(objects) } };
}

function valuesOf(source: Secret | ConfigMap): [string, Buffer][] {
  const encoding = source.kind === 'Secret' ? 'base64' : 'utf8';
  return Object.entries(source.data ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => [key, Buffer.from(value, encoding)]);
}

function readValue(text: string, into: UnstructuredObject[]): string | undefined {
  let documents: ReturnType<typeof parseYamlDocuments>;
  try {
    documents = parseYamlDocuments(text);
  } catch (error) {
    return error instanceof YamlParseError ? `line ${error.line} is not valid YAML` : 'it is not valid YAML or JSON';
  }
  for (const { value, line } of documents) {
    const list = isJsonObject(value) && isList(value) ? value['items'] : [value];
    for (const item of list) {
      const problem = isJsonObject(item) ? problemOf(item) : 'is no object';
      if (problem !== undefined) return `the document at line ${line} ${problem}`;
      into.push(prepared(item as JsonObject));
      if (into.length > maxObjects) return `it holds more than ${maxObjects} objects`;
    }
  }
  return undefined;
}

function isList(value: JsonObject): value is JsonObject & { items: JsonObject[] } {
  return typeof value['kind'] === 'string' && value['kind'].endsWith('List') && Array.isArray(value['items']);
}

function problemOf(object: JsonObject): string | undefined {
  const { apiVersion, kind, metadata } = object;
  if (typeof apiVersion !== 'string' || apiVersion === '') return 'has no apiVersion';
  if (typeof kind !== 'string' || kind === '') return 'has no kind';
  if (!isJsonObject(metadata)) return 'has no metadata';
  if (typeof metadata['name'] !== 'string' || metadata['name'] === '') return 'has no metadata.name';
  const { namespace } = metadata;
  if (namespace !== undefined && namespace !== null && typeof namespace !== 'string') {
    return 'has a metadata.namespace that is no text';
  }
  return undefined;
}

/** Removes server-set fields, so that objects exported from one cluster can be applied to another. */
function prepared(object: JsonObject): UnstructuredObject {
  const { metadata, status: _, ...rest } = object;
  const { creationTimestamp, resourceVersion, uid, generation, managedFields, selfLink, namespace, ...kept } =
    metadata as JsonObject;
  return asUnstructured({
    ...withEncodedData(rest),
    metadata: { ...kept, ...(typeof namespace === 'string' && namespace !== '' && { namespace }) },
  });
}

/** Encodes `stringData` into `data`, as the server does, so that desired and observed Secrets can be compared. */
function withEncodedData(object: JsonObject): JsonObject {
  if (object['apiVersion'] !== 'v1' || object['kind'] !== 'Secret' || !isJsonObject(object['stringData']))
    return object;
  const { stringData, ...rest } = object;
  const data: JsonObject = isJsonObject(rest['data']) ? { ...rest['data'] } : {};
  for (const [key, value] of Object.entries(stringData as JsonObject)) {
    if (typeof value === 'string') data[key] = Buffer.from(value, 'utf8').toString('base64');
  }
  return { ...rest, data };
}

/**
 * Apply order by kind: kinds that others depend on first, APIServices and webhook configurations, which can block
 * writes, last. All other kinds keep their order.
 */
const first = [
  'Namespace',
  'CustomResourceDefinition',
  'PriorityClass',
  'StorageClass',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'Secret',
  'ConfigMap',
  'ServiceAccount',
  'LimitRange',
  'ResourceQuota',
  'ClusterRole',
  'Role',
  'ClusterRoleBinding',
  'RoleBinding',
];
const last = ['APIService', 'MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'];
const rank: ReadonlyMap<string, number> = new Map([
  ...first.map((kind, index) => [kind, index - first.length] as const),
  ...last.map((kind) => [kind, 1] as const),
]);

function inInstallOrder(objects: readonly UnstructuredObject[]): UnstructuredObject[] {
  return objects.toSorted((a, b) => (rank.get(a.kind) ?? 0) - (rank.get(b.kind) ?? 0));
}
