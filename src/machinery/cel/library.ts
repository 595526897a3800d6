import { parseType, type StaticType } from './static-type.ts';
import { CelList, CelType, type CelValue, Duration, isMap, Opaque, Optional, Timestamp, Uint } from './values.ts';

/** Counts the cost of an evaluation and throws when the limit is exceeded. */
export interface CostMeter {
  charge(cost: number): void;
}

export type Handler = (args: readonly CelValue[], meter: CostMeter) => CelValue;

/** One overload of a function. The first parameter of a method is the receiver. */
export interface Overload {
  readonly parameters: readonly StaticType[];
  readonly result: StaticType;
  readonly handler: Handler;
}

const functions = new Map<string, Overload[]>();

/**
 * Declares a function: `defineFunction('isIP(string): bool', …)`. The name may have a prefix, as in `sets.contains`.
 */
export function defineFunction(signature: string, handler: Handler): void {
  define('function', signature, handler);
}

/** Declares a method. The first parameter is the receiver: `startsWith(string, string): bool`. */
export function defineMethod(signature: string, handler: Handler): void {
  define('method', signature, handler);
}

function define(style: CallStyle, signature: string, handler: Handler): void {
  const [, name, parameterTypes = '', result] = /^([\w.]+)\((.*)\): (.+)$/.exec(signature) ?? [];
  if (name === undefined || result === undefined) throw new Error(`not a signature: ${signature}`);
  const parameters = splitTypes(parameterTypes).map(parseType);
  const key = keyOf(style, name, parameters.length);
  const overloads = functions.get(key) ?? [];
  overloads.push({ parameters, result: parseType(result), handler });
  functions.set(key, overloads);
}

function splitTypes(text: string): string[] {
  const types: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i <= text.length; i++) {
    if (text[i] === '<') depth++;
    else if (text[i] === '>') depth--;
    else if ((text[i] === ',' && depth === 0) || i === text.length) {
      if (text.slice(start, i).trim() !== '') types.push(text.slice(start, i));
      start = i + 1;
    }
  }
  return types;
}

export type CallStyle = 'function' | 'method';

function keyOf(style: CallStyle, name: string, count: number): string {
  return `${style}:${name}:${count}`;
}

/** Finds overloads by number of arguments. `count` includes the receiver of a method. */
export function findOverloads(style: CallStyle, name: string, count: number): readonly Overload[] {
  return functions.get(keyOf(style, name, count)) ?? [];
}

/** Reports whether any overload has this name, with any number of arguments. */
export function isFunctionName(style: CallStyle, name: string): boolean {
  for (const key of functions.keys()) if (key.startsWith(`${style}:${name}:`)) return true;
  return false;
}

/** Reports whether a value matches a parameter type. Checks only the outermost type. */
export function fits(type: StaticType, value: CelValue): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'parameter':
      return true;
    case 'list':
      return value instanceof CelList;
    case 'map':
    case 'object':
    case 'record':
      return isMap(value);
    case 'optional':
      return value instanceof Optional;
    case 'simple':
      return fitsSimple(type.name, value);
  }
}

function fitsSimple(name: string, value: CelValue): boolean {
  switch (name) {
    case 'string':
      return typeof value === 'string';
    case 'int':
      return typeof value === 'bigint';
    case 'double':
      return typeof value === 'number';
    case 'bool':
      return typeof value === 'boolean';
    case 'null_type':
      return value === null;
    case 'uint':
      return value instanceof Uint;
    case 'bytes':
      return value instanceof Uint8Array;
    case 'timestamp':
      return value instanceof Timestamp;
    case 'duration':
      return value instanceof Duration;
    case 'type':
      return value instanceof CelType;
    default:
      return value instanceof Opaque && value.typeName === `kubernetes.${name}`;
  }
}
