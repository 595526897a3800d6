import { compileCondition, errorMessage, type JsonObject } from '../../machinery/index.ts';

export interface MatchCondition {
  name: string;
  expression: string;
}

/** What the conditions of a webhook say of a request: call it, leave it out, or nothing that can be evaluated. */
export type MatchOutcome = { calls: boolean } | { error: string };

/** Asks the conditions of a webhook about the request of an AdmissionReview. */
export type MatchConditions = (request: JsonObject) => MatchOutcome;

const variables = ['object', 'oldObject', 'request'];

/** Compiles the conditions once per configuration. One that is false wins over others that fail, as upstream. */
export function compileMatchConditions(conditions: readonly MatchCondition[]): MatchConditions {
  const compiled = conditions.map(({ expression }) => ({ expression, ...compileCondition(expression, variables) }));
  return (review) => {
    const { object, oldObject, ...request } = review;
    const errors: string[] = [];
    for (const condition of compiled) {
      try {
        if (!condition.holds({ object, oldObject, request })) return { calls: false };
      } catch (error) {
        errors.push(`expression '${condition.expression}' resulted in error: ${errorMessage(error)}`);
      }
    }
    if (errors.length === 0) return { calls: true };
    return { error: errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]` };
  };
}
