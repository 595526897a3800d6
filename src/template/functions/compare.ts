import { FunctionError } from '../errors.ts';
import { type PrintBudget, printValue, sprintf } from '../format/index.ts';
import { compareStrings, GoObject, Int, isList, isMap, typeOf, type Value } from '../values/index.ts';

type BasicKind = 'bool' | 'int' | 'uint' | 'float' | 'string' | undefined;

function basicKind(value: Value): BasicKind {
  if (value instanceof Int) return value.isUnsigned ? 'uint' : 'int';
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'number':
      return 'float';
    case 'string':
      return 'string';
  }
  return undefined;
}

const isWhole = (kind: BasicKind): boolean => kind === 'int' || kind === 'uint';

/**
 * Reports whether the first value equals one of the others. Comparing numbers of different kinds is an error, as in Go.
 */
export function equal(first: Value, others: readonly Value[], budget: PrintBudget): boolean {
  if (others.length === 0) throw new FunctionError('missing argument for comparison');
  return others.some((other) => equalPair(first ?? undefined, other ?? undefined, budget));
}

function equalPair(a: Value, b: Value, budget: PrintBudget): boolean {
  const [left, right] = [basicKind(a), basicKind(b)];
  if (isWhole(left) && isWhole(right)) return (a as Int).value === (b as Int).value;
  if (left !== right) {
    if (a === undefined || b === undefined) return false;
    throw new FunctionError(`incompatible types for comparison: ${typeOf(a)} and ${typeOf(b)}`);
  }
  if (left !== undefined) return a === b;
  if (a === undefined || b === undefined) return a === b;
  const isSame = (isList(a) && isList(b)) || (isMap(a) && isMap(b)) || (a instanceof GoObject && b instanceof GoObject);
  if (!isSame) {
    throw new FunctionError(
      `non-comparable types ${sprintf('%s', [a], budget)}: ${typeOf(a)}, ${typeOf(b)}: ${printValue(b, budget)}`,
    );
  }
  if (a instanceof GoObject && b instanceof GoObject) return a === b || sameIdentity(a, b);
  throw new FunctionError(`non-comparable type ${sprintf('%s', [b], budget)}: ${typeOf(b)}`);
}

function sameIdentity(a: GoObject, b: GoObject): boolean {
  return a.typeName === b.typeName && a.identity() !== undefined && a.identity() === b.identity();
}

/** Returns a negative number, zero or a positive number. */
export function compare(a: Value, b: Value): number {
  const [left, right] = [basicKind(a), basicKind(b)];
  if (left === undefined || right === undefined) throw new FunctionError('invalid type for comparison');
  if (isWhole(left) && isWhole(right)) {
    const [x, y] = [(a as Int).value, (b as Int).value];
    return x < y ? -1 : x > y ? 1 : 0;
  }
  if (left !== right) throw new FunctionError(`incompatible types for comparison: ${typeOf(a)} and ${typeOf(b)}`);
  if (left === 'bool') throw new FunctionError('invalid type for comparison');
  if (left === 'string') return compareStrings(a as string, b as string);
  return (a as number) < (b as number) ? -1 : a === b ? 0 : 1;
}

/** Implements Go's reflect.DeepEqual. Shared parts are compared each time they occur, so every step counts. */
export function deepEqual(a: Value, b: Value, budget: PrintBudget): boolean {
  budget.spend(1);
  if (a === b || (a ?? null) === (b ?? null)) return true;
  if (a instanceof Int && b instanceof Int) return a.value === b.value && a.type === b.type;
  if (isList(a) && isList(b)) {
    if (typeOf(a) !== typeOf(b) || a.length !== b.length) return false;
    return a.every((item, index) => deepEqual(item, b[index], budget));
  }
  if (isMap(a) && isMap(b)) {
    if (typeOf(a) !== typeOf(b) || a.size !== b.size) return false;
    return [...a].every(([key, item]) => b.has(key) && deepEqual(item, b.get(key), budget));
  }
  return a instanceof GoObject && b instanceof GoObject && sameIdentity(a, b);
}
