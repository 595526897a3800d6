import { celCompare, celEquals, sameKeys } from './compare.ts';
import type { CostMeter } from './library.ts';
import { CelError, CelList, type CelValue, Duration, isMap, Timestamp, Uint } from './values.ts';

const maxInt = 2n ** 63n - 1n;
const minInt = -(2n ** 63n);

function int(value: bigint): bigint {
  if (value > maxInt || value < minInt) throw new CelError('integer overflow');
  return value;
}

function uint(value: bigint): Uint {
  if (value < 0n || value >= 2n ** 64n) throw new CelError('unsigned integer overflow');
  return new Uint(value);
}

function noOverload(): CelError {
  return new CelError('no such overload');
}

export function add(a: CelValue, b: CelValue, meter: CostMeter): CelValue {
  if (typeof a === 'bigint' && typeof b === 'bigint') return int(a + b);
  if (typeof a === 'number' && typeof b === 'number') return a + b;
  if (typeof a === 'string' && typeof b === 'string') {
    meter.charge((a.length + b.length) / 10);
    return a + b;
  }
  if (a instanceof CelList && b instanceof CelList) {
    meter.charge(a.items.length + b.items.length);
    return concatenate(a, b);
  }
  if (a instanceof Duration) {
    if (b instanceof Duration) return new Duration(int(a.nanos + b.nanos));
    if (b instanceof Timestamp) return new Timestamp(a.nanos + b.nanos);
  }
  if (a instanceof Timestamp && b instanceof Duration) return new Timestamp(a.nanos + b.nanos);
  if (a instanceof Uint && b instanceof Uint) return uint(a.value + b.value);
  if (a instanceof Uint8Array && b instanceof Uint8Array) {
    meter.charge((a.length + b.length) / 10);
    return new Uint8Array(Buffer.concat([a, b]));
  }
  throw noOverload();
}

/** Appending to a set keeps it a set. Appending to a list-type map replaces elements with equal keys. */
function concatenate(a: CelList, b: CelList): CelList {
  if (a.identity === 'atomic') return new CelList([...a.items, ...b.items]);
  if (a.identity === 'set') {
    const added = b.items.filter((item) => !a.items.some((known) => celEquals(known, item)));
    return new CelList([...a.items, ...added], a.identity);
  }
  const { keys } = a.identity;
  const items = [...a.items];
  for (const item of b.items) {
    const at = items.findIndex((known) => sameKeys(known, item, keys));
    if (at < 0) items.push(item);
    else items[at] = item;
  }
  return new CelList(items, a.identity);
}

function subtract(a: CelValue, b: CelValue): CelValue {
  if (typeof a === 'bigint' && typeof b === 'bigint') return int(a - b);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (a instanceof Timestamp) {
    if (b instanceof Timestamp) return new Duration(int(a.nanos - b.nanos));
    if (b instanceof Duration) return new Timestamp(a.nanos - b.nanos);
  }
  if (a instanceof Duration && b instanceof Duration) return new Duration(int(a.nanos - b.nanos));
  if (a instanceof Uint && b instanceof Uint) return uint(a.value - b.value);
  throw noOverload();
}

function multiply(a: CelValue, b: CelValue): CelValue {
  if (typeof a === 'bigint' && typeof b === 'bigint') return int(a * b);
  if (typeof a === 'number' && typeof b === 'number') return a * b;
  if (a instanceof Uint && b instanceof Uint) return uint(a.value * b.value);
  throw noOverload();
}

function divide(a: CelValue, b: CelValue): CelValue {
  if (typeof a === 'number' && typeof b === 'number') return a / b;
  if (typeof a === 'bigint' && typeof b === 'bigint') {
    if (b === 0n) throw new CelError('division by zero');
    return int(a / b);
  }
  if (a instanceof Uint && b instanceof Uint) {
    if (b.value === 0n) throw new CelError('division by zero');
    return uint(a.value / b.value);
  }
  throw noOverload();
}

function modulo(a: CelValue, b: CelValue): CelValue {
  if (typeof a === 'bigint' && typeof b === 'bigint') {
    if (b === 0n) throw new CelError('modulus by zero');
    return a % b;
  }
  if (a instanceof Uint && b instanceof Uint) {
    if (b.value === 0n) throw new CelError('modulus by zero');
    return uint(a.value % b.value);
  }
  throw noOverload();
}

function negate(a: CelValue): CelValue {
  if (typeof a === 'bigint') return int(-a);
  if (typeof a === 'number') return -a;
  throw noOverload();
}

function not(a: CelValue): CelValue {
  if (typeof a !== 'boolean') throw noOverload();
  return !a;
}

/** Tests membership in a list or among the keys of a map. */
function isIn(value: CelValue, collection: CelValue, meter: CostMeter): boolean {
  if (collection instanceof CelList) {
    meter.charge(collection.items.length);
    return collection.items.some((item) => celEquals(item, value));
  }
  if (isMap(collection)) return collection.get(value) !== undefined;
  throw noOverload();
}

export type UnaryOperator = (a: CelValue) => CelValue;
export type BinaryOperator = (a: CelValue, b: CelValue, meter: CostMeter) => CelValue;

export const unaryOperators: Readonly<Record<string, UnaryOperator>> = { '!_': not, '-_': negate };

export const binaryOperators: Readonly<Record<string, BinaryOperator>> = {
  '_+_': add,
  '_-_': subtract,
  '_*_': multiply,
  '_/_': divide,
  '_%_': modulo,
  '_==_': (a, b, meter) => {
    if (typeof a === 'object') meter.charge(5);
    return celEquals(a, b);
  },
  '_!=_': (a, b, meter) => {
    if (typeof a === 'object') meter.charge(5);
    return !celEquals(a, b);
  },
  '_<_': (a, b) => celCompare(a, b) < 0,
  '_<=_': (a, b) => celCompare(a, b) <= 0,
  '_>_': (a, b) => celCompare(a, b) > 0,
  '_>=_': (a, b) => celCompare(a, b) >= 0,
  '@in': isIn,
};

const numbers = ['int', 'uint', 'double'];
const pairs = (types: readonly string[]): string[] => types.map((type) => `${type}, ${type}: ${type}`);
const ordered = [
  ...numbers.flatMap((a) => numbers.map((b) => `${a}, ${b}: bool`)),
  ...['string', 'bool', 'bytes', 'timestamp', 'duration'].map((type) => `${type}, ${type}: bool`),
];

/** Operand and result types of operators for type checking: `left, right: result`. */
export const operatorSignatures: Readonly<Record<string, readonly string[]>> = {
  '!_': ['bool: bool'],
  '-_': ['int: int', 'double: double'],
  '_+_': [
    ...pairs(['int', 'uint', 'double', 'string', 'bytes', 'duration', 'list<T>']),
    'timestamp, duration: timestamp',
    'duration, timestamp: timestamp',
  ],
  '_-_': [
    ...pairs(['int', 'uint', 'double', 'duration']),
    'timestamp, timestamp: duration',
    'timestamp, duration: timestamp',
  ],
  '_*_': pairs(numbers),
  '_/_': pairs(numbers),
  '_%_': pairs(['int', 'uint']),
  '_==_': ['T, T: bool'],
  '_!=_': ['T, T: bool'],
  '_<_': ordered,
  '_<=_': ordered,
  '_>_': ordered,
  '_>=_': ordered,
  '@in': ['T, list<T>: bool', 'K, map<K, V>: bool'],
};
