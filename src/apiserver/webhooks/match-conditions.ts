import {
  aggregateText,
  type CelAuthorizer,
  compileMatchCondition,
  errorMessage,
  type JsonObject,
  type JsonValue,
  untypedToCel,
} from '../../machinery/index.ts';

export interface MatchCondition {
  name: string;
  expression: string;
}

/** What the conditions of a webhook say of a request: call it, leave it out, or nothing that can be evaluated. */
export type MatchOutcome = { calls: boolean } | { error: string };

/** Asks the conditions of a webhook about the request of an AdmissionReview. */
export type MatchConditions = (request: JsonObject, authorizer: CelAuthorizer) => MatchOutcome;

/** As much work as kube-apiserver allows the conditions of a webhook together. */
const budget = 2_500_000;

const celOf = (value: JsonValue | undefined) => untypedToCel(value ?? null);

/** Compiles the conditions once per configuration. One that is false wins over others that fail, as upstream. */
export function compileMatchConditions(conditions: readonly MatchCondition[]): MatchConditions {
  const programs = conditions.map(({ expression }) => compileMatchCondition(expression, { hasParams: false }));
  return (review, authorizer) => {
    if (programs.length === 0) return { calls: true };
    const { object, oldObject, ...request } = review;
    const values = { object: celOf(object), oldObject: celOf(oldObject), request: celOf(request), authorizer };
    const left = { remaining: budget };
    const errors: string[] = [];
    for (const program of programs) {
      try {
        if (program.run(values, left) !== true) return { calls: false };
      } catch (error) {
        errors.push(`expression '${program.source}' resulted in error: ${errorMessage(error)}`);
      }
    }
    if (errors.length === 0) return { calls: true };
    return { error: aggregateText(errors) };
  };
}
