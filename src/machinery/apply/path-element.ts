import { parseJson } from '../json/strict-json.ts';
import { jsonText } from '../json/stringify.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';

/**
 * One step of a field path as FieldsV1 writes it: `f:name` is a field, `k:{"port":80}` a list item by its keys, `v:"x"`
 * an item of a set, `i:0` an item by position. The text is canonical, so equal steps are equal strings.
 */
export type PathElement = string;

/** text that needs no escaping; true for nearly every name */
const plainText = /^[\w ./:@+=-]*$/;
const goEscaped = /[<>&\u2028\u2029]/;
const goEscapedAll = /[<>&\u2028\u2029]/g;
const goEscapes: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/** JSON text as Go's encoder writes it: HTML characters escaped, members sorted. Path elements use this form. */
export function goJson(value: JsonValue | undefined): string {
  if (typeof value === 'string') {
    if (plainText.test(value)) return `"${value}"`;
    const text = JSON.stringify(value);
    return goEscaped.test(text) ? text.replace(goEscapedAll, (character) => goEscapes[character] ?? character) : text;
  }
  if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`;
  if (isJsonObject(value)) {
    const members: string[] = [];
    for (const key of Object.keys(value).sort()) {
      if (value[key] !== undefined) members.push(`${goJson(key)}:${goJson(value[key])}`);
    }
    return `{${members.join(',')}}`;
  }
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value ?? null);
}

/** Field names repeat constantly. Building their path elements each time would dominate the cost of a write. */
const fieldElements = new Map<string, PathElement>();
const maxFieldElements = 16_384;

export function fieldElement(name: string): PathElement {
  let element = fieldElements.get(name);
  if (element === undefined) {
    if (fieldElements.size >= maxFieldElements) fieldElements.clear();
    element = `f:${name}`;
    fieldElements.set(name, element);
  }
  return element;
}

/** Returns sorted member names. Most objects are already sorted, so checking is cheaper than sorting. */
export function sortedKeys(object: JsonObject): string[] {
  const keys = Object.keys(object);
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i] ?? '';
    if (key >= (keys[i - 1] ?? '')) continue;
    if (keys.length > fewKeys) return keys.sort();
    let place = i;
    for (; place > 0; place--) {
      const before = keys[place - 1] ?? '';
      if (key >= before) break;
      keys[place] = before;
    }
    keys[place] = key;
  }
  return keys;
}

/** limit up to which insertion sort is faster than Array.sort */
const fewKeys = 16;

export function valueElement(value: JsonValue): PathElement {
  return `v:${goJson(value)}`;
}

const mayHoldNumber = /[:,][-\d]/;

const rank: Readonly<Record<string, number>> = { f: 0, k: 1, v: 2, i: 3 };

/** Compares path elements: fields by name, then keys, then values (numbers by size, before text), then positions. */
export function comparePathElements(a: PathElement, b: PathElement): number {
  if (a === b) return 0;
  const kind = a.charAt(0);
  if (kind !== b.charAt(0)) {
    if (a === '.') return -1;
    if (b === '.') return 1;
    return (rank[kind] ?? 4) - (rank[b.charAt(0)] ?? 4);
  }
  if (kind === 'f') return a < b ? -1 : 1;
  if (kind === 'i') return Number(a.slice(2)) - Number(b.slice(2));
  // Only numbers sort differently from their text.
  if (!mayHoldNumber.test(a) && !mayHoldNumber.test(b)) return a < b ? -1 : 1;
  const left = parseJson(a.slice(2));
  const right = parseJson(b.slice(2));
  return kind === 'k' ? compareKeys(left as JsonObject, right as JsonObject) : compareValues(left, right);
}

function compareKeys(a: JsonObject, b: JsonObject): number {
  const left = Object.entries(a);
  const right = Object.entries(b);
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const [name = '', value = null] = left[i] ?? [];
    const [otherName = '', otherValue = null] = right[i] ?? [];
    if (name !== otherName) return name < otherName ? -1 : 1;
    const order = compareValues(value, otherValue);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function isNumeric(value: JsonValue): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function compareValues(a: JsonValue, b: JsonValue): number {
  if (isNumeric(a)) return isNumeric(b) ? (a < b ? -1 : a > b ? 1 : 0) : -1;
  if (isNumeric(b)) return 1;
  if (typeof a === 'string') return typeof b === 'string' ? (a < b ? -1 : a > b ? 1 : 0) : -1;
  if (typeof b === 'string') return 1;
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  const left = goJson(a);
  const right = goJson(b);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Formats a path element for conflicts and error messages: `.name`, `[port=80,protocol="TCP"]`, `[="x"]`, `[0]`. */
export function formatPathElement(element: PathElement): string {
  const body = element.slice(2);
  switch (element.charAt(0)) {
    case 'f':
      return `.${body}`;
    case 'k': {
      const keys = parseJson(body) as JsonObject;
      return `[${Object.keys(keys)
        .map((name) => `${name}=${jsonText(keys[name])}`)
        .join(',')}]`;
    }
    case 'v':
      return `[=${jsonText(parseJson(body))}]`;
    default:
      return `[${body}]`;
  }
}

/**
 * The canonical spelling of a path element written by somebody else; undefined for kinds of a later version, which are
 * dropped as kube-apiserver drops them.
 * @throws SyntaxError when it is not a path element at all
 */
export function canonicalPathElement(element: string): PathElement | undefined {
  if (element.length < 2 || element.charAt(1) !== ':') throw new SyntaxError(`not a path element: ${element}`);
  const body = element.slice(2);
  switch (element.charAt(0)) {
    case 'f':
      return element;
    case 'v':
      return valueElement(parseJson(body));
    case 'k': {
      const keys = parseJson(body);
      if (!isJsonObject(keys)) throw new SyntaxError(`not a list key: ${element}`);
      return `k:${goJson(keys)}`;
    }
    case 'i':
      if (!/^-?\d+$/.test(body)) throw new SyntaxError(`not an index: ${element}`);
      return `i:${Number(body)}`;
    default:
      return undefined;
  }
}
