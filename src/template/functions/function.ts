import type { Clock, Random } from '../../machinery/index.ts';
import { FunctionError } from '../errors.ts';
import type { Budget } from '../limits.ts';
import { Int, type Value } from '../values/index.ts';

/** What functions may use beside their arguments. */
export interface CallContext {
  readonly budget: Budget;
  readonly clock: Clock;
  readonly random: Random;
  /** Renders a template of the set by name. */
  include(name: string, data: Value): string;
  /** Renders a text as a template that sees the templates of the set. */
  renderText(text: string, data: Value): string;
}

/** A function of templates: the Go types of its parameters, so that wrong arguments are refused in Go's words. */
export interface TemplateFunction {
  readonly parameters: readonly string[];
  /** the type of further arguments; undefined: there are none */
  readonly rest: string | undefined;
  call(args: readonly Value[], context: CallContext): Value;
}

export type Library = Readonly<Record<string, TemplateFunction>>;

/** Finds a function in the first library that has it. */
export type FindFunction = (name: string) => TemplateFunction | undefined;

export function finder(...libraries: readonly (Library | undefined)[]): FindFunction {
  return (name) => {
    for (const library of libraries) if (library && Object.hasOwn(library, name)) return library[name];
    return undefined;
  };
}

/** A function by its signature: `int, string` or `string, ...interface {}`. */
export function define(
  signature: string,
  call: (args: readonly Value[], context: CallContext) => Value,
): TemplateFunction {
  const parameters = signature === '' ? [] : signature.split(', ');
  const last = parameters.at(-1);
  if (!last?.startsWith('...')) return { parameters, rest: undefined, call };
  return { parameters: parameters.slice(0, -1), rest: last.slice(3), call };
}

// Arguments arrive checked against the signature: these only tell TypeScript so.

export const text = (value: Value): string => (typeof value === 'string' ? value : '');

/** An int that fits a JavaScript number. */
export function whole(value: Value): number {
  const number = value instanceof Int ? Number(value.value) : 0;
  if (!Number.isSafeInteger(number)) throw new FunctionError('number out of range');
  return number;
}

/** What Go's runtime says when a function is given nil where it needs something. */
export const nilDereference = (): FunctionError =>
  new FunctionError('runtime error: invalid memory address or nil pointer dereference');
