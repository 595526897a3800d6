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

/** Result of match conditions: whether to call the webhook, or an evaluation error. */
export type MatchOutcome = { calls: boolean } | { error: string };

export type MatchConditions = (request: JsonObject, authorizer: CelAuthorizer) => MatchOutcome;

/** Cost limit of kube-apiserver for all conditions of a webhook. */
const budget = 2_500_000;

const celOf = (value: JsonValue | undefined) => untypedToCel(value ?? null);

/** Compiles the conditions, once per configuration. As upstream, one false condition wins over failing ones. */
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
