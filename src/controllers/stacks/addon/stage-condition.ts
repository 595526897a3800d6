import {
  asJson,
  type CelValue,
  compileCondition,
  errorMessage,
  ignoreNotFound,
  untypedToCel,
} from '../../../machinery/index.ts';
import { UnservedKindError } from '../../shared/index.ts';
import type { ObjectTarget } from '../objects/applied.ts';
import type { StageCondition } from '../release/addon-config.ts';

/** Result of a stage condition; if it does not hold, the reason, and whether waiting can help. */
export type ConditionAnswer =
  | { readonly holds: true }
  | { readonly holds: false; readonly why: string; readonly isBroken: boolean };

const budget = 10_000_000;

/** Evaluates a stage condition on objects of the workload cluster. */
export async function askCondition(target: ObjectTarget, condition: StageCondition): Promise<ConditionAnswer> {
  const { client, kinds, signal } = target;
  const program = compileCondition(
    condition.expression,
    condition.objects.map(({ key }) => key),
  );
  if (program.problem !== undefined) return { holds: false, why: program.problem, isBroken: true };
  const values: Record<string, CelValue> = {};
  for (const { key, apiVersion, kind, name, namespace } of condition.objects) {
    const called = `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
    try {
      const resource = await kinds.resourceOf({ apiVersion, kind }, signal);
      const place = resource.namespaced ? { namespace: namespace ?? 'default', name } : { name };
      const live = await client.get(resource, place, { signal }).catch(ignoreNotFound);
      if (live === undefined) return { holds: false, why: `${called} does not exist`, isBroken: false };
      values[key] = untypedToCel(asJson(live));
    } catch (error) {
      if (!(error instanceof UnservedKindError)) throw error;
      return { holds: false, why: `${called}: ${error.message}`, isBroken: false };
    }
  }
  try {
    const answer = program.run(values, { remaining: budget });
    if (answer === true) return { holds: true };
    if (answer === false) return { holds: false, why: `${condition.expression} is false`, isBroken: false };
    return { holds: false, why: `${condition.expression} is no boolean`, isBroken: true };
  } catch (error) {
    // a field that does not exist yet
    return { holds: false, why: `${condition.expression}: ${errorMessage(error)}`, isBroken: false };
  }
}
