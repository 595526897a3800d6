import {
  asUnstructured,
  checkTypes,
  decodeErrorText,
  fieldProblemsInOrder,
  findUndecodableResource,
  formatFieldError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  must,
  objectMetaSchema,
  own,
  parseApiVersion,
  pruneMetadata,
  pruneUnknownFields,
  type Schema,
  statusError,
  type TypeMismatch,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import type { ServedResource } from '../registry/index.ts';
import { fitTypes } from './own-kinds.ts';
import type { Caller, DecodedBody, FieldValidation } from './types.ts';

/**
 * Decodes a parsed body to an object of the kind and version in the URL, or throws the same 400 as kube-apiserver.
 * Unknown and duplicate fields are refused, reported as warnings or dropped silently, as the caller requests. The
 * result is private to the caller.
 */
export function decodeObject(
  body: DecodedBody,
  served: ServedResource,
  caller: Caller,
  fieldValidation: FieldValidation,
  /** an apply configuration keeps nulls, empty values and unknown fields, because they express intent */
  { applied = false }: { applied?: boolean } = {},
): UnstructuredObject {
  const { definition } = served.resource;
  if (!isJsonObject(body.value)) {
    throw statusError.badRequest(
      `the object provided is unrecognized (must be of type ${definition.kind}): couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonTypeName(body.value)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
    );
  }
  const draft = body.value;
  checkTypeMeta(draft, served);
  if (draft['metadata'] === undefined || draft['metadata'] === null) draft['metadata'] = {};
  const { schema } = served.version;
  const { unknownFields, mismatch: badMetadata } = pruneMetadata(draft);
  if (applied && unknownFields.length > 0) throw undeclared(served, draft, unknownFields);
  if (badMetadata) {
    const goField = badMetadata.goField.replace(/^(\w+)\./, '$1.metadata.');
    throw cannotDecode(served, { ...badMetadata, goField });
  }
  tidyMetadata(draft['metadata'] as JsonObject);
  if (served.resource.isCustom) {
    const undecodable = findUndecodableResource(draft as JsonValue, schema);
    if (undecodable) throw statusError.badRequest(formatFieldError(undecodable));
    if (definition.crd) fitTypes(draft, served);
  } else {
    const mismatch = checkTypes(draft, schema);
    if (mismatch) throw cannotDecode(served, mismatch);
  }
  if (applied) return asUnstructured(draft);
  const unknown = pruneUnknownFields(draft, schema);
  if (!served.resource.isCustom) dropUnset(draft, schema);
  reportFieldProblems(body, { unknownMetadata: unknownFields, unknown, caller, fieldValidation }, served);
  return asUnstructured(draft);
}

/** Refuses unknown metadata fields of a configuration; merging checks the other fields. */
function undeclared({ apiVersion, resource }: ServedResource, draft: JsonObject, fields: readonly string[]): Error {
  const { namespace, name } = draft['metadata'] as JsonObject;
  const list = fields.map((field) => `.${field}: field not declared in schema`);
  const text = list.length === 1 ? list[0] : `errors:\n${list.map((line) => `  ${line}`).join('\n')}`;
  const { group, version } = parseApiVersion(apiVersion);
  const object = `${typeof namespace === 'string' ? namespace : ''}/${typeof name === 'string' ? name : ''}`;
  const kind = `${group}/${version}, Kind=${resource.definition.kind}`;
  return statusError.badRequest(`failed to create typed patch object (${object}; ${kind}): ${text}`);
}

/** Metadata is decoded into Go types even for untyped objects: null means unset, or zero in a list. */
function tidyMetadata(metadata: JsonObject): void {
  for (const key in metadata) {
    const value = metadata[key];
    const schema = objectMetaSchema.properties?.[key];
    if (value === null) delete metadata[key];
    else if (schema && Array.isArray(value) && value.includes(null)) dropUnset(value, schema);
  }
}

function isEmptyCollection(value: JsonValue, schema: Schema): boolean {
  // Raw JSON is a value: an empty list has a meaning in `default: []` of a schema.
  if (schema['x-kubernetes-preserve-unknown-fields']) return false;
  if (Array.isArray(value)) return value.length === 0;
  if (schema.properties || typeof schema.additionalProperties !== 'object') return false;
  for (const _ in value as JsonObject) return false;
  return true;
}

/**
 * Removes values that Go would not keep. A null in a typed field is unset, and empty lists and maps are omitted; raw
 * JSON fields stay unchanged.
 */
export function dropUnset(value: JsonValue, schema: Schema): void {
  if (typeof value !== 'object' || value === null || schema['x-kubernetes-preserve-unknown-fields']) return;
  const node =
    schema.allOf?.length === 1 && !schema.properties && !schema.items
      ? must(schema.allOf[0], 'the first of schema.allOf')
      : schema;
  if (Array.isArray(value)) {
    const { items } = node;
    if (!items) return;
    for (let i = 0; i < value.length; i++) {
      if (value[i] === null) value[i] = zeroOf(items);
      else dropUnset(value[i] ?? null, items);
    }
    return;
  }
  const rest = typeof node.additionalProperties === 'object' ? node.additionalProperties : undefined;
  for (const key in value) {
    const child = value[key];
    // Fast path: only null and collections can be unset.
    if (typeof child !== 'object') continue;
    const property = own(node.properties, key);
    const member = property ?? rest;
    if (!member) continue;
    if (child === null) {
      // A map keeps the key with the zero value of its type.
      if (rest && !property && rest.type === 'string') value[key] = '';
      else delete value[key];
    } else {
      dropUnset(child, member);
      if (isEmptyCollection(child, member) && !node.required?.includes(key)) delete value[key];
    }
  }
}

/** Returns the value that Go decodes from a null in a list. */
function zeroOf(schema: Schema): JsonValue {
  switch (schema.type) {
    case 'string':
      return '';
    case 'integer':
    case 'number':
      return 0;
    case 'boolean':
      return false;
    case 'array':
      return null;
    default:
      return schema['x-kubernetes-int-or-string'] === true ? 0 : {};
  }
}

function checkTypeMeta(draft: JsonObject, served: ServedResource): void {
  const { definition } = served.resource;
  const kind = textMember(draft, 'kind');
  const apiVersion = textMember(draft, 'apiVersion');
  if (kind === undefined || kind === '' || kind === null) {
    if (served.resource.isCustom) {
      throw statusError.badRequest(`Object 'Kind' is missing in '${JSON.stringify(draft)}'`);
    }
    draft['kind'] = definition.kind;
  } else if (kind !== definition.kind) {
    throw statusError.badRequest(
      `${kind} in version "${versionOf(apiVersion ?? served.apiVersion)}" cannot be handled as a ${definition.kind}: no kind "${kind}" is registered for version "${apiVersion ?? served.apiVersion}" at this path`,
    );
  }
  if (apiVersion === undefined || apiVersion === '' || apiVersion === null) {
    if (served.resource.isCustom) {
      throw statusError.badRequest(`Object 'apiVersion' is missing in '${JSON.stringify(draft)}'`);
    }
    draft['apiVersion'] = served.apiVersion;
  } else if (apiVersion !== served.apiVersion) {
    throw statusError.badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${served.apiVersion})`,
    );
  }
}

function versionOf(apiVersion: string): string {
  return apiVersion.slice(apiVersion.indexOf('/') + 1);
}

function textMember(draft: JsonObject, name: 'kind' | 'apiVersion'): string | null | undefined {
  const value = draft[name];
  if (value === undefined || value === null || typeof value === 'string') return value;
  throw statusError.badRequest(
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonTypeName(value)} into Go struct field .${name} of type string`,
  );
}

function cannotDecode(served: ServedResource, mismatch: TypeMismatch): Error {
  const { kind } = served.resource.definition;
  return statusError.badRequest(
    `${kind} in version "${served.version.name}" cannot be handled as a ${kind}: ${decodeErrorText(mismatch)}`,
  );
}

/** Returns the JSON type name that Go's decoder uses in messages. */
export function jsonTypeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** Upstream's decoder stops at this number. More warnings would also exceed the header limit of many clients. */
const maxReportedProblems = 100;

interface FieldReport {
  readonly unknownMetadata: readonly string[];
  readonly unknown: readonly string[];
  readonly caller: Caller;
  readonly fieldValidation: FieldValidation;
}

/** Refuses or warns about unknown fields and duplicate keys. */
function reportFieldProblems(
  body: DecodedBody,
  { unknownMetadata, unknown, caller, fieldValidation }: FieldReport,
  served: ServedResource,
): void {
  if (fieldValidation === 'Ignore') return;
  const problems = fieldProblems(body, unknownMetadata, unknown, served.resource.isCustom);
  if (problems.length === 0) return;
  if (fieldValidation === 'Strict') {
    const { kind } = served.resource.definition;
    const lines = duplicateLineTexts(body);
    const yaml = lines.length === 0 ? [] : [yamlErrors(lines)];
    const text = `strict decoding error: ${[...yaml, ...problems.slice(lines.length)].join(', ')}`;
    throw statusError.badRequest(`${kind} in version "${served.version.name}" cannot be handled as a ${kind}: ${text}`);
  }
  for (const problem of problems) caller.warn(problem);
}

/** Describes duplicate YAML keys with the messages of upstream's YAML library. */
function duplicateLineTexts({ duplicateLines = [] }: DecodedBody): string[] {
  const lines = duplicateLines.map(({ line, key }) => `line ${line}: key ${JSON.stringify(key)} already set in map`);
  return lines.slice(0, maxReportedProblems);
}

function yamlErrors(lines: readonly string[]): string {
  return `yaml: unmarshal errors:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

/** Refuses or warns about duplicate keys of an applied configuration, which is parsed as YAML. */
export function reportAppliedDuplicates(body: DecodedBody, caller: Caller, fieldValidation: FieldValidation): void {
  const lines = fieldValidation === 'Ignore' ? [] : duplicateLineTexts(body);
  if (lines.length === 0) return;
  if (fieldValidation === 'Strict') {
    throw statusError.badRequest(`error strict decoding YAML: error converting YAML to JSON: ${yamlErrors(lines)}`);
  }
  for (const line of lines) caller.warn(line);
}

/**
 * Lists problems in upstream's order. Built-in kinds are checked in the order of the JSON (sorted for YAML and
 * patches), custom kinds afterwards.
 */
function fieldProblems(
  body: DecodedBody,
  unknownMetadata: readonly string[],
  unknown: readonly string[],
  custom: boolean,
): string[] {
  const { duplicateFields, json, problemPrefix = '', unknownFields = [] } = body;
  if (duplicateFields.length + unknownMetadata.length + unknown.length + unknownFields.length === 0) return [];
  const lines = duplicateLineTexts(body);
  const all = [...unknownMetadata, ...unknown];
  if (!custom && json !== undefined) {
    const inOrder = fieldProblemsInOrder(json, new Set(all));
    return inOrder.slice(0, maxReportedProblems).map(({ kind, path }) => `${kind} field ${JSON.stringify(path)}`);
  }
  const duplicates = lines.length > 0 ? [] : duplicateFields;
  return [
    ...lines,
    ...duplicates.map((path) => `${problemPrefix}duplicate field ${JSON.stringify(path)}`),
    ...unknownFields.map((path) => `${problemPrefix}unknown field ${JSON.stringify(path)}`),
    ...(custom ? all : all.sort()).slice(0, maxReportedProblems).map((path) => `unknown field ${JSON.stringify(path)}`),
  ].slice(0, maxReportedProblems);
}
