import { objectMetaSchema } from '../apply/object-meta-schema.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { own } from '../schema/own.ts';
import type { Schema } from '../schema/types.ts';
import { goJsonKind, PatchError } from './patch-error.ts';
import {
  dataOfPatch,
  deleteFromPrimitiveListPrefix,
  directiveMarker,
  goFormat,
  goTypeName,
  retainKeysDirective,
  setElementOrderPrefix,
  stripDirectives,
} from './strategic-directives.ts';
import {
  applySpecialElements,
  checkElementOrder,
  elementsAreObjects,
  missingMergeKey,
  orderElements,
  Positions,
} from './strategic-list.ts';

/**
 * Applies a strategic merge patch to an object of a built-in kind and returns the new object; the input stays as it was.
 * Lists merge by the `x-kubernetes-patch-*` extensions of the schema; what the schema does not know merges like a
 * JSON merge patch.
 * @throws PatchError 400 malformed, 422 unsupported lists, 500 contradictory directives (as kube-apiserver answers)
 */
export function applyStrategicMergePatch(document: JsonValue, patch: unknown, schema: Schema): JsonValue {
  if (patch === null) return document;
  if (!isJsonObject(patch)) {
    throw new PatchError(
      400,
      `json: cannot unmarshal ${goJsonKind(patch)} into Go value of type map[string]interface {}`,
    );
  }
  return mergeObject(isJsonObject(document) ? document : {}, patch, withObjectMeta(schema));
}

const rootSchemas = new WeakMap<Schema, Schema>();

/** Schemas of kinds describe metadata only loosely, but its merge rules are the same for all kinds. */
function withObjectMeta(schema: Schema): Schema {
  let root = rootSchemas.get(schema);
  if (!root) {
    root = { ...schema, properties: { ...schema.properties, metadata: objectMetaSchema } };
    rootSchemas.set(schema, root);
  }
  return root;
}

interface FieldMerge {
  schema: Schema | undefined;
  strategy: string;
  mergeKey: string;
}

const unknownField: FieldMerge = { schema: undefined, strategy: '', mergeKey: '' };

function fieldMerge(schema: Schema | undefined, field: string): FieldMerge | undefined {
  if (schema === undefined) return undefined;
  let node = own(schema.properties, field);
  if (!node && typeof schema.additionalProperties === 'object') node = schema.additionalProperties;
  if (!node) return undefined;
  if (node.component?.endsWith('.ObjectMeta') && !node.properties) node = objectMetaSchema;
  const strategies = node['x-kubernetes-patch-strategy'];
  const strategy = strategies
    ?.split(',')
    .filter((name) => name !== 'retainKeys')
    .join(',');
  return { schema: node, strategy: strategy ?? '', mergeKey: node['x-kubernetes-patch-merge-key'] ?? '' };
}

function mergeObject(live: JsonObject, patch: JsonObject, schema: Schema | undefined): JsonObject {
  const directive = patch[directiveMarker];
  if (directive === 'replace') return stripDirectives(patch) as JsonObject;
  if (directive === 'delete') return {};
  if (directive !== undefined) {
    throw new PatchError(500, `unknown patch type: ${goFormat(directive)} in map: ${goFormat(patch)}`);
  }
  const merged: JsonObject = { ...live };
  if (patch[retainKeysDirective] !== undefined) retainKeys(merged, patch);
  const ordered = mergeOrderedLists(merged, patch, schema);
  for (const key in patch) {
    const change = patch[key];
    if (change === undefined || key === retainKeysDirective || key === '__proto__') continue;
    if (key.startsWith(setElementOrderPrefix) || ordered?.has(key)) continue;
    if (key.startsWith(deleteFromPrimitiveListPrefix)) deleteFromPrimitiveList(merged, key, change);
    else mergeMember(merged, key, change, schema);
  }
  return merged;
}

function mergeMember(merged: JsonObject, key: string, change: JsonValue, schema: Schema | undefined): void {
  const before = merged[key];
  if (change === null) {
    delete merged[key];
  } else if (isJsonObject(before) && isJsonObject(change)) {
    const field = fieldMerge(schema, key) ?? unknownField;
    merged[key] = field.strategy === 'replace' ? stripDirectives(change) : mergeObject(before, change, field.schema);
  } else if (Array.isArray(before) && Array.isArray(change)) {
    const field = fieldMerge(schema, key) ?? unknownField;
    merged[key] = field.strategy === 'merge' ? mergeList(before, change, field) : stripDirectives(change);
  } else {
    const data = dataOfPatch(change);
    if (data === undefined) delete merged[key];
    else merged[key] = data;
  }
}

