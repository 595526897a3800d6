import { must } from '../errors/must.ts';
import { goRegexp } from '../schema/go-regexp/index.ts';
import type { Expression } from './ast.ts';
import { prefixedFunction, qualifiedName, typeIdentifier } from './evaluate.ts';
import { findOverloads } from './library.ts';
import { operatorSignatures } from './operators.ts';
import { fieldsOf, staticTypeOf } from './schema-values.ts';
import { CelSourceError } from './source-error.ts';
import {
  boolType,
  dynType,
  formatType,
  intType,
  joinTypes,
  matchType,
  parseType,
  type StaticType,
  simpleType,
  stringType,
  substitute,
} from './static-type.ts';
import { parseGoDuration, parseTimestamp } from './time.ts';
import { type CelValue, Uint } from './values.ts';

/** Variables in scope and their types. */
export type Scope = ReadonlyMap<string, StaticType>;

/** Infers the type of an expression. Throws CelSourceError if it can never be evaluated. */
export function checkExpression(expression: Expression, scope: Scope, source: string): StaticType {
  return new Checker(source).check(expression, scope);
}

const signatures = new Map<string, { parameters: StaticType[]; result: StaticType }[]>();
for (const [name, texts] of Object.entries(operatorSignatures)) {
  const parsed = texts.map((text) => {
    const colon = text.lastIndexOf(': ');
    // Only map<K, V> contains a comma, and it is always last.
    const comma = text.indexOf(', ');
    const parts = comma < 0 ? [text.slice(0, colon)] : [text.slice(0, comma), text.slice(comma + 2, colon)];
    return { parameters: parts.map(parseType), result: parseType(text.slice(colon + 2)) };
  });
  signatures.set(name, parsed);
}

class Checker {
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  #fail(expression: Expression, problem: string): CelSourceError {
    return new CelSourceError(this.#source, expression.at, problem);
  }

  check(expression: Expression, scope: Scope): StaticType {
    switch (expression.kind) {
      case 'literal':
        return literalType(expression.value);
      case 'identifier': {
        const type = scope.get(expression.name) ?? (typeIdentifier(expression.name) && simpleType('type'));
        if (type) return type;
        throw this.#fail(expression, `undeclared reference to '${expression.name}' (in container '')`);
      }
      case 'select':
        return this.#checkSelect(expression, scope);
      case 'index':
        return this.#checkIndex(expression, scope);
      case 'call':
        return this.#checkCall(expression, scope);
      case 'and':
      case 'or':
        return this.#checkLogic(expression, scope);
      case 'conditional':
        return this.#checkConditional(expression, scope);
      case 'list':
        return { kind: 'list', element: this.#checkElements(expression, expression.items, scope) };
      case 'map': {
        const keys = expression.entries.map((entry) => ({ value: entry.key, optional: false }));
        return {
          kind: 'map',
          key: this.#checkElements(expression, keys, scope),
          value: this.#checkElements(expression, expression.entries, scope),
        };
      }
      case 'comprehension':
        return this.#checkComprehension(expression, scope);
      case 'optional-map': {
        const target = this.check(expression.target, scope);
        const inner = target.kind === 'optional' ? target.of : dynType;
        const result = this.check(expression.body, new Map(scope).set(expression.variable, inner));
        return expression.flat ? result : { kind: 'optional', of: result };
      }
    }
  }

  #checkSelect(expression: Expression & { kind: 'select' }, scope: Scope): StaticType {
    const name = qualifiedName(expression);
    if (name?.startsWith('google.protobuf.') && !scope.has('google')) return simpleType('type');
    const operand = this.check(expression.operand, scope);
    const wrapped = expression.optional || operand.kind === 'optional';
    const member = this.#memberType(expression, operand.kind === 'optional' ? operand.of : operand);
    if (expression.test) return boolType;
    return wrapped ? { kind: 'optional', of: member } : member;
  }

