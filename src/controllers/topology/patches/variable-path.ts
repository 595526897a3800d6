import { isJsonObject, type JsonValue } from '../../../machinery/index.ts';

/** Variables for templates and paths: user variables at the top level, and `builtin`. */
export type VariableValues = Readonly<Record<string, JsonValue | undefined>>;

/** A path such as `a.b[0].c` is invalid or does not exist. */
export class VariablePathError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'VariablePathError';
  }
}

interface Segment {
  name: string;
  index: number | undefined;
}

/** Parses a path such as `a.b[0].c`. Throws VariablePathError. */
export function parseVariablePath(path: string): Segment[] {
  return path.split('.').map((text) => {
    const open = text.indexOf('[');
    const close = text.indexOf(']');
    if (open < 0 && close < 0) return { name: text, index: undefined };
    const index = text.slice(open + 1, close);
    if (open < 0 || close !== text.length - 1 || !/^\d+$/.test(index)) {
      throw new VariablePathError(`variable path "${path}" is invalid: cannot read "${text}"`);
    }
    return { name: text.slice(0, open), index: Number(index) };
  });
}

/** Returns the value at a path. Throws VariablePathError if there is none. */
export function valueAtPath(values: VariableValues, path: string): JsonValue {
  let current: JsonValue = { ...values } as JsonValue;
  for (const { name, index } of parseVariablePath(path)) {
    const member: JsonValue | undefined =
      isJsonObject(current) && Object.hasOwn(current, name) ? current[name] : undefined;
    if (member === undefined) throw new VariablePathError(`variable "${path}" does not exist: there is no "${name}"`);
    current = member;
    if (index === undefined) continue;
    if (!Array.isArray(current)) throw new VariablePathError(`variable "${path}" is invalid: "${name}" is not a list`);
    const item: JsonValue | undefined = current[index];
    if (item === undefined) {
      throw new VariablePathError(`variable "${path}" does not exist: "${name}" has no item ${index}`);
    }
    current = item;
  }
  return current;
}
