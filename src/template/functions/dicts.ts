import { FunctionError } from '../errors.ts';
import {
  elementType,
  GoObject,
  isList,
  isMap,
  isNilList,
  nilList,
  sortedKeys,
  stringList,
  typeOf,
  type Value,
  type ValueMap,
  withElements,
} from '../values/index.ts';
import { isEmpty, toText } from './convert.ts';
import { type CallContext, define, type Library, text } from './function.ts';

const dictType = 'map[string]interface {}';
const any = 'interface {}';

/** Functions that read a dict treat nil as empty. */
const dict = (value: Value): ValueMap => (isMap(value) ? value : new Map());

/** Sprig's dict functions. Keys and values are sorted by key, because Go's order is random. */
export const dictFunctions: Library = {
  dict: define(`...${any}`, (args, { budget }) => {
    const result: ValueMap = new Map();
    for (let i = 0; i < args.length; i += 2) {
      result.set(toText(args[i], budget), i + 1 < args.length ? (args[i + 1] ?? null) : '');
    }
    return result;
  }),
  get: define(`${dictType}, string`, ([map, key]) => (dict(map).has(text(key)) ? dict(map).get(text(key)) : '')),
  set: define(`${dictType}, string, ${any}`, ([map, key, value]) => {
    if (!isMap(map)) throw new FunctionError('assignment to entry in nil map');
    return map.set(text(key), value ?? null);
  }),
  unset: define(`${dictType}, string`, ([map, key]) => {
    dict(map).delete(text(key));
    return map;
  }),
  hasKey: define(`${dictType}, string`, ([map, key]) => dict(map).has(text(key))),
  pluck: define(`string, ...${dictType}`, ([key, ...maps]) =>
    maps.filter((map) => dict(map).has(text(key))).map((map) => dict(map).get(text(key))),
  ),
  keys: define(`...${dictType}`, (maps, { budget }) => {
    for (const map of maps) budget.spend(dict(map).size);
    return stringList(maps.flatMap((map) => sortedKeys(dict(map))));
  }),
  values: define(dictType, ([map], { budget }) => {
    budget.spend(dict(map).size);
    return sortedKeys(dict(map)).map((key) => dict(map).get(key));
  }),
  pick: define(`${dictType}, ...string`, ([map, ...keys]) => {
    const result: ValueMap = new Map();
    for (const key of keys) if (dict(map).has(text(key))) result.set(text(key), dict(map).get(text(key)));
    return result;
  }),
  omit: define(`${dictType}, ...string`, ([map, ...keys], { budget }) => {
    budget.spend(dict(map).size);
    return new Map([...dict(map)].filter(([key]) => !keys.includes(key)));
  }),
  merge: define(`${dictType}, ...${dictType}`, ([into, ...from], context) =>
    mergeAll(into, from, { overwrites: false }, context),
  ),
  mustMerge: define(`${dictType}, ...${dictType}`, ([into, ...from], context) =>
    mergeAll(into, from, { overwrites: false }, context),
  ),
  mergeOverwrite: define(`${dictType}, ...${dictType}`, ([into, ...from], context) =>
    mergeAll(into, from, { overwrites: true }, context),
  ),
  mustMergeOverwrite: define(`${dictType}, ...${dictType}`, ([into, ...from], context) =>
    mergeAll(into, from, { overwrites: true }, context),
  ),
  dig: define(`...${any}`, (args) => dig(args)),
  deepCopy: define(any, ([value], context) => copyOf(value, context)),
  mustDeepCopy: define(any, ([value], context) => copyOf(value, context)),
};

function mergeAll(
  into: Value,
  from: readonly Value[],
  { overwrites }: { overwrites: boolean },
  context: CallContext,
): Value {
  const target = dict(into);
  for (const source of from) merge(target, dict(source), overwrites, context, 0);
  return target;
}

const maxDepth = 500;

/** Fills empty values of the target from the source. With `overwrites` it replaces all of them. */
function merge(target: ValueMap, source: ValueMap, overwrites: boolean, context: CallContext, depth: number): void {
  if (depth > maxDepth) throw new FunctionError('dicts are nested too deep');
  if (target === source) return;
  context.budget.spend(source.size);
  for (const [key, value] of source) {
    const existing = target.get(key);
    if (isMap(existing) && isMap(value)) merge(existing, value, overwrites, context, depth + 1);
    else if (overwrites || (isEmpty(existing) && value !== null)) target.set(key, value);
  }
}

function dig(args: readonly Value[]): Value {
  if (args.length < 3) throw new FunctionError('dig needs at least three arguments');
  const [fallback, start] = args.slice(-2);
  let at: Value = start;
  for (const key of args.slice(0, -2)) {
    if (!isMap(at) || elementType(at) !== any) throw new FunctionError(conversion(at, dictType));
    if (typeof key !== 'string') throw new FunctionError(conversion(key, 'string'));
    if (!at.has(key)) return fallback;
    at = at.get(key);
  }
  return at;
}

function conversion(value: Value, wanted: string): string {
  return `interface conversion: interface {} is ${value === undefined || value === null ? 'nil' : typeOf(value)}, not ${wanted}`;
}

function copyOf(value: Value, context: CallContext): Value {
  if (value === undefined || value === null) {
    throw new FunctionError('reflect: call of reflect.Value.Type on zero Value');
  }
  return deepCopy(value, context);
}

function deepCopy(value: Value, context: CallContext, depth = 0): Value {
  if (depth > maxDepth) throw new FunctionError('value is nested too deep');
  context.budget.spend(1);
  if (isList(value)) {
    if (isNilList(value)) return nilList(elementType(value));
    return withElements(
      elementType(value),
      value.map((item) => deepCopy(item, context, depth + 1)),
    );
  }
  if (!isMap(value) || value instanceof GoObject) return value;
  const copy: ValueMap = new Map();
  for (const [key, item] of value) copy.set(key, deepCopy(item, context, depth + 1));
  return withElements(elementType(value), copy);
}
