import { must } from '../errors/must.ts';
import './libraries/index.ts';
import type { Expression } from './ast.ts';
import { type CostMeter, findOverloads, fits, isFunctionName } from './library.ts';
import { binaryOperators, unaryOperators } from './operators.ts';
import { CelError, CelList, type CelMap, CelType, type CelValue, EntryMap, isMap, Optional } from './values.ts';

/** State of one evaluation: variables by slot, and the remaining cost budget. */
export class Evaluation implements CostMeter {
  readonly slots: CelValue[];
  remaining: number;

  constructor(slots: CelValue[], budget: number) {
    this.slots = slots;
    this.remaining = budget;
  }

  readonly charge = (cost: number): void => {
    this.remaining -= cost;
    if (this.remaining < 0) throw new CostExceededError();
  };
}

/** The cost limit is exceeded. Unlike other errors, no operator absorbs it. */
export class CostExceededError extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded');
    this.name = 'CostExceededError';
  }
}

export type Evaluator = (evaluation: Evaluation) => CelValue;

const typeNames: Record<string, string> = {
  bool: 'bool',
  bytes: 'bytes',
  double: 'double',
  int: 'int',
  list: 'list',
  map: 'map',
  null_type: 'null_type',
  string: 'string',
  type: 'type',
  uint: 'uint',
};

/** Returns the type that an identifier denotes; undefined if it denotes none. */
export function typeIdentifier(name: string): CelType | undefined {
  return Object.hasOwn(typeNames, name) ? new CelType(must(typeNames[name], 'typeNames[name]')) : undefined;
}

/** Compiles an expression to closures. `scope` lists the variables by slot. */
export function compileExpression(expression: Expression, scope: readonly string[]): Evaluator {
  switch (expression.kind) {
    case 'literal': {
      const { value } = expression;
      return () => value;
    }
    case 'identifier':
      return compileIdentifier(expression.name, scope);
    case 'select':
      return compileSelect(expression, scope);
    case 'index':
      return compileIndex(expression, scope);
    case 'call':
      return compileCall(expression, scope);
    case 'and':
      return compileLogic(expression, scope, { deciding: false });
    case 'or':
      return compileLogic(expression, scope, { deciding: true });
    case 'conditional': {
      const condition = compileExpression(expression.condition, scope);
      const then = compileExpression(expression.then, scope);
      const otherwise = compileExpression(expression.otherwise, scope);
      return (evaluation) => (asBool(condition(evaluation)) ? then(evaluation) : otherwise(evaluation));
    }
    case 'list':
      return compileList(expression, scope);
    case 'map':
      return compileMap(expression, scope);
    case 'comprehension':
      return compileComprehension(expression, scope);
    case 'optional-map': {
      const target = compileExpression(expression.target, scope);
      const slot = scope.length;
      const body = compileExpression(expression.body, [...scope, expression.variable]);
      const { flat } = expression;
      return (evaluation) => {
        const { value } = asOptional(target(evaluation));
        if (value === undefined) return Optional.none;
        evaluation.slots[slot] = value;
        const result = body(evaluation);
        return flat ? asOptional(result) : new Optional(result);
      };
    }
  }
}

function asBool(value: CelValue): boolean {
  if (typeof value !== 'boolean') throw new CelError('no such overload');
  return value;
}

function asOptional(value: CelValue): Optional {
  if (!(value instanceof Optional)) throw new CelError('no such overload');
  return value;
}

function compileIdentifier(name: string, scope: readonly string[]): Evaluator {
  const slot = scope.lastIndexOf(name);
  if (slot >= 0) {
    return ({ slots }) => {
      const value = slots[slot];
      if (value === undefined) throw new CelError(`no such attribute(s): ${name}`);
      return value;
    };
  }
  const type = typeIdentifier(name);
  if (type) return () => type;
  return () => {
    throw new CelError(`no such attribute(s): ${name}`);
  };
}

function compileSelect(expression: Expression & { kind: 'select' }, scope: readonly string[]): Evaluator {
  const { field, test, optional } = expression;
  const qualified = qualifiedType(expression, scope);
  if (qualified) return () => qualified;
  const operand = compileExpression(expression.operand, scope);
  return (evaluation) => {
    evaluation.charge(1);
    const value = operand(evaluation);
    if (value instanceof Optional) {
      const member = value.value === undefined ? undefined : asMap(value.value).get(field);
      return test ? member !== undefined : member === undefined ? Optional.none : new Optional(member);
    }
    const member = asMap(value).get(field);
    if (test) return member !== undefined;
    if (optional) return member === undefined ? Optional.none : new Optional(member);
    if (member === undefined) throw new CelError(`no such key: ${field}`);
    return member;
  };
}

