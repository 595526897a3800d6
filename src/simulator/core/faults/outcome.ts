import type { Core } from '../core.ts';
import type { OutcomeEffect } from './rule.ts';

/** How an asynchronous step on something of a project ends, when a fault rule has a say in it. */
export function outcomeOf(
  core: Core,
  operation: string,
  about: { readonly projectId: string; readonly name: string },
): OutcomeEffect | undefined {
  if (!core.faults.anyForOutcomes) return undefined;
  const projectName = core.services.identity.projectName(about.projectId);
  return core.faults.forOutcome({ operation, projectId: about.projectId, projectName, name: about.name });
}
