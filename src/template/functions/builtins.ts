import { must } from '../../machinery/index.ts';
import { FunctionError } from '../errors.ts';
import { type PrintBudget, printValue, sprint, sprintf, sprintln } from '../format/index.ts';
import {
  elementType,
  GoObject,
  Int,
  int,
  isList,
  isMap,
  isTrue,
  typeOf,
  type Value,
  withElements,
} from '../values/index.ts';
import { byteLength, byteSlice } from './bytes.ts';
import { compare, equal } from './compare.ts';
import { define, type Library, text } from './function.ts';

/** Built-in functions of Go's text/template. */
export const builtins: Library = {
  // Implemented in the evaluator, which stops at the first deciding argument.
  and: define('reflect.Value, ...reflect.Value', () => undefined),
  or: define('reflect.Value, ...reflect.Value', () => undefined),
  not: define('reflect.Value', ([value]) => !isTrue(value)),
  // No value is a function. The evaluator handles everything but nil.
  call: define('reflect.Value, ...reflect.Value', () => {
    throw new FunctionError('call of nil');
  }),
  eq: define('reflect.Value, ...reflect.Value', ([first, ...others], { budget }) => equal(first, others, budget)),
  ne: define('reflect.Value, reflect.Value', ([a, b], { budget }) => !equal(a, [b], budget)),
  lt: define('reflect.Value, reflect.Value', ([a, b]) => compare(a, b) < 0),
  le: define('reflect.Value, reflect.Value', ([a, b]) => compare(a, b) <= 0),
  gt: define('reflect.Value, reflect.Value', ([a, b]) => !(compare(a, b) <= 0)),
  ge: define('reflect.Value, reflect.Value', ([a, b]) => !(compare(a, b) < 0)),
  len: define('reflect.Value', ([value]) => int(length(value))),
  index: define('reflect.Value, ...reflect.Value', ([item, ...indexes]) => index(item, indexes)),
  slice: define('reflect.Value, ...reflect.Value', ([item, ...indexes]) => slice(item, indexes)),
  print: define('...interface {}', (args, { budget }) => sprint(args, budget)),
  printf: define('string, ...interface {}', ([format, ...args], { budget }) => sprintf(text(format), args, budget)),
  println: define('...interface {}', (args, { budget }) => sprintln(args, budget)),
  html: define('...interface {}', (args, { budget }) => escapeHtml(joined(args, budget))),
  js: define('...interface {}', (args, { budget }) => escapeJs(joined(args, budget))),
  urlquery: define('...interface {}', (args, { budget }) => escapeQuery(joined(args, budget))),
};

function length(value: Value): number {
  if (typeof value === 'string') return byteLength(value);
  if (isList(value)) return value.length;
  if (isMap(value)) return value.size;
  if (value === null) throw new FunctionError('len of nil pointer');
  if (value === undefined) throw new FunctionError('reflect: call of reflect.Value.Type on zero Value');
  throw new FunctionError(`len of type ${typeOf(value)}`);
}

function position(value: Value, limit: number): number {
  if (value === undefined || value === null) throw new FunctionError('cannot index slice/array with nil');
  if (!(value instanceof Int)) throw new FunctionError(`cannot index slice/array with type ${typeOf(value)}`);
  if (value.value < 0n || value.value > BigInt(limit)) throw new FunctionError(`index out of range: ${value.value}`);
  return Number(value.value);
}

function index(start: Value, indexes: readonly Value[]): Value {
  if (start === undefined || start === null) throw new FunctionError('index of untyped nil');
  let item: Value = start;
  for (const key of indexes) {
    if (item === undefined || item === null) throw new FunctionError('index of nil pointer');
    if (isList(item)) {
      const at = position(key, item.length);
      if (at === item.length) throw new FunctionError('reflect: slice index out of range');
      item = item[at] ?? null;
    } else if (typeof item === 'string') {
      const bytes = Buffer.from(item);
      const at = position(key, bytes.length);
      if (at === bytes.length) throw new FunctionError('reflect: string index out of range');
      item = new Int(BigInt(must(bytes[at], 'bytes[at]')), 'uint8');
    } else if (isMap(item)) {
      if (key === undefined || key === null) throw new FunctionError('value is nil; should be of type string');
      if (typeof key !== 'string') throw new FunctionError(`value has type ${typeOf(key)}; should be string`);
      item = item.get(key) ?? (elementType(item) === 'string' ? '' : null);
    } else throw new FunctionError(`can't index item of type ${typeOf(item)}`);
  }
  return item;
}

function slice(item: Value, indexes: readonly Value[]): Value {
  if (item === undefined || item === null) throw new FunctionError('slice of untyped nil');
  if (indexes.length > 3) throw new FunctionError(`too many slice indexes: ${indexes.length}`);
  if (typeof item !== 'string' && !isList(item)) throw new FunctionError(`can't slice item of type ${typeOf(item)}`);
  if (typeof item === 'string' && indexes.length === 3) throw new FunctionError('cannot 3-index slice a string');
  const size = length(item);
  const [from = 0, to = size] = indexes.map((value) => position(value, size));
  if (from > to) throw new FunctionError(`invalid slice index: ${from} > ${to}`);
  return typeof item === 'string' ? byteSlice(item, from, to) : withElements(elementType(item), item.slice(from, to));
}

function joined(args: readonly Value[], budget: PrintBudget): string {
  if (args.length === 1 && typeof args[0] === 'string') return args[0];
  return sprint(
    args.map((arg) =>
      arg === undefined || arg === null ? '<no value>' : arg instanceof GoObject ? printValue(arg, budget) : arg,
    ),
    budget,
  );
}

const html: Readonly<Record<string, string>> = {
  '\0': '\ufffd',
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
};
const escapeHtml = (value: string): string => value.replace(/["'&<>\0]/g, (char) => html[char] ?? char);

const js: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '"': '\\"',
  '<': '\\u003C',
  '>': '\\u003E',
  '&': '\\u0026',
  '=': '\\u003D',
};
const escapeJs = (value: string): string =>
  value.replace(/[\\'"<>&=]|[^ -\x7f]/gu, (char) => {
    if (js[char] !== undefined) return js[char];
    if ((char.codePointAt(0) ?? 0) >= 0x80 && !/[\p{C}\p{Z}]/u.test(char)) return char;
    return `\\u${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  });

/** Implements Go's url.QueryEscape: escapes everything but letters, digits and `-_.~`, with `+` for a space. */
export function escapeQuery(value: string): string {
  let result = '';
  for (const byte of Buffer.from(value)) {
    const char = String.fromCharCode(byte);
    if (/[A-Za-z0-9\-_.~]/.test(char)) result += char;
    else result += byte === 0x20 ? '+' : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return result;
}
