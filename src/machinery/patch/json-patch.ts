import { isDeeperThan, maxJsonDepth } from '../json/strict-json.ts';
import { jsonText } from '../json/stringify.ts';
import { clone, isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { doesNotApply, goJsonKind, PatchError } from './patch-error.ts';

/** kube-apiserver refuses longer JSON patches, because each operation may copy the document. */
export const maxJsonPatchOperations = 10_000;

/**
 * kube-apiserver refuses patches whose copies add up to more. A few copies of a part into itself would exhaust memory.
 */
export const maxJsonPatchCopiedBytes: number = 3 * 1024 * 1024;

/**
 * Maximum cost of all operations of a patch, in visited values. Every operation shifts lists and measures moved values
 * again, so the cost is unrelated to the size of the patch.
 */
export const maxJsonPatchSteps = 2_000_000;
/** list elements that can be shifted in the time one value is visited */
const shiftedPerStep = 32;

interface Operation {
  op: string;
  path: string | undefined;
  from: string | undefined;
  /** undefined when the operation has no value */
  value: JsonValue | undefined;
}

type Container = JsonObject | JsonValue[];

/** The document being patched. A container is copied when a path through it is first written. */
interface Work {
  root: JsonValue;
  readonly copied: Set<object>;
  /** bytes added by `copy` operations so far */
  copiedBytes: number;
  /** remaining steps */
  steps: number;
  readonly strict: boolean;
}

export interface JsonPatchOptions {
  /** `replace` requires an existing value, as in the RFC */
  strict?: boolean;
}

const arrayIndexPattern = /^[+-]?\d+$/;

/**
 * Applies an RFC 6902 patch and returns the new document; the input stays as it was and unchanged parts are shared.
 * Follows kube-apiserver where it is more forgiving than the RFC: `replace` of an absent member adds it, `copy` of an
 * absent member and `add` without value write null, negative indexes count from the end.
 * @throws PatchError 400 malformed, 413 too many operations, 422 an operation does not apply
 */
export function applyJsonPatch(document: JsonValue, patch: unknown, options: JsonPatchOptions = {}): JsonValue {
  const operations = decodeOperations(patch);
  const work: Work = {
    root: document,
    copied: new Set(),
    copiedBytes: 0,
    steps: maxJsonPatchSteps,
    strict: options.strict === true,
  };
  for (const operation of operations) applyOperation(work, operation);
  return work.root;
}

function decodeOperations(patch: unknown): Operation[] {
  if (patch === null) return [];
  if (!Array.isArray(patch)) {
    throw malformed(`cannot unmarshal ${goJsonKind(patch)} into Go value of type []handlers.jsonPatchOp`);
  }
  const operations = patch.map(decodeOperation);
  if (operations.length > maxJsonPatchOperations) {
    throw new PatchError(
      413,
      `Request entity too large: The allowed maximum operations in a JSON patch is ${maxJsonPatchOperations}, got ${operations.length}`,
    );
  }
  return operations;
}

function decodeOperation(entry: unknown): Operation {
  if (entry === null) return { op: 'unknown', path: undefined, from: undefined, value: undefined };
  if (!isJsonObject(entry)) {
    throw malformed(`cannot unmarshal ${goJsonKind(entry)} into Go value of type handlers.jsonPatchOp`);
  }
  return {
    op: textField(entry, 'op') ?? 'unknown',
    path: textField(entry, 'path'),
    from: textField(entry, 'from'),
    value: entry['value'],
  };
}

function textField(entry: JsonObject, field: string): string | undefined {
  const value = entry[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw malformed(`cannot unmarshal ${goJsonKind(value)} into Go struct field jsonPatchOp.${field} of type string`);
}

function malformed(what: string): PatchError {
  return new PatchError(400, `error decoding patch: json: ${what}`);
}

function applyOperation(work: Work, { op, path, from, value }: Operation): void {
  switch (op) {
    case 'add':
      add(work, required(path, 'add operation failed to decode path'), value ?? null);
      break;
    case 'remove':
      remove(work, required(path, 'remove operation failed to decode path'));
      break;
    case 'replace':
      replace(work, required(path, 'replace operation failed to decode path'), value ?? null);
      break;
    case 'test':
      test(work, required(path, 'test operation failed to decode path'), value ?? null);
      break;
    case 'move': {
      const source = required(from, 'move operation failed to decode from');
      const moved = read(work, source, 'move');
      remove(work, source);
      add(work, required(path, 'move operation failed to decode path'), moved ?? null);
      break;
    }
    case 'copy': {
      const source = required(from, 'copy operation failed to decode from');
      const copied = read(work, source, 'copy') ?? null;
      countCopied(work, copied);
      const target = required(path, 'copy operation failed to decode path');
      checkDepth(work, target, copied);
      add(work, target, clone(copied));
      break;
    }
    default:
      throw doesNotApply(`Unexpected kind: ${op}`);
  }
}

function countCopied(work: Work, value: JsonValue): void {
  work.copiedBytes += jsonText(value).length;
  if (work.copiedBytes <= maxJsonPatchCopiedBytes) return;
  throw doesNotApply(
    `Unable to complete the copy, the accumulated size increase of copy is ${work.copiedBytes}, exceeding the limit ${maxJsonPatchCopiedBytes}`,
  );
}

function spend(work: Work, steps: number): void {
  work.steps -= steps;
  if (work.steps >= 0) return;
  throw new PatchError(
    413,
    `Request entity too large: the operations of the JSON patch take more than ${maxJsonPatchSteps} steps together`,
  );
}

function required(text: string | undefined, detail: string): string {
  if (text === undefined) throw doesNotApply(detail);
  return text;
}

function decodeToken(token: string): string {
  return token.includes('~') ? token.replaceAll('~1', '/').replaceAll('~0', '~') : token;
}

interface Location {
  container: Container;
  key: string;
}

/** Finds the container of the last path element; undefined if a part of the path is missing. */
function locate(work: Work, path: string, access: 'write' | 'read'): Location | undefined {
  const tokens = path.split('/');
  if (tokens.length < 2 || !isContainer(work.root)) return undefined;
  let container = access === 'write' ? own(work, work.root, (copy) => (work.root = copy)) : work.root;
  for (const encoded of tokens.slice(1, -1)) {
    const token = decodeToken(encoded);
    const key = Array.isArray(container) ? existingIndex(container, token) : token;
    if (key === undefined) return undefined;
    const next = memberOf(container, key);
    if (!isContainer(next)) return undefined;
    const parent = container;
    container = access === 'write' ? own(work, next, (copy) => setMember(parent, key, copy)) : next;
  }
  return { container, key: decodeToken(tokens.at(-1) ?? '') };
}

function isContainer(value: JsonValue | undefined): value is Container {
  return typeof value === 'object' && value !== null;
}

function own(work: Work, container: Container, put: (copy: Container) => void): Container {
  if (work.copied.has(container)) return container;
  const copy = Array.isArray(container) ? container.slice() : { ...container };
  work.copied.add(copy);
  put(copy);
  return copy;
}

function memberOf(container: Container, key: string | number): JsonValue | undefined {
  if (Array.isArray(container)) return container[key as number];
  return Object.hasOwn(container, key) ? container[key] : undefined;
}

function setMember(container: Container, key: string | number, value: JsonValue): void {
  if (Array.isArray(container)) container[key as number] = value;
  else setOwn(container, key as string, value);
}

function setOwn(object: JsonObject, key: string, value: JsonValue): void {
  // An assignment would change the prototype. Request bodies with this field are rejected too.
  if (key === '__proto__') throw doesNotApply('a field cannot be called "__proto__"');
  object[key] = value;
}

/** Returns the index of an existing element; negative numbers count from the end. */
function existingIndex(array: JsonValue[], token: string): number | undefined {
  if (!arrayIndexPattern.test(token)) return undefined;
  const number = Number(token);
  const index = number < 0 ? number + array.length : number;
  return index >= 0 && index < array.length ? index : undefined;
}

function read(work: Work, path: string, operation: string): JsonValue | undefined {
  const found = locate(work, path, 'read');
  if (!found) throw doesNotApply(`${operation} operation does not apply: doc is missing path: ${path}`);
  if (!Array.isArray(found.container)) return memberOf(found.container, found.key);
  const index = existingIndex(found.container, found.key);
  if (index === undefined) throw doesNotApply(`error in ${operation} for path: '${path}': invalid index referenced`);
  return found.container[index];
}

/** The result must obey the depth limit of request bodies. Copies of a part into itself would soon exceed it. */
function checkDepth(work: Work, path: string, value: JsonValue): void {
  const above = path.split('/').length - 1;
  const deeper = isDeeperThan(value, maxJsonDepth - above, (members) => spend(work, members));
  if (above > maxJsonDepth || deeper) throw doesNotApply('exceeded max depth');
}

function add(work: Work, path: string, value: JsonValue): void {
  checkDepth(work, path, value);
  const found = locate(work, path, 'write');
  if (!found) throw doesNotApply(`add operation does not apply: doc is missing path: "${path}"`);
  const { container, key } = found;
  if (!Array.isArray(container)) {
    setOwn(container, key, value);
    return;
  }
  if (key === '-') {
    container.push(value);
    return;
  }
  const number = arrayIndexPattern.test(key) ? Number(key) : Number.NaN;
  const index = number < 0 ? number + container.length + 1 : number;
  if (!(index >= 0 && index <= container.length)) {
    throw doesNotApply(`error in add for path: '${path}': Unable to access invalid index: ${key}`);
  }
  spend(work, (container.length - index) / shiftedPerStep);
  container.splice(index, 0, value);
}

function remove(work: Work, path: string): void {
  const found = locate(work, path, 'write');
  if (!found) throw doesNotApply(`remove operation does not apply: doc is missing path: "${path}"`);
  const { container, key } = found;
  if (Array.isArray(container)) {
    const index = existingIndex(container, key);
    if (index === undefined) throw doesNotApply(`error in remove for path: '${path}': invalid index referenced`);
    spend(work, (container.length - index) / shiftedPerStep);
    container.splice(index, 1);
  } else {
    if (!Object.hasOwn(container, key)) {
      throw doesNotApply(`error in remove for path: '${path}': Unable to remove nonexistent key: ${key}`);
    }
    delete container[key];
  }
}

function replace(work: Work, path: string, value: JsonValue): void {
  checkDepth(work, path, value);
  if (path === '') {
    if (!isContainer(value)) throw doesNotApply('replace operation value must be object or array');
    work.root = value;
    return;
  }
  const found = locate(work, path, 'write');
  if (!found) throw doesNotApply(`replace operation does not apply: doc is missing path: ${path}`);
  const { container, key } = found;
  const position = Array.isArray(container) ? existingIndex(container, key) : key;
  const isMissing = position === undefined || (work.strict && memberOf(container, position) === undefined);
  if (isMissing) throw doesNotApply(`replace operation does not apply: doc is missing key: ${path}`);
  setMember(container, position, value);
}

function test(work: Work, path: string, expected: JsonValue): void {
  const actual = path === '' ? work.root : (read(work, path, 'test') ?? null);
  if (!isEqual(work, actual, expected)) throw doesNotApply(`testing value ${path} failed`);
}

/** Compares along the expected value, which is part of the patch. This bounds the work by the size of the patch. */
function isEqual(work: Work, actual: JsonValue | undefined, expected: JsonValue | undefined): boolean {
  if (!isContainer(actual) || !isContainer(expected)) return actual === expected;
  if (Array.isArray(actual) || Array.isArray(expected)) {
    if (!Array.isArray(actual) || !Array.isArray(expected) || actual.length !== expected.length) return false;
    return expected.every((item, index) => isEqual(work, actual[index], item));
  }
  // Counting members takes time proportional to their number. An undefined member counts as absent.
  const members = Object.values(actual);
  spend(work, members.length);
  const count = members.reduce<number>((sum, member) => (member === undefined ? sum : sum + 1), 0);
  const names = Object.keys(expected);
  return (
    count === names.length &&
    names.every((name) => Object.hasOwn(actual, name) && isEqual(work, actual[name], expected[name]))
  );
}
