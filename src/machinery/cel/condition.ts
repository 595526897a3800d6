import type { JsonValue } from '../json/value.ts';
import { checkExpression } from './check.ts';
import { compileExpression, Evaluation, type Evaluator } from './evaluate.ts';
import { parseExpression } from './parser.ts';
import { boolType, dynType, matchType } from './static-type.ts';
import { untypedToCel } from './untyped-values.ts';

/** A free expression that is true or false of some variables, such as a match condition of a webhook. */
export interface CelCondition {
  /** why it cannot be used, undefined when it can */
  readonly problem: string | undefined;
  /** Throws an Error with cel-go's words when the expression cannot be evaluated. Absent variables are null. */
  holds(variables: Readonly<Record<string, JsonValue | undefined>>): boolean;
}

/** As much work as kube-apiserver allows one expression. */
const costLimit = 1_000_000;

/** Compiles an expression over variables of no known type. Problems are part of the result. */
export function compileCondition(source: string, variables: readonly string[]): CelCondition {
  const { evaluate, problem } = compile(source, variables);
  return {
    problem,
    holds(values) {
      if (!evaluate) throw new Error(problem);
      const slots = variables.map((name) => untypedToCel(values[name] ?? null));
      return evaluate(new Evaluation(slots, costLimit)) === true;
    },
  };
}

function compile(
  source: string,
  variables: readonly string[],
): { evaluate: Evaluator | undefined; problem: string | undefined } {
  try {
    const expression = parseExpression(source);
    const type = checkExpression(expression, new Map(variables.map((name) => [name, dynType])), source);
    if (type.kind !== 'dyn' && !matchType(boolType, type, new Map())) {
      return { evaluate: undefined, problem: 'must evaluate to bool' };
    }
    return { evaluate: compileExpression(expression, variables), problem: undefined };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { evaluate: undefined, problem: `compilation failed: ${text}` };
  }
}
