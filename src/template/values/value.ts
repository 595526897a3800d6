import type { JsonValue } from '../../machinery/index.ts';
import type { GoMethod, GoObject } from './go-object.ts';
import { Int } from './int.ts';

/**
 * A template value. `null` is a nil interface and `undefined` is no value (a missing key), which Go distinguishes. A
 * number is a float64; integers are `Int`.
 */
export type Value = undefined | null | boolean | string | number | Int | ValueList | ValueMap | GoObject;
export type ValueList = Value[];
export type ValueMap = Map<string, Value>;

/** Element types of lists and maps other than `interface {}`. */
const elementTypes = new WeakMap<object, string>();
/** Names of named types, for example `chartutil.Values`. */
const typeNames = new WeakMap<object, string>();

/** Marks a list or map as `[]string`, `map[string]string` and so on. */
export function withElements<T extends ValueList | ValueMap>(elementType: string, value: T): T {
  elementTypes.set(value, elementType);
  return value;
}

/** Gives a map or list a type name, which `typeOf` and errors show. */
export function withTypeName<T extends ValueList | ValueMap>(name: string, value: T): T {
  typeNames.set(value, name);
  return value;
}

/** Methods of lists and maps, for example of `.Files`. */
const methodTables = new WeakMap<object, Readonly<Record<string, GoMethod>>>();

export function withMethods<T extends ValueList | ValueMap>(methods: Readonly<Record<string, GoMethod>>, value: T): T {
  methodTables.set(value, methods);
  return value;
}

export function methodOf(value: ValueList | ValueMap, name: string): GoMethod | undefined {
  const methods = methodTables.get(value);
  return methods && Object.hasOwn(methods, name) ? methods[name] : undefined;
}

export function elementType(value: ValueList | ValueMap): string {
  return elementTypes.get(value) ?? 'interface {}';
}

export const isList = (value: Value): value is ValueList => Array.isArray(value);
export const isMap = (value: Value): value is ValueMap => value instanceof Map;

/** Returns the Go type of a value, like `%T`. */
export function typeOf(value: Value): string {
  switch (typeof value) {
    case 'undefined':
      return '<nil>';
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    case 'number':
      return 'float64';
  }
  if (value === null) return '<nil>';
  if (value instanceof Int) return value.type;
  if (isList(value)) return typeNames.get(value) ?? `[]${elementType(value)}`;
  if (isMap(value)) return typeNames.get(value) ?? `map[string]${elementType(value)}`;
  return value.typeName;
}

/** Returns the kind of a value in Go's reflection. */
export function kindOf(value: Value): string {
  if (value === undefined || value === null) return 'invalid';
  if (value instanceof Int) return value.type === 'time.Duration' ? 'int64' : value.type;
  if (isList(value)) return 'slice';
  if (isMap(value)) return 'map';
  return typeof value === 'object' ? value.kind : typeOf(value);
}

/** Evaluates truth like `if`. */
export function isTrue(value: Value): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value !== 'object') return value !== 0 && value !== '' && value !== false;
  if (value instanceof Int) return value.value !== 0n;
  if (isList(value)) return value.length > 0;
  if (isMap(value)) return value.size > 0;
  return value.isTrue();
}

/** Compares like Go: by UTF-8 bytes, which equals the order of code points. */
export function compareStrings(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left === right) continue;
    // Surrogates encode code points above all others.
    const isLeftPair = left >= 0xd800 && left <= 0xdfff;
    const isRightPair = right >= 0xd800 && right <= 0xdfff;
    return isLeftPair === isRightPair ? left - right : isLeftPair ? 1 : -1;
  }
  return a.length - b.length;
}

/** Returns the keys of a map in the order of Go's printing and ranging. */
export function sortedKeys(map: ValueMap): string[] {
  return [...map.keys()].sort(compareStrings);
}

/**
 * Type of integers from JSON and YAML. Helm reads numbers of values files as float64, and those of `--set` as int64.
 */
export type NumberReading = 'float64' | 'int64';

/** Copies a JSON value for use in templates, so that functions such as `set` do not change the caller's data. */
export function toTemplateValue(value: JsonValue | undefined, integers: NumberReading = 'float64'): Value {
  if (typeof value === 'bigint') return integers === 'int64' ? new Int(value, 'int64') : Number(value);
  if (typeof value === 'number' && integers === 'int64' && Number.isSafeInteger(value)) {
    return new Int(BigInt(value), 'int64');
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => toTemplateValue(item, integers));
  const map: ValueMap = new Map();
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) map.set(key, toTemplateValue(member, integers));
  }
  return map;
}

/** Lists that are nil in Go: empty everywhere, except that JSON shows `null`. */
const nilLists = new WeakSet<ValueList>();

export function nilList(elements = 'interface {}'): ValueList {
  const list = withElements<ValueList>(elements, []);
  nilLists.add(list);
  return list;
}

export const isNilList = (list: ValueList): boolean => nilLists.has(list);

export const stringList = (items: string[]): ValueList => withElements<ValueList>('string', items);
