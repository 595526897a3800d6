import { done, type Result, soonest } from '../../../runtime/index.ts';

/** A named step of a reconcile. Undefined means no requeue. */
export type Phase<Scope> = (scope: Scope) => Promise<Result | undefined> | Result | undefined;

/** Combined result of all phases. */
export interface PhasesOutcome {
  result: Result;
  errors: unknown[];
}

/**
 * Runs phases in order. With `carryOn`, a failed phase does not stop the later ones; without it, the first failure
 * does.
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

/** Combines several errors into one; returns a single error unchanged. */
export function combined(errors: readonly unknown[]): unknown {
  return errors.length === 1
    ? errors[0]
    : new AggregateError(
        errors,
        errors.map((error) => (error instanceof Error ? error.message : String(error))).join('; '),
      );
}
