import { isJsonObject, type JsonObject, type JsonValue } from '../../machinery/index.ts';
import { FunctionError } from '../errors.ts';
import { compareStrings, GoObject, Int, isList, isMap, isNilList, sortedKeys, type Value } from '../values/index.ts';
import type { CallContext } from './function.ts';

const maxDepth = 1_000;

/** JSON fields of structs have their declared order. Maps, and all YAML, are sorted. */
const fieldOrders = new WeakMap<object, readonly string[]>();

/** Budget charged for a conversion. */
interface Spender {
  readonly budget: Pick<CallContext['budget'], 'spend'>;
}

/** Converts a value of bounded size to plain JSON. */
export const plainJson = (value: Value): JsonValue => toJsonValue(value, { budget: { spend: () => undefined } });

/** Converts to plain JSON with keys in Go's order. Throws FunctionError for values JSON cannot express. */
export function toJsonValue(value: Value, context: Spender, depth = 0): JsonValue {
  if (depth > maxDepth) throw new FunctionError('json: unsupported value: encountered a cycle');
  context.budget.spend(1);
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new FunctionError(`json: unsupported value: ${Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'}`);
  }
  if (typeof value !== 'object') return value;
  if (value instanceof Int) {
    const number = Number(value.value);
    return Number.isSafeInteger(number) ? number : value.value;
  }
  if (value instanceof GoObject) {
    const shown = value.toJson();
    const result = toJsonValue(shown, context, depth + 1);
    if (isMap(shown) && isJsonObject(result)) fieldOrders.set(result, [...shown.keys()]);
    return result;
  }
  if (isList(value)) return isNilList(value) ? null : value.map((item) => toJsonValue(item, context, depth + 1));
  if (!isMap(value)) return null;
  // Keys such as __proto__ are data.
  const object: JsonObject = Object.create(null);
  for (const key of sortedKeys(value)) object[key] = toJsonValue(value.get(key), context, depth + 1);
  return object;
}

/** Formats JSON like Go's encoder. JSON.stringify would move integer-like keys to the front. */
export function formatJson(value: JsonValue, indent = '', before = ''): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = before + indent;
  const [open, close] = indent === '' ? ['', ''] : [`\n${inner}`, `\n${before}`];
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[${open}${value.map((item) => formatJson(item, indent, inner)).join(`,${open}`)}${close}]`;
  }
  const keys = fieldOrders.get(value) ?? Object.keys(value).sort(compareStrings);
  if (keys.length === 0) return '{}';
  const colon = indent === '' ? ':' : ': ';
  const members = keys.map((key) => `${JSON.stringify(key)}${colon}${formatJson(value[key] ?? null, indent, inner)}`);
  return `{${open}${members.join(`,${open}`)}${close}}`;
}

const escapes: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/** Go escapes HTML characters and the line separators U+2028 and U+2029. They occur only in strings. */
export const escapeForHtml = (json: string): string =>
  json.replace(/[<>&\u2028\u2029]/g, (char) => escapes[char] ?? char);
export const escapeLineEnds = (json: string): string =>
  json.replace(/[\u2028\u2029]/g, (char) => escapes[char] ?? char);
