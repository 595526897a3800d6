import { FunctionError } from '../errors.ts';
import {
  compareStrings,
  elementType,
  Int,
  isList,
  kindOf,
  nilList,
  stringList,
  type Value,
  type ValueList,
  withElements,
} from '../values/index.ts';
import { deepEqual } from './compare.ts';
import { isEmpty, toInt64, toStrings, toText } from './convert.ts';
import { type CallContext, define, type Library, nilDereference, type TemplateFunction, whole } from './function.ts';

const any = 'interface {}';

/** Returns the list of an argument, or fails with the given message. */
function list(value: Value, refusal: string, { budget }: CallContext): ValueList {
  if (value === undefined || value === null) throw nilDereference();
  if (!isList(value)) throw new FunctionError(`${refusal} ${kindOf(value)}`);
  budget.spend(value.length);
  return value;
}

const each = (
  refusal: string,
  call: (items: ValueList, args: readonly Value[], context: CallContext) => Value,
  further = '',
): TemplateFunction =>
  define(`${any}${further}`, ([value, ...args], context) => call(list(value, refusal, context), args, context));

const isIn = (items: readonly Value[], wanted: Value, { budget }: CallContext): boolean =>
  items.some((item) => deepEqual(wanted, item, budget));

const append = each('Cannot push on type', (items, [value]) => [...items, value], `, ${any}`);
const prepend = each('Cannot prepend on type', (items, [value]) => [value, ...items], `, ${any}`);
const first = each('Cannot find first on type', (items) => items[0] ?? null);
const last = each('Cannot find last on type', (items) => items.at(-1) ?? null);
const rest = each('Cannot find rest on type', (items) => (items.length === 0 ? nilList() : items.slice(1)));
const initial = each('Cannot find initial on type', (items) => (items.length === 0 ? nilList() : items.slice(0, -1)));
const reverse = each('Cannot find reverse on type', (items) => [...items].reverse());
const compact = each('Cannot compact on type', (items) => items.filter((item) => !isEmpty(item)));
const uniq = each('Cannot find uniq on type', (items, _args, context) => {
  const kept: ValueList = [];
  for (const item of items) {
    if (!isIn(kept, item, context)) kept.push(item);
  }
  return kept;
});
const without = each(
  'Cannot find without on type',
  (items, omitted, context) => items.filter((item) => !isIn(omitted, item, context)),
  `, ...${any}`,
);
const has = define(`${any}, ${any}`, ([wanted, value], context) => {
  if (value === undefined || value === null) return false;
  return isIn(list(value, 'Cannot find has on type', context), wanted, context);
});
const slice = each(
  'list should be type of slice or array but',
  (items, [from, to]) => {
    if (items.length === 0) return null;
    const start = Number(toInt64(from));
    const end = to === undefined ? items.length : Number(toInt64(to));
    if (start < 0 || end < start || end > items.length)
      throw new FunctionError('reflect.Value.Slice: slice index out of bounds');
    return withElements(elementType(items), items.slice(start, end));
  },
  `, ...${any}`,
);
const chunk = define(`int, ${any}`, ([size, value], context) => {
  const items = list(value, 'Cannot chunk type', context);
  const length = whole(size);
  if (length <= 0) throw new FunctionError('runtime error: integer divide by zero');
  const chunks: ValueList = [];
  for (let at = 0; at < items.length; at += length) chunks.push(items.slice(at, at + length));
  return withElements('[]interface {}', chunks);
});

/** Sprig's list functions. The variants with `must` differ only in how they fail in Go, which templates cannot see. */
export const listFunctions: Library = {
  list: define(`...${any}`, (args) => [...args]),
  tuple: define(`...${any}`, (args) => [...args]),
  append,
  push: append,
  mustAppend: append,
  mustPush: append,
  prepend,
  mustPrepend: prepend,
  first,
  mustFirst: first,
  last,
  mustLast: last,
  rest,
  mustRest: rest,
  initial,
  mustInitial: initial,
  reverse,
  mustReverse: reverse,
  compact,
  mustCompact: compact,
  uniq,
  mustUniq: uniq,
  without,
  mustWithout: without,
  has,
  mustHas: has,
  slice,
  mustSlice: slice,
  chunk,
  mustChunk: chunk,
  concat: define(`...${any}`, (args, context) => {
    const all: ValueList = args.length === 0 ? nilList() : [];
    for (const value of args) {
      if (value === undefined || value === null) throw nilDereference();
      if (!isList(value)) throw new FunctionError(`Cannot concat type ${kindOf(value)} as list`);
      context.budget.spend(value.length);
      for (const item of value) all.push(item);
    }
    return all;
  }),
  sortAlpha: define(any, ([value], { budget }) => {
    if (!isList(value)) return stringList([toText(value, budget)]);
    budget.spend(value.length * 4);
    return stringList(toStrings(value, budget).sort(compareStrings));
  }),
  until: define('int', ([count], context) => steps(0, whole(count), whole(count) < 0 ? -1 : 1, context)),
  untilStep: define('int, int, int', ([start, stop, step], context) =>
    steps(whole(start), whole(stop), whole(step), context),
  ),
  seq: define('...int', (args, context) => sequence(args.map(whole), context)),
};

function steps(start: number, stop: number, step: number, { budget }: CallContext): ValueList {
  const count = stop < start === step < 0 && step !== 0 ? Math.max(0, Math.ceil((stop - start) / step)) : 0;
  budget.spend(count);
  return withElements(
    'int',
    Array.from({ length: count }, (_none, index) => new Int(BigInt(start + index * step))),
  );
}

function sequence(numbers: readonly number[], context: CallContext): string {
  const texts = (start: number, stop: number, step: number): string =>
    steps(start, stop, step, context)
      .map((item) => String((item as Int).value))
      .join(' ');
  const [a = 0, b = 0, c = 0] = numbers;
  switch (numbers.length) {
    case 1: {
      const increment = a < 1 ? -1 : 1;
      return texts(1, a + increment, increment);
    }
    case 2: {
      const step = b < a ? -1 : 1;
      return texts(a, b + step, step);
    }
    case 3: {
      if (c < a && b > 0) return '';
      return texts(a, c + (c < a ? -1 : 1), b);
    }
    default:
      return '';
  }
}