/** google.protobuf.Timestamp and Duration are types, not field selections. */
function qualifiedType(expression: Expression & { kind: 'select' }, scope: readonly string[]): CelType | undefined {
  const name = qualifiedName(expression);
  if (name === undefined || scope.includes('google')) return undefined;
  return name === 'google.protobuf.Timestamp' || name === 'google.protobuf.Duration' ? new CelType(name) : undefined;
}

/** Returns `a.b.c` if an expression consists only of names. */
export function qualifiedName(expression: Expression): string | undefined {
  if (expression.kind === 'identifier') return expression.name;
  if (expression.kind !== 'select' || expression.test || expression.optional) return undefined;
  const prefix = qualifiedName(expression.operand);
  return prefix === undefined ? undefined : `${prefix}.${expression.field}`;
}

function asMap(value: CelValue): CelMap {
  if (!isMap(value)) throw new CelError('no such overload');
  return value;
}

function compileIndex(expression: Expression & { kind: 'index' }, scope: readonly string[]): Evaluator {
  const operand = compileExpression(expression.operand, scope);
  const index = compileExpression(expression.index, scope);
  const { optional } = expression;
  return (evaluation) => {
    evaluation.charge(1);
    let value = operand(evaluation);
    const key = index(evaluation);
    const inOptional = value instanceof Optional;
    if (value instanceof Optional) {
      if (value.value === undefined) return Optional.none;
      value = value.value;
    }
    const member = value instanceof CelList ? value.items[listIndex(key)] : asMap(value).get(key);
    if (optional || inOptional) return member === undefined ? Optional.none : new Optional(member);
    if (member !== undefined) return member;
    throw new CelError(
      value instanceof CelList ? `index out of bounds: ${String(key)}` : `no such key: ${String(key)}`,
    );
  };
}

function listIndex(key: CelValue): number {
  if (typeof key === 'bigint') return Number(key);
  if (typeof key === 'number' && Number.isInteger(key)) return key;
  throw new CelError(`unsupported index type '${typeof key}' in list`);
}

/** Name of a function with a prefix, such as sets.contains; undefined when the target is a value. */
export function prefixedFunction(
  expression: Expression & { kind: 'call' },
  scope: readonly string[],
): string | undefined {
  const prefix = expression.target && qualifiedName(expression.target);
  if (prefix === undefined || scope.includes(prefix.split('.')[0] ?? '')) return undefined;
  const name = `${prefix}.${expression.name}`;
  return isFunctionName('function', name) ? name : undefined;
}

function compileCall(expression: Expression & { kind: 'call' }, scope: readonly string[]): Evaluator {
  const prefixed = prefixedFunction(expression, scope);
  const args = expression.args.map((argument) => compileExpression(argument, scope));
  const { name } = expression;
  const unary = own(unaryOperators, name);
  if (unary) {
    const operand = must(args[0], 'the first of args');
    return (evaluation) => unary(operand(evaluation));
  }
  const binary = own(binaryOperators, name);
  if (binary) {
    const [left, right] = args as [Evaluator, Evaluator];
    return (evaluation) => {
      evaluation.charge(1);
      return binary(left(evaluation), right(evaluation), evaluation);
    };
  }
  if (expression.target && prefixed === undefined) args.unshift(compileExpression(expression.target, scope));
  const isMethod = expression.target !== undefined && prefixed === undefined;
  const overloads = findOverloads(isMethod ? 'method' : 'function', prefixed ?? name, args.length);
  return (evaluation) => {
    evaluation.charge(1);
    const values = args.map((argument) => argument(evaluation));
    for (const overload of overloads) {
      if (overload.parameters.every((type, i) => fits(type, values[i] ?? null)))
        return overload.handler(values, evaluation);
    }
    throw new CelError(`no such overload: ${name}`);
  };
}

function own<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** `&&` and `||` succeed if either side decides the result, even when the other side fails. */
function compileLogic(
  expression: Expression & { kind: 'and' | 'or' },
  scope: readonly string[],
  { deciding }: { deciding: boolean },
): Evaluator {
  const left = compileExpression(expression.left, scope);
  const right = compileExpression(expression.right, scope);
  return (evaluation) => {
    let failure: unknown;
    try {
      if (asBool(left(evaluation)) === deciding) return deciding;
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      failure = error;
    }
    if (asBool(right(evaluation)) === deciding) return deciding;
    if (failure) throw failure;
    return !deciding;
  };
}

