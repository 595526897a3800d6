import type { Schema } from '../schema/types.ts';

/** Static type of a value at compile time. */
export type StaticType =
  | { kind: 'dyn' }
  /** int, uint, double, bool, string, bytes, null_type, timestamp, duration, type and the types of libraries */
  | { kind: 'simple'; name: string }
  | { kind: 'list'; element: StaticType }
  | { kind: 'map'; key: StaticType; value: StaticType }
  | { kind: 'optional'; of: StaticType }
  /** an object whose fields are declared by a schema */
  | { kind: 'object'; schema: Schema; isResource: boolean }
  /** an object with exactly these fields; its name makes it usable as a method receiver */
  | { kind: 'record'; name: string; fields: ReadonlyMap<string, StaticType> }
  /** any type, but the same for all uses within a signature */
  | { kind: 'parameter'; name: string };

export const dynType: StaticType = { kind: 'dyn' };
export const boolType: StaticType = simpleType('bool');
export const stringType: StaticType = simpleType('string');
export const intType: StaticType = simpleType('int');

export function simpleType(name: string): StaticType {
  return { kind: 'simple', name };
}

const printed: Record<string, string> = {
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
  null_type: 'null',
  Authorizer: 'kubernetes.authorization.Authorizer',
  PathCheck: 'kubernetes.authorization.PathCheck',
  GroupCheck: 'kubernetes.authorization.GroupCheck',
  ResourceCheck: 'kubernetes.authorization.ResourceCheck',
  Decision: 'kubernetes.authorization.Decision',
};

export function formatType(type: StaticType): string {
  switch (type.kind) {
    case 'dyn':
      return 'dyn';
    case 'simple':
    case 'record':
      return printed[type.name] ?? type.name;
    case 'list':
      return `list(${formatType(type.element)})`;
    case 'map':
      return `map(${formatType(type.key)}, ${formatType(type.value)})`;
    case 'optional':
      return `optional_type(${formatType(type.of)})`;
    case 'object':
      return 'object';
    case 'parameter':
      return type.name;
  }
}

/** Parses `list<string>`, `map<K, V>`, `T`, `int`. */
export function parseType(text: string): StaticType {
  const [, name, inner] = /^(\w+)(?:<(.*)>)?$/.exec(text.trim()) ?? [];
  if (name === undefined) throw new Error(`not a type: ${text}`);
  switch (name) {
    case 'dyn':
      return dynType;
    case 'list':
      return { kind: 'list', element: inner === undefined ? dynType : parseType(inner) };
    case 'optional':
      return { kind: 'optional', of: inner === undefined ? dynType : parseType(inner) };
    case 'map': {
      const comma = inner?.indexOf(',') ?? -1;
      if (inner === undefined || comma < 0) return { kind: 'map', key: dynType, value: dynType };
      return { kind: 'map', key: parseType(inner.slice(0, comma)), value: parseType(inner.slice(comma + 1)) };
    }
    default:
      return name.length === 1 ? { kind: 'parameter', name } : simpleType(name);
  }
}

/** Values of these types are never null, so comparing them with null is a compile error. */
const neverNull = new Set(['int', 'uint', 'double', 'bool', 'string', 'bytes', 'type']);

function acceptsNull(type: StaticType): boolean {
  if (type.kind === 'simple') return !neverNull.has(type.name);
  return type.kind !== 'list' && type.kind !== 'map';
}

function isNull(type: StaticType): boolean {
  return type.kind === 'simple' && type.name === 'null_type';
}

/** Reports whether two types are equal. An unknown type equals no other. */
export function isSameType(a: StaticType, b: StaticType): boolean {
  if (a.kind !== b.kind) return false;
  switch (a.kind) {
    case 'simple':
    case 'record':
      return a.name === (b as typeof a).name;
    case 'list':
      return isSameType(a.element, (b as typeof a).element);
    case 'map':
      return isSameType(a.key, (b as typeof a).key) && isSameType(a.value, (b as typeof a).value);
    case 'optional':
      return isSameType(a.of, (b as typeof a).of);
    case 'object':
      return a.schema === (b as typeof a).schema;
    default:
      return a.kind === 'dyn';
  }
}

export type Bindings = Map<string, StaticType>;

/** Reports whether a value of type `actual` is accepted for `wanted`. Binds the type parameters of `wanted`. */
export function matchType(wanted: StaticType, actual: StaticType, bindings: Bindings): boolean {
  if (wanted.kind === 'parameter') {
    const bound = bindings.get(wanted.name);
    if (!bound) {
      bindings.set(wanted.name, actual);
      return true;
    }
    const joined = joinTypes(bound, actual);
    if (joined) bindings.set(wanted.name, joined);
    return joined !== undefined;
  }
  if (wanted.kind === 'dyn' || actual.kind === 'dyn') return true;
  if (isNull(actual) && !isNull(wanted)) return acceptsNull(wanted);
  if (isNull(wanted)) return isNull(actual) || acceptsNull(actual);
  switch (wanted.kind) {
    case 'simple':
    case 'record':
      return (actual.kind === 'simple' || actual.kind === 'record') && actual.name === wanted.name;
    case 'list':
      return actual.kind === 'list' && matchType(wanted.element, actual.element, bindings);
    case 'map':
      return (
        actual.kind === 'map' &&
        matchType(wanted.key, actual.key, bindings) &&
        matchType(wanted.value, actual.value, bindings)
      );
    case 'optional':
      return actual.kind === 'optional' && matchType(wanted.of, actual.of, bindings);
    case 'object':
      return actual.kind === 'object' && actual.schema === wanted.schema;
  }
}

/** Returns the common type; undefined if there is none. */
export function joinTypes(a: StaticType, b: StaticType): StaticType | undefined {
  if (a.kind === 'dyn' || b.kind === 'dyn') return dynType;
  if (isNull(a)) return acceptsNull(b) || isNull(b) ? b : undefined;
  if (isNull(b)) return acceptsNull(a) ? a : undefined;
  if (a.kind !== b.kind) return undefined;
  switch (a.kind) {
    case 'simple':
      return a.name === (b as typeof a).name ? a : undefined;
    case 'list': {
      const element = joinTypes(a.element, (b as typeof a).element);
      return element && { kind: 'list', element };
    }
    case 'map': {
      const key = joinTypes(a.key, (b as typeof a).key);
      const value = joinTypes(a.value, (b as typeof a).value);
      return key && value && { kind: 'map', key, value };
    }
    case 'optional': {
      const of = joinTypes(a.of, (b as typeof a).of);
      return of && { kind: 'optional', of };
    }
    case 'object':
      return a.schema === (b as typeof a).schema ? a : undefined;
    case 'record':
      return a.name === (b as typeof a).name ? a : undefined;
    default:
      return a;
  }
}

/** Replaces type parameters by their bindings. */
export function substitute(type: StaticType, bindings: Bindings): StaticType {
  switch (type.kind) {
    case 'parameter':
      return bindings.get(type.name) ?? dynType;
    case 'list':
      return { kind: 'list', element: substitute(type.element, bindings) };
    case 'map':
      return { kind: 'map', key: substitute(type.key, bindings), value: substitute(type.value, bindings) };
    case 'optional':
      return { kind: 'optional', of: substitute(type.of, bindings) };
    default:
      return type;
  }
}
