import { must } from '../../machinery/index.ts';
import { FunctionError, LimitError, TemplateError } from '../errors.ts';
import { printValue } from '../format/index.ts';
import type { CallContext, FindFunction, TemplateFunction } from '../functions/function.ts';
import type { Budget } from '../limits.ts';
import {
  type BranchNode,
  type ChainNode,
  type CommandNode,
  type Definition,
  type IdentifierNode,
  type ListNode,
  type Node,
  type NumberNode,
  nodePlace,
  nodeText,
  type Operand,
  type PipeNode,
  quoteGo,
  type Statement,
  type TemplateNode,
  type VariableNode,
} from '../syntax/index.ts';
import {
  elementType,
  type GoMethod,
  GoObject,
  Int,
  int,
  isList,
  isMap,
  isTrue,
  methodOf,
  sortedKeys,
  typeOf,
  type Value,
} from '../values/index.ts';
import { canBeNil, isAssignable } from './assignable.ts';

/** Result for a missing map key: no value, the zero value (nil), or an error. */
export type MissingKey = 'default' | 'zero' | 'error';

/** State shared by all templates of one rendering. */
export interface Rendering {
  readonly findFunction: FindFunction;
  readonly missingKey: MissingKey;
  readonly budget: Budget;
  readonly context: CallContext;
  lookup(name: string): Definition | undefined;
}

/**
 * A value, and whether it comes from a list or map of `interface {}`. In errors about its fields Go then names that
 * type instead of the value's own.
 */
interface Held {
  readonly value: Value;
  readonly isBoxed: boolean;
}

interface Variable {
  readonly name: string;
  held: Held;
}

type Jump = 'break' | 'continue' | undefined;

/** Last argument of a command, piped from the previous command, if any. */
type Final = { readonly value: Value } | undefined;

interface Call {
  readonly dot: Held;
  /** location for errors */
  readonly node: Node;
  /** operands of the command, including the function */
  readonly args: readonly Operand[];
  /** result of the previous command in the pipeline */
  readonly final: Final;
}

/** Runs one template. Follows the evaluation order of Go's text/template, so that errors name the same expression. */
export class Evaluator {
  readonly #rendering: Rendering;
  readonly #template: Definition;
  readonly #variables: Variable[];
  #node: Node;
  #output = '';

  constructor(rendering: Rendering, template: Definition, dot: Value) {
    this.#rendering = rendering;
    this.#template = template;
    this.#node = template.body;
    this.#variables = [{ name: '$', held: { value: dot, isBoxed: false } }];
  }

  run(): string {
    const { budget } = this.#rendering;
    try {
      budget.enter();
      this.#walkList(must(this.#variables[0], 'the first of variables').held, this.#template.body);
      budget.leave();
    } catch (error) {
      throw this.#describe(error);
    }
    return this.#output;
  }

  /** Adds the location to an error. */
  #describe(error: unknown): unknown {
    if (error instanceof TemplateError) return error;
    const isLimit = error instanceof LimitError;
    if (!isLimit && !(error instanceof ExecutionError)) return error;
    const place = nodePlace(this.#node);
    const message = `template: ${place}: executing ${quoteGo(this.#template.name)} at <${nodeText(this.#node)}>: ${error.message}`;
    return new TemplateError(message, { isLimit, place, said: isLimit ? undefined : error.said });
  }