/** `$retainKeys` removes every member it does not name. Unions use it to switch between alternatives. */
function retainKeys(merged: JsonObject, patch: JsonObject): void {
  const names = patch[retainKeysDirective];
  if (!Array.isArray(names)) throw new PatchError(400, 'invalid patch format of retainKeys');
  const retained = new Set(names);
  for (const key in patch) {
    if (key === retainKeysDirective || patch[key] === null) continue;
    if (key.startsWith(deleteFromPrimitiveListPrefix) || key.startsWith(setElementOrderPrefix)) continue;
    if (!retained.has(key)) throw new PatchError(400, 'invalid patch format of retainKeys');
  }
  for (const key in merged) if (!retained.has(key)) delete merged[key];
}

/** Merges lists that have a `$setElementOrder/<field>` directive. Returns the merged fields. */
function mergeOrderedLists(merged: JsonObject, patch: JsonObject, schema: Schema | undefined): Set<string> | undefined {
  let done: Set<string> | undefined;
  for (const key in patch) {
    if (!key.startsWith(setElementOrderPrefix)) continue;
    const wanted = listArgument(patch[key] ?? null);
    const name = directiveField(key, setElementOrderPrefix, 'invalid patch format of setElementOrder list');
    const before = merged[name] === undefined ? undefined : listArgument(merged[name]);
    const change = patch[name] === undefined ? undefined : listArgument(patch[name]);
    const field = fieldMerge(schema, name);
    if (!field) {
      const struct = schema?.component?.split('.').at(-1) ?? 'object';
      throw new PatchError(500, `unable to find api field in struct ${struct} for the json field "${name}"`);
    }
    checkElementOrder(change ?? [], wanted, field.mergeKey);
    const list = before && change ? mergeField(before, change, field) : (before ?? (change && dataOfPatch(change)));
    if (!Array.isArray(list)) continue;
    merged[name] = orderElements(list, wanted, before ?? [], field.mergeKey);
    done ??= new Set();
    done.add(name);
  }
  return done;
}

function mergeField(before: JsonValue[], change: JsonValue[], field: FieldMerge): JsonValue[] {
  return field.strategy === 'merge' ? mergeList(before, change, field) : (stripDirectives(change) as JsonValue[]);
}

function mergeList(live: JsonValue[], patch: JsonValue[], field: FieldMerge): JsonValue[] {
  if (live.length === 0 && patch.length === 0) return live;
  if (!elementsAreObjects(live, patch)) {
    return orderElements([...new Set([...live, ...patch])], patch, live, '');
  }
  const { mergeKey } = field;
  if (mergeKey === '') throw new PatchError(500, 'cannot merge lists without merge key for struct');
  const split = applySpecialElements(live, patch, mergeKey);
  const merged = split.live.slice();
  const positions = new Positions(merged, mergeKey);
  for (const item of split.patch) {
    if (item[mergeKey] === undefined) throw missingMergeKey(item, mergeKey);
    const position = positions.of(item);
    if (position < 0) positions.add(item, merged.push(stripDirectives(item)) - 1);
    else merged[position] = mergeObject(merged[position] as JsonObject, item, field.schema?.items);
  }
  return orderElements(merged, split.patch, split.live, mergeKey);
}

function deleteFromPrimitiveList(merged: JsonObject, key: string, change: JsonValue): void {
  const name = directiveField(key, deleteFromPrimitiveListPrefix, 'invalid patch format of primitive list');
  const before = merged[name];
  if (!Array.isArray(before) || !Array.isArray(change)) return;
  const removed = new Set(change);
  merged[name] = before.filter((item) => !removed.has(item));
}

function directiveField(key: string, prefix: string, message: string): string {
  if (key.charAt(prefix.length) !== '/') throw new PatchError(400, message);
  return key.slice(prefix.length + 1);
}

function listArgument(value: JsonValue): JsonValue[] {
  if (Array.isArray(value)) return value;
  throw new PatchError(500, `expected a []interface {}, but received a ${goTypeName(value)}`);
}
