import { isJsonObject, type JsonObject, type JsonValue, parseApiVersion } from '../../machinery/index.ts';

// Objects come from any API in its preferred version, so fields are read by path and never trusted.

export interface AnyObject {
  apiVersion: string;
  kind: string;
  metadata: {
    name?: string;
    namespace?: string;
    uid?: string;
    labels?: Readonly<Record<string, string>>;
    deletionTimestamp?: string;
    ownerReferences?: readonly { uid: string; controller?: boolean }[];
  };
}

/** Identity of another object, without its version. */
export interface ObjectReference {
  group: string;
  kind: string;
  name: string;
}

export function at(object: object | undefined, ...path: readonly string[]): JsonValue | undefined {
  let node: unknown = object;
  for (const step of path) node = isJsonObject(node) ? node[step] : undefined;
  return node as JsonValue | undefined;
}

export function textAt(object: object | undefined, ...path: readonly string[]): string | undefined {
  const value = at(object, ...path);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function numberAt(object: object | undefined, ...path: readonly string[]): number | undefined {
  const value = at(object, ...path);
  return typeof value === 'number' ? value : undefined;
}

export function objectsAt(object: object | undefined, ...path: readonly string[]): JsonObject[] | undefined {
  const value = at(object, ...path);
  return Array.isArray(value) ? value.filter(isJsonObject) : undefined;
}

/** Reads a reference of v1beta2 (`apiGroup`) or of older versions (`apiVersion`). */
export function referenceAt(object: object | undefined, ...path: readonly string[]): ObjectReference | undefined {
  const kind = textAt(object, ...path, 'kind');
  const name = textAt(object, ...path, 'name');
  if (kind === undefined || name === undefined) return undefined;
  const group =
    textAt(object, ...path, 'apiGroup') ?? parseApiVersion(textAt(object, ...path, 'apiVersion') ?? '').group;
  return { group, kind, name };
}

export function referenceOf(object: AnyObject): ObjectReference {
  const { group } = parseApiVersion(object.apiVersion);
  return { group, kind: object.kind, name: object.metadata.name ?? '' };
}

export function referenceKey({ group, kind, name }: ObjectReference): string {
  return `${group}/${kind}/${name}`;
}

/** Returns the arguments of kubectl that name an object, with its namespace, so that a suggested command works as printed. */
export const argumentOf = ({ metadata: { name = '', namespace } }: Pick<AnyObject, 'metadata'>): string =>
  namespace === undefined ? name : `${name} -n ${namespace}`;