  #fail(message: string, said?: string): never {
    throw new ExecutionError(message, said);
  }

  #write(text: string): void {
    this.#rendering.budget.wrote(text.length);
    this.#output += text;
  }

  #walkList(dot: Held, { nodes }: ListNode): Jump {
    for (const node of nodes) {
      const jump = this.#walk(dot, node);
      if (jump) return jump;
    }
    return undefined;
  }

  #walk(dot: Held, node: Statement): Jump {
    this.#node = node;
    this.#rendering.budget.spend(1);
    switch (node.kind) {
      case 'text':
        this.#write(node.text);
        return undefined;
      case 'action': {
        const value = this.#pipeline(dot, node.pipe);
        if (node.pipe.variables.length > 0) return undefined;
        this.#node = node;
        if (value instanceof GoObject) this.#write(value.toOutput());
        else this.#write(value === undefined ? '<no value>' : printValue(value, this.#rendering.budget));
        return undefined;
      }
      case 'break':
      case 'continue':
        return node.kind;
      case 'template':
        this.#call(dot, node);
        return undefined;
      case 'range':
        return this.#nested(() => this.#range(dot, node));
      default:
        return this.#nested(() => this.#ifOrWith(dot, node));
    }
  }

  #nested<T>(run: () => T): T {
    this.#rendering.budget.enter();
    const known = this.#variables.length;
    const result = run();
    this.#variables.length = known;
    this.#rendering.budget.leave();
    return result;
  }

  #ifOrWith(dot: Held, node: BranchNode): Jump {
    const value = this.#pipeline(dot, node.pipe);
    if (isTrue(value)) return this.#walkList(node.kind === 'with' ? { value, isBoxed: false } : dot, node.body);
    return node.otherwise && this.#walkList(dot, node.otherwise);
  }

  #range(dot: Held, node: BranchNode): Jump {
    const value = this.#pipeline(dot, node.pipe);
    const { variables, isAssignment } = node.pipe;
    const mark = this.#variables.length;
    /** Returns true to leave the loop. */
    const round = (index: Value, item: Held): boolean => {
      this.#rendering.budget.spend(1);
      const key: Held = { value: index, isBoxed: false };
      const [first, second] = variables;
      if (first && isAssignment) {
        this.#assign(first.path[0], second ? key : item);
        if (second) this.#assign(second.path[0], item);
      } else if (first) {
        must(this.#variables[mark - 1], 'the last variable').held = item;
        if (second) must(this.#variables[mark - 2], 'the variable before').held = key;
      }
      const jump = this.#walkList(item, node.body);
      this.#variables.length = mark;
      return jump === 'break';
    };
    if (value instanceof Int) {
      if (variables.length > 1) {
        this.#fail(`can't use ${value.value} to iterate over more than one variable`);
      }
      for (let i = 0n; i < value.value; i++) {
        if (round(undefined, { value: new Int(i, value.type), isBoxed: false })) return undefined;
      }
      if (value.value > 0n) return undefined;
    } else if (isList(value)) {
      const isBoxed = elementType(value) === 'interface {}';
      const { length } = value;
      for (let i = 0; i < length; i++) if (round(int(i), { value: value[i], isBoxed })) return undefined;
      if (length > 0) return undefined;
    } else if (isMap(value)) {
      const isBoxed = elementType(value) === 'interface {}';
      const entries = sortedKeys(value).map((key): [string, Value] => [key, value.get(key)]);
      for (const [key, item] of entries) if (round(key, { value: item, isBoxed })) return undefined;
      if (entries.length > 0) return undefined;
    } else if (value !== undefined && value !== null) {
      this.#fail(`range can't iterate over ${printValue(value, this.#rendering.budget)}`);
    }
    return node.otherwise && this.#walkList(dot, node.otherwise);
  }

  #call(dot: Held, node: TemplateNode): void {
    const template = this.#rendering.lookup(node.name);
    if (!template) this.#fail(`template ${quoteGo(node.name)} not defined`);
    const value = node.pipe ? this.#pipeline(dot, node.pipe) : undefined;
    const inner = new Evaluator(this.#rendering, template, value);
    this.#output += inner.run();
  }

  #pipeline(dot: Held, pipe: PipeNode): Value {
    this.#node = pipe;
    let value: Value;
    for (const [index, command] of pipe.commands.entries()) {
      this.#rendering.budget.spend(1);
      // A nil interface is no value from here on.
      value = this.#command(dot, command, index === 0 ? undefined : { value }).value ?? undefined;
    }
    const held: Held = { value, isBoxed: false };
    for (const { path } of pipe.variables) {
      if (pipe.isAssignment) this.#assign(path[0], held);
      else this.#variables.push({ name: path[0], held });
    }
    return value;
  }

  #command(dot: Held, command: CommandNode, final: Final): Held {
    const [first] = command.args;
    switch (first.kind) {
      case 'field':
        this.#node = first;
        return this.#chain({ dot, node: first, args: command.args, final }, dot, first.path);
      case 'chain':
        return this.#chainNode(dot, first, command.args, final);
      case 'identifier':
        this.#node = first;
        return unboxed(this.#function(dot, first, command, command.args, final));
      case 'pipe':
        this.#notAFunction(command.args, final);
        return unboxed(this.#nestedPipeline(dot, first));
      case 'variable':
        return this.#variable(dot, first, command.args, final);
    }
    this.#node = first;
    this.#notAFunction(command.args, final);
    if (first.kind === 'dot') return dot;
    if (first.kind === 'nil') this.#fail('nil is not a command');
    return unboxed(this.#constant(first));
  }

  /** Parentheses count as depth, but variables declared in them stay in scope. */
  #nestedPipeline(dot: Held, pipe: PipeNode): Value {
    this.#rendering.budget.enter();
    const value = this.#pipeline(dot, pipe);
    this.#rendering.budget.leave();
    return value;
  }

  #constant(node: Extract<Operand, { kind: 'bool' | 'string' | 'number' }>): Value {
    return node.kind === 'number' ? this.#number(node) : node.value;
  }

  #number(node: NumberNode): Value {
    const isHex = /^0[xX]/.test(node.text) && !/[pP]/.test(node.text);
    const isFloat = node.float !== undefined && !isHex && node.text[0] !== "'" && /[.eEpP]/.test(node.text);
    if (isFloat) return node.float;
    if (node.int !== undefined) return new Int(node.int, 'int');
    return this.#fail(`${node.text} overflows int`);
  }

  #notAFunction(args: readonly Operand[], final: Final): void {
    if (args.length > 1 || final)
      this.#fail(`can't give argument to non-function ${nodeText(must(args[0], 'the first of args'))}`);
  }

  #variable(dot: Held, node: VariableNode, args: readonly Operand[], final: Final): Held {
    this.#node = node;
    const { held } = this.#find(node.path[0]);
    if (node.path.length === 1) {
      this.#notAFunction(args, final);
      return held;
    }
    return this.#chain({ dot, node, args, final }, held, node.path.slice(1));
  }

  #chainNode(dot: Held, node: ChainNode, args: readonly Operand[], final: Final): Held {
    this.#node = node;
    if (node.node.kind === 'nil') this.#fail(`indirection through explicit nil in ${nodeText(node)}`);
    const receiver = this.#evaluated(dot, node.node);
    return this.#chain({ dot, node, args, final }, receiver, node.path);
  }

  /** Evaluates an operand that is not a constant. */
  #evaluated(dot: Held, node: Operand): Held {
    this.#node = node;
    switch (node.kind) {
      case 'dot':
        return dot;
      case 'field':
        return this.#chain({ dot, node, args: [node], final: undefined }, dot, node.path);
      case 'variable':
        return this.#variable(dot, node, [], undefined);
      case 'pipe':
        return unboxed(this.#nestedPipeline(dot, node));
      case 'identifier':
        return unboxed(this.#function(dot, node, node, [], undefined));
      case 'chain':
        return this.#chainNode(dot, node, [], undefined);
      default:
        return unboxed(undefined);
    }
  }

  #find(name: string): Variable {
    return this.#variables.findLast((variable) => variable.name === name) ?? this.#fail(`undefined variable: ${name}`);
  }

  #assign(name: string, held: Held): void {
    this.#find(name).held = held;
  }

  #chain(call: Call, start: Held, path: readonly string[]): Held {
    let receiver = start;
    const withoutArgs: Call = path.length > 1 ? { ...call, args: [], final: undefined } : call;
    for (let i = 0; i < path.length - 1; i++) receiver = this.#field(withoutArgs, must(path[i], 'path[i]'), receiver);
    return this.#field(call, must(path.at(-1), 'the last of path'), receiver);
  }

  #field(call: Call, name: string, receiver: Held): Held {
    const { value, isBoxed } = receiver;
    const { args, final } = call;
    const { missingKey } = this.#rendering;
    if (value === undefined) {
      if (missingKey === 'error') this.#fail(`nil data; no entry for key ${quoteGo(name)}`);
      return unboxed(undefined);
    }
    if (value === null) return this.#fail(`nil pointer evaluating interface {}.${name}`);
    const hasArgs = args.length > 1 || final !== undefined;
    const ownMethod = isMap(value) || isList(value) ? methodOf(value, name) : undefined;
    if (ownMethod) return unboxed(this.#method(call, ownMethod, name));
    if (isMap(value)) {
      if (hasArgs) this.#fail(`${name} is not a method but has arguments`);
      const found = value.get(name);
      const elements = elementType(value);
      if (found !== undefined || value.has(name)) return { value: found ?? null, isBoxed: elements === 'interface {}' };
      if (missingKey === 'error') this.#fail(`map has no entry for key ${quoteGo(name)}`);
      if (missingKey === 'default') return unboxed(undefined);
      return elements === 'string' ? unboxed('') : { value: null, isBoxed: true };
    }
    if (value instanceof GoObject) {
      const method = value.method(name);
      if (method) return unboxed(this.#method(call, method, name));
      const field = value.field(name);
      if (field !== undefined) {
        if (hasArgs) this.#fail(`${name} has arguments but cannot be invoked as function`);
        return { value: field, isBoxed: false };
      }
    }
    return this.#fail(`can't evaluate field ${name} in type ${isBoxed ? 'interface {}' : typeOf(value)}`);
  }

  #method(call: Call, method: GoMethod, name: string): Value {
    const asFunction: TemplateFunction = {
      parameters: method.parameters.filter((type) => !type.startsWith('...')),
      rest: method.parameters.find((type) => type.startsWith('...'))?.slice(3),
      call: (given) => method.call(given),
    };
    return this.#invoke(call, asFunction, name);
  }

  #function(dot: Held, node: IdentifierNode, place: Node, args: readonly Operand[], final: Final): Value {
    const { name } = node;
    this.#node = node;
    const found = this.#rendering.findFunction(name);
    if (!found) return this.#fail(`${quoteGo(name)} is not a defined function`);
    return this.#invoke({ dot, node: place, args, final }, found, name);
  }

  #invoke({ dot, node: place, args: words, final }: Call, called: TemplateFunction, name: string): Value {
    const { parameters, rest, call } = called;
    const operands = words.slice(1);
    const count = operands.length + (final ? 1 : 0);
    if (rest !== undefined) {
      if (count < parameters.length) {
        this.#fail(`wrong number of args for ${name}: want at least ${parameters.length} got ${operands.length}`);
      }
    } else if (count !== parameters.length) {
      this.#fail(`wrong number of args for ${name}: want ${parameters.length} got ${count}`);
    }
    if (name === 'and' || name === 'or') return this.#shortCircuit(dot, name, operands, final);
    const parameter = (index: number): TemplateFunction['parameters'][number] =>
      must(parameters[index] ?? rest, 'a parameter');
    const args = operands.map((operand, index) => this.#argument(dot, parameter(index), operand));
    if (final) args.push(this.#validate(final.value, parameter(count - 1)));
    try {
      if (name === 'call' && args[0] !== undefined && args[0] !== null) {
        throw new FunctionError(`non-function ${nodeText(operands[0] ?? this.#node)} of type ${typeOf(args[0])}`);
      }
      return call(args, this.#rendering.context);
    } catch (error) {
      if (error instanceof TemplateError && error.isLimit) throw error;
      if (error instanceof LimitError) this.#node = place;
      if (error instanceof FunctionError || error instanceof TemplateError) {
        this.#node = place;
        return this.#fail(`error calling ${name}: ${error.message}`, error.said);
      }
      throw error;
    }
  }

  #shortCircuit(dot: Held, name: string, operands: readonly Operand[], final: Final): Value {
    let value: Value;
    for (const operand of operands) {
      value = this.#argument(dot, 'reflect.Value', operand);
      if (isTrue(value) === (name === 'or')) return value;
    }
    return final ? final.value : value;
  }

  #argument(dot: Held, type: string, node: Operand): Value {
    this.#node = node;
    switch (node.kind) {
      case 'nil':
        if (canBeNil(type)) return type === 'reflect.Value' ? undefined : null;
        return this.#fail(`cannot assign nil to ${type}`);
      case 'bool':
      case 'number':
      case 'string':
        return this.#constantArgument(type, node);
      default:
        return this.#validate(this.#evaluated(dot, node).value, type);
    }
  }

  #constantArgument(type: string, node: Extract<Operand, { kind: 'bool' | 'string' | 'number' }>): Value {
    if (type === 'interface {}' || type === 'reflect.Value') return this.#constant(node);
    if (type === 'bool') return node.kind === 'bool' ? node.value : this.#expected('bool', node);
    if (type === 'string') return node.kind === 'string' ? node.value : this.#expected('string', node);
    if (/^int(?:8|16|32|64)?$/.test(type)) {
      if (node.kind === 'number' && node.int !== undefined) return new Int(node.int, type);
      return this.#expected('integer', node);
    }
    if (/^uint(?:8|16|32|64)?$/.test(type)) {
      if (node.kind === 'number' && node.uint !== undefined) return new Int(node.uint, type);
      return this.#expected('unsigned integer', node);
    }
    if (type === 'float64') {
      if (node.kind === 'number' && node.float !== undefined) return node.float;
      return this.#expected('float', node);
    }
    return this.#fail(`can't handle ${nodeText(node)} for arg of type ${type}`);
  }

  #expected(what: string, node: Operand): never {
    return this.#fail(`expected ${what}; found ${nodeText(node)}`);
  }

  #validate(value: Value, type: string): Value {
    if (value === undefined) {
      if (canBeNil(type)) return type === 'reflect.Value' ? undefined : null;
      return this.#fail(`invalid value; expected ${type}`);
    }
    if (value === null) {
      if (type === 'interface {}' || type === 'reflect.Value') return null;
      return this.#fail(`wrong type for value; expected ${type}; got interface {}`);
    }
    if (!isAssignable(value, type)) this.#fail(`wrong type for value; expected ${type}; got ${typeOf(value)}`);
    return value;
  }
}

const unboxed = (value: Value): Held => ({ value, isBoxed: false });

/** An error in the running template. The evaluator adds the location. */
class ExecutionError extends Error {
  readonly said: string | undefined;

  constructor(message: string, said?: string) {
    super(message);
    this.name = 'ExecutionError';
    this.said = said;
  }
}
