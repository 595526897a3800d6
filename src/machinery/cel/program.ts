import { must } from '../errors/must.ts';
import { checkExpression, type Scope } from './check.ts';
import { compileExpression, Evaluation, type Evaluator } from './evaluate.ts';
import { parseExpression } from './parser.ts';
import { dynType, formatType, isSameType, type StaticType } from './static-type.ts';
import type { CelValue } from './values.ts';

/** As much work as kube-apiserver allows one expression. */
export const expressionCostLimit = 1_000_000;

/** Work that several expressions share. */
export interface CelBudget {
  remaining: number;
}

/** A compiled expression over named variables. */
export interface CelProgram {
  readonly source: string;
  /** why it cannot be used, undefined when it can */
  readonly problem: string | undefined;
  readonly type: StaticType;
  /** Throws an Error with cel-go's words when the expression cannot be evaluated. Absent variables are null. */
  run(values: Readonly<Record<string, CelValue | undefined>>, budget: CelBudget): CelValue;
}

/** Compiles an expression. Problems are part of the result. `results` are the types it may have; absent: any. */
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
  // Where several types are wanted, they are named as in the language and not as in other messages.
  const wanted = results.map((result) =>
    results.length > 1 && result.kind === 'simple' ? result.name : formatType(result),
  );
  const words = wanted.length === 1 ? must(wanted[0], 'the first of wanted') : `one of [${wanted.join(' ')}]`;
  return `must evaluate to ${words} but got ${formatType(type)}`;
}
