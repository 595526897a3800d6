import { type CelProgram, compileProgram } from './program.ts';
import { boolType, dynType, type StaticType } from './static-type.ts';

/** A yes-or-no question about named values whose types nobody knows in advance, such as objects of a cluster. */
export function compileCondition(expression: string, names: readonly string[]): CelProgram {
  const scope = new Map<string, StaticType>(names.map((name) => [name, dynType]));
  // what becomes of an unknown type is seen when it is evaluated
  return compileProgram(expression, scope, [boolType, dynType]);
}
