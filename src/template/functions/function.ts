import type { Clock, Random } from '../../machinery/index.ts';
import { FunctionError } from '../errors.ts';
import type { Budget } from '../limits.ts';
import { Int, type Value } from '../values/index.ts';

/** Context of function calls. */
export interface CallContext {
  readonly budget: Budget;
  readonly clock: Clock;
  readonly random: Random;
  /** Renders a template of the set by name. */
  include(name: string, data: Value): string;
  /** Renders a text as a template with access to the set. */
  renderText(text: string, data: Value): string;
}

/** A template function with the Go types of its parameters, so that wrong arguments give Go's errors. */
export interface TemplateFunction {
  readonly parameters: readonly string[];
  /** type of variadic arguments; undefined: none */
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

/** Defines a function by signature, for example `int, string` or `string, ...interface {}`. */
export function define(
  signature: string,
  call: (args: readonly Value[], context: CallContext) => Value,
): TemplateFunction {
  const parameters = signature === '' ? [] : signature.split(', ');
  const last = parameters.at(-1);
  if (!last?.startsWith('...')) return { parameters, rest: undefined, call };
  return { parameters: parameters.slice(0, -1), rest: last.slice(3), call };
}

// Arguments are already checked against the signature. This only satisfies the type checker.

export const text = (value: Value): string => (typeof value === 'string' ? value : '');

/** Converts an int that fits into a JavaScript number. */
export function whole(value: Value): number {
  const number = value instanceof Int ? Number(value.value) : 0;
  if (!Number.isSafeInteger(number)) throw new FunctionError('number out of range');
  return number;
}

/** Go's runtime error for nil in place of a required value. */
export const nilDereference = (): FunctionError =>
  new FunctionError('runtime error: invalid memory address or nil pointer dereference');
