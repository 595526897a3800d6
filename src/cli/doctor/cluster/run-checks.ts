import { errorMessage } from '../../../machinery/index.ts';
import type { Finding, Seen } from '../findings.ts';

/** One check; errors that it throws become findings, too. */
export interface Check<Subject> {
  readonly name: string;
  look(subject: Subject, signal: AbortSignal): Promise<Seen | readonly Seen[]> | Seen | readonly Seen[];
}

/** Runs all checks in parallel and returns findings in the order of the checks. */
export async function runChecks<Subject>(
  checks: readonly Check<Subject>[],
  subject: Subject,
  signal: AbortSignal,
): Promise<Finding[]> {
  const findings = checks.map(async ({ name, look }): Promise<Finding[]> => {
    try {
      return [await look(subject, signal)].flat().map((seen) => ({ check: name, ...seen }));
    } catch (error) {
      signal.throwIfAborted();
      return [{ check: name, status: 'failed', detail: errorMessage(error) }];
    }
  });
  return (await Promise.all(findings)).flat();
}

/** Marks checks as skipped because an earlier one failed. */
export function notLookedAt(checks: readonly Check<never>[], reason: string): Finding[] {
  return checks.map(({ name }) => ({ check: name, status: 'skipped', detail: reason }));
}
