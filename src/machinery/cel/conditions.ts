import { type CelProgram, compileProgram } from './program.ts';
import { boolType, dynType, type StaticType } from './static-type.ts';

/** Compiles a boolean expression over variables of unknown types, such as cluster objects. */
export function compileCondition(expression: string, names: readonly string[]): CelProgram {
  const scope = new Map<string, StaticType>(names.map((name) => [name, dynType]));
  // A dynamic result type is checked at evaluation.
  return compileProgram(expression, scope, [boolType, dynType]);
}
