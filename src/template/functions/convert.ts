import type { PrintBudget } from '../format/index.ts';
import { printValue } from '../format/index.ts';
import { GoBytes, GoObject, Int, isList, isMap, type Value } from '../values/index.ts';

const maxInt = 2n ** 63n - 1n;
const minInt = -(2n ** 63n);

/** Converts to a string like `%v`. */
export function toText(value: Value, budget: PrintBudget): string {
  if (typeof value === 'string') return value;
  return value instanceof GoBytes ? value.asString() : printValue(value, budget);
}

/** Converts to int64, or 0 if impossible. */
export function toInt64(value: Value): bigint {
  if (value instanceof Int) return BigInt.asIntN(64, value.value);
  switch (typeof value) {
    case 'boolean':
      return value ? 1n : 0n;
    case 'number':
      return Number.isFinite(value) && Math.abs(value) < 2 ** 63 ? BigInt(Math.trunc(value)) : minInt;
    case 'string':
      return parseInt64(value.replace(/\.0*$/, '')) ?? 0n;
  }
  return 0n;
}

/** Implements strconv.ParseInt(s, 0, 64). */
function parseInt64(text: string): bigint | undefined {
  const found = /^([+-]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))$/.exec(
    /^[+-]?(?:0[xXbBoO]_?)?[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*$/.test(text) ? text.replaceAll('_', '') : text,
  );
  if (!found) return undefined;
  const [, sign, hex, binary, octal, digits] = found;
  const magnitude = BigInt(hex ? `0x${hex}` : binary ? `0b${binary}` : octal ? `0o${octal}` : (digits ?? ''));
  const value = sign === '-' ? -magnitude : magnitude;
  return value < minInt || value > maxInt ? undefined : value;
}

/** Converts to float64, or 0 if impossible. */
export function toFloat64(value: Value): number {
  if (value instanceof Int) return Number(value.value);
  switch (typeof value) {
    case 'boolean':
      return value ? 1 : 0;
    case 'number':
      return value;
    case 'string':
      return /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/.test(value) ? Number(value) : 0;
  }
  return 0;
}

/** Reports emptiness as defined by `default` and `empty`. */
export function isEmpty(value: Value): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === false) return true;
  if (value instanceof Int) return value.value === 0n;
  if (isList(value)) return value.length === 0;
  if (isMap(value)) return value.size === 0;
  return value instanceof GoObject && !value.isTrue();
}

/** Converts a list or a single value to strings. Nil items are skipped. */
export function toStrings(value: Value, budget: PrintBudget): string[] {
  if (value === undefined || value === null) return [];
  if (!isList(value)) return [toText(value, budget)];
  budget.spend(value.length);
  return value.filter((item) => item !== undefined && item !== null).map((item) => toText(item, budget));
}
