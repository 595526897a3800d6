import type { MachineDeployment, MachineSet } from '../../../api/index.ts';
import { parseRfc3339 } from '../../../machinery/index.ts';
import { isDeleting, revisionAnnotation } from '../../shared/index.ts';
import { isRolloutExpired, templateDifferences } from '../common/template.ts';

/** Current and old sets of a deployment. */
export interface Revisions {
  /** set with the deployment's current template */
  current: MachineSet | undefined;
  old: MachineSet[];
}

/**
 * Finds current and old sets. If several sets match the template (after it was changed back), the one with most
 * machines wins, which causes least churn.
 */
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

/** Returns one more than the highest revision of old sets. A set that becomes current again gets a new revision. */
export function nextRevision({ current, old }: Revisions): number {
  const highest = old.reduce((most, set) => Math.max(most, revisionOf(set)), 0);
  return current && revisionOf(current) > highest ? revisionOf(current) : highest + 1;
}
