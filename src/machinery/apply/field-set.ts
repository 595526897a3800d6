import { must } from '../errors/must.ts';
import { isJsonObject, type JsonValue } from '../json/value.ts';
import { canonicalPathElement, comparePathElements, formatPathElement, type PathElement } from './path-element.ts';

/**
 * Set of field paths, stored as the tree of FieldsV1. An element without members (`{}`) or with the member `.` is in
 * the set. An element with other members leads to paths in the set. The root represents the whole object and is never
 * in the set. Sets are immutable: operations share unchanged parts, and return the operand itself when nothing changes.
 */
export interface FieldSet {
  readonly [element: PathElement]: FieldSet;
}

/** A set under construction. Finished sets are exposed only as FieldSet. */
export interface MutableFieldSet {
  [element: PathElement]: FieldSet;
}

/** An element that is in the set and has no further paths below it. */
export const leaf: FieldSet = Object.freeze({});

export const emptyFieldSet: FieldSet = leaf;

export function isEmptySet(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

/** Reports whether the element that leads to this node is itself in the set. */
export function isMember(node: FieldSet): boolean {
  return node === leaf || node['.'] !== undefined || isEmptySet(node);
}

/** Reports whether the set contains exactly this path. */
export function hasPath(set: FieldSet, path: readonly PathElement[]): boolean {
  let node: FieldSet | undefined = set;
  for (const element of path) {
    node = node[element];
    if (node === undefined) return false;
  }
  return path.length > 0 && isMember(node);
}

/**
 * Nodes that `insertNode` added members to. Testing whether an object is empty takes time proportional to its members,
 * so testing it on each insert would be quadratic.
 */
const filled = new WeakSet<FieldSet>();

/** Adds a node at a path of a set under construction. Existing content is kept. */
export function insertNode(root: MutableFieldSet, path: readonly PathElement[], node: FieldSet): void {
  let parent = root;
  const last = path.length - 1;
  for (let i = 0; i < last; i++) {
    const element = path[i] ?? '';
    const next = parent[element];
    let child: MutableFieldSet;
    if (next === undefined) child = {};
    // The leaf object is shared, so it is replaced by a new node before it gets members.
    else if (!filled.has(next) && isEmptySet(next)) child = { '.': leaf };
    else child = next as MutableFieldSet;
    if (child !== next) parent[element] = child;
    filled.add(child);
    parent = child;
  }
  const element = must(path[last], 'the last of a path');
  const present = parent[element];
  parent[element] = present === undefined ? node : unionNodes(present, node);
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmptySet(b)) return a;
  if (isEmptySet(a)) return b;
  let result: MutableFieldSet | undefined;
  for (const element in b) {
    const left = a[element];
    const right = b[element];
    if (right === undefined) continue;
    const merged = left === undefined ? right : element === '.' ? left : unionNodes(left, right);
    if (merged === left) continue;
    result ??= { ...a };
    result[element] = merged;
  }
  return result ?? a;
}

function unionNodes(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  if (isEmptySet(b)) return asMember(a);
  if (isEmptySet(a)) return asMember(b);
  return union(a, b);
}

function asMember(node: FieldSet): FieldSet {
  return isMember(node) ? node : { '.': leaf, ...node };
}

/** Returns the paths of `a` that are not in `b`. Removing a parent keeps its children, and vice versa. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  let result: MutableFieldSet | undefined;
  for (const element in b) {
    const left = a[element];
    const right = b[element];
    if (left === undefined || right === undefined) continue;
    const rest = element === '.' ? undefined : differenceNodes(left, right);
    if (rest === left) continue;
    result ??= { ...a };
    if (rest === undefined) delete result[element];
    else result[element] = rest;
  }
  return result ?? a;
}

function differenceNodes(a: FieldSet, b: FieldSet): FieldSet | undefined {
  if (isEmptySet(a)) return isMember(b) ? undefined : a;
  if (isEmptySet(b)) return a['.'] === undefined ? a : withoutSelf(a);
  return asNode(difference(a, b));
}

function withoutSelf(node: FieldSet): FieldSet | undefined {
  const { '.': _, ...rest } = node;
  return isEmptySet(rest) ? undefined : rest;
}

/** Normalizes the rest of a node: nothing, a plain member, or a node with members. */
function asNode(rest: FieldSet): FieldSet | undefined {
  let count = 0;
  for (const _ in rest) if (++count > 1) return rest;
  if (count === 0) return undefined;
  return rest['.'] === undefined ? rest : leaf;
}