  #memberType(expression: Expression & { kind: 'select' }, operand: StaticType): StaticType {
    switch (operand.kind) {
      case 'dyn':
      case 'parameter':
        return dynType;
      case 'map':
        return operand.value;
      case 'object': {
        const field = fieldsOf(operand.schema, operand.isResource).get(expression.field);
        if (!field) throw this.#fail(expression, `undefined field '${expression.field}'`);
        return staticTypeOf(field.schema, field.schema['x-kubernetes-embedded-resource'] === true);
      }
      case 'record': {
        const field = operand.fields.get(expression.field);
        if (!field) throw this.#fail(expression, `undefined field '${expression.field}'`);
        return field;
      }
      default:
        throw this.#fail(expression, `type '${formatType(operand)}' does not support field selection`);
    }
  }

  #checkIndex(expression: Expression & { kind: 'index' }, scope: Scope): StaticType {
    const operand = this.check(expression.operand, scope);
    const index = this.check(expression.index, scope);
    const wrapped = expression.optional || operand.kind === 'optional';
    const inner = operand.kind === 'optional' ? operand.of : operand;
    let member: StaticType;
    if (inner.kind === 'dyn') member = dynType;
    else if (inner.kind === 'list' && matchType(intType, index, new Map())) member = inner.element;
    else if (inner.kind === 'map' && matchType(inner.key, index, new Map())) member = inner.value;
    else throw this.#noOverload(expression, '_[_]', [operand, index]);
    return wrapped ? { kind: 'optional', of: member } : member;
  }

  #noOverload(expression: Expression, name: string, types: readonly StaticType[], target?: StaticType): CelSourceError {
    const list = types.map(formatType).join(', ');
    const applied = target ? `${formatType(target)}.(${list})` : `(${list})`;
    return this.#fail(expression, `found no matching overload for '${name}' applied to '${applied}'`);
  }

  #checkCall(expression: Expression & { kind: 'call' }, scope: Scope): StaticType {
    const prefixed = prefixedFunction(expression, [...scope.keys()]);
    const isMethod = expression.target !== undefined && prefixed === undefined;
    const target = isMethod && expression.target ? this.check(expression.target, scope) : undefined;
    const types = expression.args.map((argument) => this.#checkArgument(expression, argument, scope));
    this.#checkLiterals(expression, target);
    const all = target ? [target, ...types] : types;
    const name = prefixed ?? expression.name;
    const overloads = signatures.get(name) ?? findOverloads(isMethod ? 'method' : 'function', name, all.length);
    let result: StaticType | undefined;
    for (const overload of overloads) {
      const bindings = new Map<string, StaticType>();
      if (!overload.parameters.every((wanted, i) => matchType(wanted, must(all[i], 'all[i]'), bindings))) continue;
      const type = substitute(overload.result, bindings);
      // With arguments of unknown type, several overloads may match.
      result = result === undefined ? type : (joinTypes(result, type) ?? dynType);
    }
    if (result) return result;
    if (overloads.length === 0) {
      throw this.#fail(expression, `undeclared reference to '${expression.name}' (in container '')`);
    }
    throw this.#noOverload(expression, name, types, target);
  }

  /** Only the argument list of format may mix types. */
  #checkArgument(call: Expression & { kind: 'call' }, argument: Expression, scope: Scope): StaticType {
    if (call.name !== 'format' || !call.target || argument.kind !== 'list') return this.check(argument, scope);
    for (const item of argument.items) this.check(item.value, scope);
    return { kind: 'list', element: dynType };
  }

  /** Invalid literal arguments are reported at compile time. */
  #checkLiterals(call: Expression & { kind: 'call' }, target: StaticType | undefined): void {
    const argument = call.args.at(call.name === 'findAll' && call.target ? 0 : -1);
    if (argument?.kind !== 'literal' || typeof argument.value !== 'string') return;
    const text = argument.value;
    if (call.name === 'matches' && typeof goRegexp(text) === 'string') {
      throw this.#fail(argument, 'invalid matches argument');
    }
    if (target && (call.name === 'find' || call.name === 'findAll') && typeof goRegexp(text) === 'string') {
      throw this.#fail(argument, `invalid ${call.name} argument`);
    }
    if (target || call.target) return;
    if (call.name === 'duration' && !parseGoDuration(text)) throw this.#fail(argument, 'invalid duration argument');
    if (call.name === 'timestamp' && !parseTimestamp(text)) throw this.#fail(argument, 'invalid timestamp argument');
  }

  #checkLogic(expression: Expression & { kind: 'and' | 'or' }, scope: Scope): StaticType {
    const types = [this.check(expression.left, scope), this.check(expression.right, scope)];
    if (types.every((type) => matchType(boolType, type, new Map()))) return boolType;
    throw this.#noOverload(expression, expression.kind === 'and' ? '_&&_' : '_||_', types);
  }

  #checkConditional(expression: Expression & { kind: 'conditional' }, scope: Scope): StaticType {
    const condition = this.check(expression.condition, scope);
    const then = this.check(expression.then, scope);
    const otherwise = this.check(expression.otherwise, scope);
    const joined = joinTypes(then, otherwise);
    if (joined && matchType(boolType, condition, new Map())) return joined;
    throw this.#noOverload(expression, '_?_:_', [condition, then, otherwise]);
  }

  #checkElements(
    container: Expression,
    items: readonly { value: Expression; optional: boolean }[],
    scope: Scope,
  ): StaticType {
    let joined: StaticType | undefined;
    for (const item of items) {
      let type = this.check(item.value, scope);
      if (item.optional && type.kind === 'optional') type = type.of;
      const next = joined === undefined ? type : joinTypes(joined, type);
      if (!next) {
        throw this.#fail(
          item.value ?? container,
          `expected type '${formatType(must(joined, 'joined'))}' but found '${formatType(type)}'`,
        );
      }
      joined = next;
    }
    return joined ?? dynType;
  }

  #checkComprehension(expression: Expression & { kind: 'comprehension' }, scope: Scope): StaticType {
    const range = this.check(expression.range, scope);
    const { form, variables, steps } = expression;
    if (range.kind !== 'list' && range.kind !== 'map' && range.kind !== 'dyn') {
      const problem = `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`;
      throw this.#fail(expression.range, problem);
    }
    const element = range.kind === 'list' ? range.element : range.kind === 'map' ? range.key : dynType;
    const inner = new Map(scope);
    const [first = '', second] = variables;
    const key = second !== undefined && range.kind === 'list' ? intType : element;
    inner.set(first, key);
    if (second !== undefined) {
      inner.set(second, range.kind === 'list' ? element : range.kind === 'map' ? range.value : dynType);
    }
    const types = steps.map((step) => this.check(step, inner));
    const result = must(types.at(-1), 'a step');
    const conditions = form === 'map' || form.startsWith('transform') ? types.slice(0, -1) : types;
    for (const [i, type] of conditions.entries()) {
      if (!matchType(boolType, type, new Map())) {
        throw this.#fail(must(steps[i], 'a step'), `expected type 'bool' but found '${formatType(type)}'`);
      }
    }
    switch (form) {
      case 'filter':
        return { kind: 'list', element };
      case 'map':
      case 'transformList':
        return { kind: 'list', element: result };
      case 'transformMap':
        return { kind: 'map', key, value: result };
      case 'transformMapEntry':
        return result;
      default:
        return boolType;
    }
  }
}

function literalType(value: CelValue): StaticType {
  switch (typeof value) {
    case 'string':
      return stringType;
    case 'bigint':
      return intType;
    case 'number':
      return simpleType('double');
    case 'boolean':
      return boolType;
    default:
      return simpleType(value === null ? 'null_type' : value instanceof Uint ? 'uint' : 'bytes');
  }
}
