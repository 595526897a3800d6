import { must } from '../../machinery/index.ts';
import { FunctionError } from '../errors.ts';
import { sprint } from '../format/index.ts';
import { Int, int64, type Value } from '../values/index.ts';
import { toFloat64, toInt64 } from './convert.ts';
import { add, type Decimal, decimal, divide, multiply, subtract, toNumber } from './decimal.ts';
import { define, type Library, whole } from './function.ts';

const any = 'interface {}';

function nonZero(value: bigint): bigint {
  if (value === 0n) throw new FunctionError('runtime error: integer divide by zero');
  return value;
}

function fold(first: Value, others: readonly Value[], apply: (a: Decimal, b: Decimal) => Decimal): number {
  return toNumber(
    others.reduce<Decimal>((sum, value) => apply(sum, decimal(toFloat64(value))), decimal(toFloat64(first))),
  );
}

function quotient(a: Decimal, b: Decimal): Decimal {
  const result = divide(a, b);
  if (!result) throw new FunctionError('decimal division by 0');
  return result;
}

/** Math.max does not support bigint. */
const ascending = (args: readonly Value[]): bigint[] => args.map(toInt64).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));

const largest = define(`${any}, ...${any}`, (args) => int64(must(ascending(args).at(-1), 'ascending(args).at(-1)')));

/** Sprig's arithmetic: int64 that wraps around, and decimals for functions with an `f`. */
export const mathFunctions: Library = {
  int: define(any, ([value]) => new Int(toInt64(value), 'int')),
  int64: define(any, ([value]) => int64(toInt64(value))),
  float64: define(any, ([value]) => toFloat64(value)),
  toDecimal: define(any, ([value], { budget }) => {
    const digits = sprint([value], budget);
    return int64(/^[+-]?[0-7]{1,21}$/.test(digits) ? parseOctal(digits) : 0n);
  }),
  add1: define(any, ([value]) => int64(toInt64(value) + 1n)),
  add: define(`...${any}`, (args) => int64(args.reduce<bigint>((sum, value) => sum + toInt64(value), 0n))),
  sub: define(`${any}, ${any}`, ([a, b]) => int64(toInt64(a) - toInt64(b))),
  div: define(`${any}, ${any}`, ([a, b]) => int64(toInt64(a) / nonZero(toInt64(b)))),
  mod: define(`${any}, ${any}`, ([a, b]) => int64(toInt64(a) % nonZero(toInt64(b)))),
  mul: define(`${any}, ...${any}`, (args) =>
    int64(args.map(toInt64).reduce((product, value) => BigInt.asIntN(64, product * value))),
  ),
  add1f: define(any, ([value]) => fold(value, [1], add)),
  addf: define(`...${any}`, (args) => fold(0, args, add)),
  subf: define(`${any}, ...${any}`, ([first, ...others]) => fold(first, others, subtract)),
  mulf: define(`${any}, ...${any}`, ([first, ...others], { budget }) => {
    budget.spend(others.length * others.length);
    return fold(first, others, multiply);
  }),
  divf: define(`${any}, ...${any}`, ([first, ...others]) => fold(first, others, quotient)),
  max: largest,
  biggest: largest,
  min: define(`${any}, ...${any}`, (args) => int64(must(ascending(args)[0], 'ascending(args)[0]'))),
  maxf: define(`${any}, ...${any}`, (args) => args.map(toFloat64).reduce((a, b) => Math.max(a, b))),
  minf: define(`${any}, ...${any}`, (args) => args.map(toFloat64).reduce((a, b) => Math.min(a, b))),
  ceil: define(any, ([value]) => Math.ceil(toFloat64(value))),
  floor: define(any, ([value]) => Math.floor(toFloat64(value))),
  round: define(`${any}, int, ...float64`, ([value, places, on]) => {
    const power = 10 ** whole(places);
    const scaled = power * toFloat64(value);
    const fraction = scaled - Math.trunc(scaled);
    return (fraction >= (typeof on === 'number' ? on : 0.5) ? Math.ceil(scaled) : Math.floor(scaled)) / power;
  }),
};

function parseOctal(text: string): bigint {
  const isNegative = text.startsWith('-');
  const value = BigInt(`0o${text.replace(/^[+-]/, '')}`);
  return isNegative ? -value : value;
}
