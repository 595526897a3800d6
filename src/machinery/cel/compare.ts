import {
  CelError,
  CelList,
  type CelMap,
  CelType,
  type CelValue,
  Duration,
  isMap,
  Opaque,
  Optional,
  sameBytes,
  Timestamp,
  Uint,
} from './values.ts';

/** Compares any two values: numbers across their types, values of different types are unequal. */
export function celEquals(a: CelValue, b: CelValue): boolean {
  if (a === b) return true;
  if (a === null || b === null) return false;
  if (isNumeric(a)) return isNumeric(b) && compareNumbers(a, b) === 0;
  if (typeof a !== 'object' || typeof b !== 'object') return false;
  if (a instanceof CelList) return b instanceof CelList && listEquals(a, b);
  if (a instanceof Uint8Array) return b instanceof Uint8Array && sameBytes(a, b);
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos;
  if (a instanceof CelType) return b instanceof CelType && a.name === b.name;
  if (a instanceof Opaque) return b instanceof Opaque && a.equals(b);
  if (a instanceof Optional) {
    if (!(b instanceof Optional)) return false;
    return a.value === undefined || b.value === undefined ? a.value === b.value : celEquals(a.value, b.value);
  }
  return isMap(a) && isMap(b) && mapEquals(a, b);
}

/** Lists of type set or map are equal regardless of order, as in Kubernetes. */
function listEquals(a: CelList, b: CelList): boolean {
  if (a.items.length !== b.items.length) return false;
  if (a.identity !== 'atomic') return unorderedEquals(a, b);
  return a.items.every((item, i) => {
    const other = b.items[i];
    return other !== undefined && celEquals(item, other);
  });
}

function unorderedEquals(a: CelList, b: CelList): boolean {
  const keys = typeof a.identity === 'object' ? a.identity.keys : undefined;
  // Elements with a text key are looked up, because comparing all pairs would be quadratic.
  const known = new Map<string, CelValue>();
  for (const item of b.items) {
    const text = identityText(item, keys);
    if (text !== undefined) known.set(text, item);
  }
  return a.items.every((item) => {
    const text = identityText(item, keys);
    const other =
      text === undefined
        ? b.items.find((candidate) => (keys ? sameKeys(item, candidate, keys) : celEquals(item, candidate)))
        : known.get(text);
    return other !== undefined && celEquals(item, other);
  });
}

function identityText(item: CelValue, keys: readonly string[] | undefined): string | undefined {
  if (!keys) return scalarText(item);
  if (!isMap(item)) return undefined;
  const texts = keys.map((key) => scalarText(item.get(key) ?? null));
  return texts.includes(undefined) ? undefined : texts.join('\u0000');
}

function scalarText(value: CelValue): string | undefined {
  if (value === null) return 'null';
  return typeof value === 'string' || typeof value === 'bigint' || typeof value === 'boolean'
    ? `${typeof value} ${value}`
    : undefined;
}

/** Reports whether two elements of a list-type map have equal keys. */
export function sameKeys(a: CelValue, b: CelValue, keys: readonly string[]): boolean {
  if (!isMap(a) || !isMap(b)) return false;
  return keys.every((key) => {
    const left = a.get(key);
    const right = b.get(key);
    return left === undefined || right === undefined ? left === right : celEquals(left, right);
  });
}

function mapEquals(a: CelMap, b: CelMap): boolean {
  if (a.size !== b.size) return false;
  return a.keys().every((key) => {
    const own = a.get(key);
    const other = b.get(key);
    return own !== undefined && other !== undefined && celEquals(own, other);
  });
}

export type Numeric = bigint | number | Uint;

export function isNumeric(value: CelValue): value is Numeric {
  return typeof value === 'bigint' || typeof value === 'number' || value instanceof Uint;
}

function compareNumbers(a: Numeric, b: Numeric): number {
  const left = a instanceof Uint ? a.value : a;
  const right = b instanceof Uint ? b.value : b;
  // JavaScript compares bigint and number by mathematical value.
  return left < right ? -1 : left > right ? 1 : left >= right ? 0 : Number.NaN;
}

/** Orders two values. Throws if their types have no order. */
export function celCompare(a: CelValue, b: CelValue): number {
  if (isNumeric(a) && isNumeric(b)) return compareNumbers(a, b);
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (a instanceof Timestamp && b instanceof Timestamp) return compareBigints(a.nanos, b.nanos);
  if (a instanceof Duration && b instanceof Duration) return compareBigints(a.nanos, b.nanos);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  throw new CelError('no such overload');
}

function compareBigints(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Go compares strings by UTF-8 bytes, which equals code point order. */
function compareStrings(a: string, b: string): number {
  if (a === b) return 0;
  return isPlain(a) && isPlain(b) ? (a < b ? -1 : 1) : Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function isPlain(text: string): boolean {
  return !/[\ud800-\uffff]/.test(text);
}
