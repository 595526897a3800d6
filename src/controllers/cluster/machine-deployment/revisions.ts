import type { MachineDeployment, MachineSet } from '../../../api/index.ts';
import { parseRfc3339 } from '../../../machinery/index.ts';
import { isDeleting, revisionAnnotation } from '../../shared/index.ts';
import { isRolloutExpired, templateDifferences } from '../common/template.ts';

/** The sets of a deployment, told apart. */
export interface Revisions {
  /** makes machines as the deployment wants them now */
  current: MachineSet | undefined;
  old: MachineSet[];
}

/** Several sets may fit (a template was changed back): the one with most machines causes the least churn. */
export function findRevisions(deployment: MachineDeployment, sets: readonly MachineSet[], nowMs: number): Revisions {
  const created = ({ metadata }: MachineSet): number => parseRfc3339(metadata.creationTimestamp ?? '') ?? 0;
  const sorted = [...sets].sort(
    (a, b) =>
      (b.spec.replicas ?? 0) - (a.spec.replicas ?? 0) ||
      created(a) - created(b) ||
      ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1),
  );
  const current = sorted.find(
    (set) =>
      !isDeleting(set) &&
      templateDifferences(set.spec.template, deployment.spec.template).length === 0 &&
      !isRolloutExpired(deployment, set, nowMs),
  );
  return { current, old: sets.filter((set) => set !== current) };
}

export function revisionOf(set: { metadata: { annotations?: Record<string, string> } }): number {
  const revision = Number(set.metadata.annotations?.[revisionAnnotation] ?? 0);
  return Number.isInteger(revision) ? revision : 0;
}

/** One more than any older set has; a set that was current before and is again moves to the front. */
export function nextRevision({ current, old }: Revisions): number {
  const highest = old.reduce((most, set) => Math.max(most, revisionOf(set)), 0);
  return current && revisionOf(current) > highest ? revisionOf(current) : highest + 1;
}
