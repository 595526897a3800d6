import { done, type Result, soonest } from '../../../runtime/index.ts';

/** One named step of a reconcile. Returning nothing means there is nothing to wait for. */
export type Phase<Scope> = (scope: Scope) => Promise<Result | undefined> | Result | undefined;

/** What all phases together came to. */
export interface PhasesOutcome {
  result: Result;
  errors: unknown[];
}

/**
 * Runs the phases in order. With `carryOn` those after a failed one run too, where each stands for itself and all of them
 * together say what the status is; without it nothing is built on a step that did not succeed.
 */
export async function runPhases<Scope>(
  phases: readonly Phase<Scope>[],
  scope: Scope,
  options: { carryOn: boolean },
): Promise<PhasesOutcome> {
  const errors: unknown[] = [];
  let result = done();
  for (const phase of phases) {
    try {
      result = soonest(result, (await phase(scope)) ?? done());
    } catch (error) {
      errors.push(error);
      if (!options.carryOn) break;
    }
  }
  return { result, errors };
}

/** One error for several; a single one as it is. */
export function combined(errors: readonly unknown[]): unknown {
  return errors.length === 1
    ? errors[0]
    : new AggregateError(
        errors,
        errors.map((error) => (error instanceof Error ? error.message : String(error))).join('; '),
      );
}
