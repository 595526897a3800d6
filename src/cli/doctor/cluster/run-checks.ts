import { errorMessage } from '../../../machinery/index.ts';
import type { Finding, Seen } from '../findings.ts';

/** One look at something; what it throws is a finding, too. */
export interface Check<Subject> {
  readonly name: string;
  look(subject: Subject, signal: AbortSignal): Promise<Seen | readonly Seen[]> | Seen | readonly Seen[];
}

/** All checks at once, their findings in the order of the checks. */
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

/** What cannot be looked at, because something before it failed. */
export function notLookedAt(checks: readonly Check<never>[], reason: string): Finding[] {
  return checks.map(({ name }) => ({ check: name, status: 'skipped', detail: reason }));
}