function compileList(expression: Expression & { kind: 'list' }, scope: readonly string[]): Evaluator {
  const items = expression.items.map((item) => ({ ...item, evaluate: compileExpression(item.value, scope) }));
  return (evaluation) => {
    evaluation.charge(items.length + 1);
    const values: CelValue[] = [];
    for (const item of items) {
      const value = item.evaluate(evaluation);
      if (!item.optional) values.push(value);
      else {
        const inner = asOptional(value).value;
        if (inner !== undefined) values.push(inner);
      }
    }
    return new CelList(values);
  };
}

function compileMap(expression: Expression & { kind: 'map' }, scope: readonly string[]): Evaluator {
  const entries = expression.entries.map((entry) => ({
    optional: entry.optional,
    key: compileExpression(entry.key, scope),
    value: compileExpression(entry.value, scope),
  }));
  return (evaluation) => {
    evaluation.charge(entries.length + 1);
    const map = new EntryMap();
    for (const entry of entries) {
      const key = entry.key(evaluation);
      let value: CelValue | undefined = entry.value(evaluation);
      if (entry.optional) value = asOptional(value).value;
      if (value !== undefined && !map.add(key, value)) throw new CelError(`Failed with repeated key: ${String(key)}`);
    }
    return map;
  };
}

function compileComprehension(expression: Expression & { kind: 'comprehension' }, scope: readonly string[]): Evaluator {
  const { form, variables } = expression;
  const range = compileExpression(expression.range, scope);
  const slot = scope.length;
  const steps = expression.steps.map((step) => compileExpression(step, [...scope, ...variables]));
  const body = must(steps.at(-1), 'the last of steps');
  const filter = steps.length === 2 ? steps[0] : undefined;
  const two = variables.length === 2;

  /** Calls back for every element that passes the filter, until the callback returns false. */
  const iterate = (evaluation: Evaluation, visit: (key: CelValue, value: CelValue) => boolean): void => {
    const collection = range(evaluation);
    const { slots } = evaluation;
    const list = collection instanceof CelList;
    const keys = list ? collection.items : asRange(collection).keys();
    for (let i = 0; i < keys.length; i++) {
      evaluation.charge(1);
      const element = keys[i] ?? null;
      const key = two && list ? BigInt(i) : element;
      slots[slot] = key;
      if (two) slots[slot + 1] = list ? element : ((collection as CelMap).get(element) ?? null);
      if (filter && !asBool(filter(evaluation))) continue;
      if (visit(key, element)) return;
    }
  };

  switch (form) {
    case 'all':
    case 'exists':
      return quantifier(iterate, body, form === 'exists');
    case 'existsOne':
      return (evaluation) => {
        let count = 0;
        iterate(evaluation, () => {
          if (asBool(body(evaluation))) count++;
          return false;
        });
        return count === 1;
      };
    case 'filter':
      return (evaluation) => {
        const kept: CelValue[] = [];
        iterate(evaluation, (key) => {
          if (asBool(body(evaluation))) kept.push(key);
          return false;
        });
        return new CelList(kept);
      };
    case 'map':
    case 'transformList':
      return (evaluation) => {
        const made: CelValue[] = [];
        iterate(evaluation, () => {
          made.push(body(evaluation));
          return false;
        });
        return new CelList(made);
      };
    case 'transformMap':
    case 'transformMapEntry':
      return (evaluation) => {
        const made = new EntryMap();
        iterate(evaluation, (key) => {
          const value = body(evaluation);
          if (form === 'transformMap') made.add(key, value);
          else addEntries(made, asMap(value));
          return false;
        });
        return made;
      };
  }
}

function addEntries(target: EntryMap, source: CelMap): void {
  for (const key of source.keys()) {
    if (!target.add(key, source.get(key) ?? null))
      throw new CelError(`insert failed: key ${String(key)} already exists`);
  }
}

function asRange(value: CelValue): CelMap {
  if (!isMap(value)) throw new CelError(`got '${typeof value}', expected iterable type`);
  return value;
}

type Iterate = (evaluation: Evaluation, visit: (key: CelValue, value: CelValue) => boolean) => void;

/** An element that decides the result takes precedence over elements that fail. */
function quantifier(iterate: Iterate, body: Evaluator, deciding: boolean): Evaluator {
  return (evaluation) => {
    let failure: unknown;
    let decided = false;
    iterate(evaluation, () => {
      try {
        decided = asBool(body(evaluation)) === deciding;
      } catch (error) {
        if (!(error instanceof CelError)) throw error;
        failure ??= error;
      }
      return decided;
    });
    if (decided) return deciding;
    if (failure) throw failure;
    return !deciding;
  };
}