/** Returns the paths of `a` that are neither in `b` nor below a path of `b`. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  let result: MutableFieldSet | undefined;
  for (const element in b) {
    const left = a[element];
    const right = b[element];
    if (left === undefined || right === undefined || element === '.') continue;
    let rest: FieldSet | undefined;
    if (!isMember(right)) rest = isEmptySet(left) ? left : asNode(recursiveDifference(left, right));
    if (rest === left) continue;
    result ??= { ...a };
    if (rest === undefined) delete result[element];
    else result[element] = rest;
  }
  return result ?? a;
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const result: MutableFieldSet = {};
  for (const element in a) {
    const left = a[element];
    const right = b[element];
    if (left === undefined || right === undefined) continue;
    if (element === '.') result['.'] = leaf;
    else {
      const both = intersectNodes(left, right);
      if (both !== undefined) result[element] = both;
    }
  }
  return result;
}

function intersectNodes(a: FieldSet, b: FieldSet): FieldSet | undefined {
  if (isEmptySet(a)) return isMember(b) ? leaf : undefined;
  if (isEmptySet(b)) return a['.'] === undefined ? undefined : leaf;
  return asNode(intersection(a, b));
}

/** Returns the paths of the set that have no other path of the set below them. */
export function leaves(set: FieldSet): FieldSet {
  const result: MutableFieldSet = {};
  for (const element in set) {
    const node = set[element];
    if (element === '.' || node === undefined) continue;
    result[element] = isEmptySet(node) ? leaf : leaves(node);
  }
  return result;
}

export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  let count = 0;
  for (const element in a) {
    const left = a[element];
    const right = b[element];
    if (left === undefined || right === undefined || !equalSets(left, right)) return false;
    count++;
  }
  for (const _ in b) count--;
  return count === 0;
}

/** Yields all paths in the order of kube-apiserver: members of a level before deeper paths. */
export function* paths(set: FieldSet, prefix: readonly PathElement[] = []): Generator<PathElement[]> {
  const members = Object.entries(set)
    .filter(([element]) => element !== '.')
    .sort(([a], [b]) => comparePathElements(a, b));
  for (const [element, node] of members) if (isMember(node)) yield [...prefix, element];
  for (const [element, node] of members) yield* paths(node, [...prefix, element]);
}

/** Formats a path for users: `.spec.containers[name="a"].image`. */
export function formatPath(path: readonly PathElement[]): string {
  return path.map(formatPathElement).join('');
}

/** Builds a set from lists of field names, for the fixed sets of the server. */
export function fieldSetOf(...fieldPaths: readonly (readonly string[])[]): FieldSet {
  const set: MutableFieldSet = {};
  for (const names of fieldPaths) {
    insertNode(
      set,
      names.map((name) => `f:${name}`),
      leaf,
    );
  }
  return set;
}

/**
 * Reads FieldsV1 written by a client into canonical form.
 * @throws SyntaxError when a key is not a path element or a value not an object
 */
export function decodeFieldsV1(fields: unknown): FieldSet {
  if (fields === undefined || fields === null) return emptyFieldSet;
  return decodeNode(fields as JsonValue);
}

function decodeNode(node: JsonValue): FieldSet {
  if (!isJsonObject(node)) throw new SyntaxError('FieldsV1 must be made of objects');
  const result: MutableFieldSet = {};
  let empty = true;
  for (const key in node) {
    const element = key === '.' ? key : canonicalPathElement(key);
    const member = node[key];
    if (element === undefined || member === undefined) continue;
    result[element] = key === '.' ? leaf : decodeNode(member);
    empty = false;
  }
  return empty ? leaf : (asNode(result) ?? leaf);
}

/** Order of FieldsV1 members on the wire. */
export type FieldOrder = 'typed' | 'plain';

/**
 * Sorts a set into wire order. Built-in kinds (`typed`) use path order, where port 80 precedes 443. Custom kinds use
 * plain text order (`plain`), because upstream passes them through a sorted map.
 */
export function encodeFieldsV1(set: FieldSet, order: FieldOrder): FieldSet {
  return orderNode(set, comparatorOf(order));
}

/** Returns the comparator of an order; undefined for plain text order. */
export function comparatorOf(order: FieldOrder): ((a: PathElement, b: PathElement) => number) | undefined {
  return order === 'typed' ? comparePathElements : undefined;
}

function orderNode(node: FieldSet, compare: ((a: string, b: string) => number) | undefined): FieldSet {
  let ordered: MutableFieldSet | undefined;
  let sorted = true;
  let previous: string | undefined;
  for (const element in node) {
    if (previous !== undefined && sorted) sorted = compare ? compare(previous, element) < 0 : previous < element;
    previous = element;
    const child = node[element];
    const orderedChild = child === undefined || child === leaf ? child : orderNode(child, compare);
    if (orderedChild === undefined || orderedChild === child) continue;
    ordered ??= { ...node };
    ordered[element] = orderedChild;
  }
  if (previous === undefined) return leaf;
  const members = ordered ?? node;
  if (sorted) return members;
  return inOrder(members, compare);
}

/** Returns the same members in sorted order. */
export function inOrder(node: FieldSet, compare: ((a: string, b: string) => number) | undefined): FieldSet {
  const result: MutableFieldSet = {};
  for (const element of Object.keys(node).sort(compare)) {
    const child = node[element];
    if (child !== undefined) result[element] = child;
  }
  return result;
}
