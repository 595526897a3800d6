import { must } from '../errors/must.ts';
import { checkExpression, type Scope } from './check.ts';
import { compileExpression, Evaluation, type Evaluator } from './evaluate.ts';
import { parseExpression } from './parser.ts';
import { dynType, formatType, isSameType, type StaticType } from './static-type.ts';
import type { CelValue } from './values.ts';

/** Cost limit of kube-apiserver for one expression. */
export const expressionCostLimit = 1_000_000;

/** Cost budget shared by several expressions. */
export interface CelBudget {
  remaining: number;
}

/** A compiled expression with named variables. */
export interface CelProgram {
  readonly source: string;
  /** compile error; undefined if the program can be used */
  readonly problem: string | undefined;
  readonly type: StaticType;
  /**
   * Evaluates the expression; absent variables are null. Throws an Error with the wording of cel-go if it cannot be
   * evaluated.
   */
  run(values: Readonly<Record<string, CelValue | undefined>>, budget: CelBudget): CelValue;
}

/** Compiles an expression. Errors are part of the result. `results` lists the allowed result types; absent: any. */
export function compileProgram(source: string, scope: Scope, results?: readonly StaticType[]): CelProgram {
  const names = [...scope.keys()];
  let type: StaticType = dynType;
  let problem: string | undefined;
  let evaluate: Evaluator | undefined;
  try {
    const expression = parseExpression(source);
    type = checkExpression(expression, scope, source);
    if (results && !results.some((wanted) => isSameType(wanted, type))) problem = unfitResult(results, type);
    else evaluate = compileExpression(expression, names);
  } catch (error) {
    problem = `compilation failed: ${error instanceof Error ? error.message : String(error)}`;
  }
  return {
    source,
    problem,
    type,
    run(values, budget) {
      if (!evaluate) throw new Error(problem);
      const slots = names.map((name) => values[name] ?? null);
      const allowed = Math.min(expressionCostLimit, budget.remaining);
      const evaluation = new Evaluation(slots, allowed);
      try {
        return evaluate(evaluation);
      } finally {
        budget.remaining -= allowed - evaluation.remaining;
      }
    },
  };
}

function unfitResult(results: readonly StaticType[], type: StaticType): string {
  // With several allowed types, upstream uses the CEL names of the types, unlike in its other messages.
  const wanted = results.map((result) =>
    results.length > 1 && result.kind === 'simple' ? result.name : formatType(result),
  );
  const words = wanted.length === 1 ? must(wanted[0], 'the first of wanted') : `one of [${wanted.join(' ')}]`;
  return `must evaluate to ${words} but got ${formatType(type)}`;
}
