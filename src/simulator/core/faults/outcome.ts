import type { Core } from '../core.ts';
import type { OutcomeEffect } from './rule.ts';

/** Returns the effect of fault rules on an asynchronous step of a project's resource. */
export function outcomeOf(
  core: Core,
  operation: string,
  about: { readonly projectId: string; readonly name: string },
): OutcomeEffect | undefined {
  if (!core.faults.anyForOutcomes) return undefined;
  const projectName = core.services.identity.projectName(about.projectId);
  return core.faults.forOutcome({ operation, projectId: about.projectId, projectName, name: about.name });
}
