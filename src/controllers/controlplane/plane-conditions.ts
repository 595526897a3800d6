import { type Conditioned, conditionOf, dropCondition, setVerdict, type Verdict } from '../shared/index.ts';
import { backgroundStages, type PlaneReport, type PlaneStage, planeStages } from './plane-driver/index.ts';
import { type ReplicaCounts, rollingOut, scaling } from './scaling-conditions.ts';

// How a control plane in Pods is, in the conditions of whatever kind it was asked for with.

/** The first of some steps that is not done. */
export function obstacleAmong({ stages }: PlaneReport, among: readonly PlaneStage[]): Verdict | undefined {
  for (const stage of among) {
    const verdict = stages.get(stage);
    if (verdict && verdict.status !== 'True') return verdict;
  }
  return undefined;
}

const foreground = planeStages.filter((stage) => !backgroundStages.has(stage));

/** What keeps a plane from what is desired. */
export const obstacleOf = (report: PlaneReport): Verdict | undefined => obstacleAmong(report, foreground);

export const wordsOf = ({ reason, message }: Verdict): string => message || reason;

/** Whether the API answers, and what is not as desired all the same; `otherwise` while nothing is known. */
export function availability(report: PlaneReport, otherwise: Omit<Verdict, 'status'>): Verdict {
  const obstacle = obstacleOf(report);
  if (report.isFunctional)
    return { status: 'True', reason: 'Available', ...(obstacle && { message: wordsOf(obstacle) }) };
  return { status: 'False', ...(obstacle ? { reason: obstacle.reason, message: wordsOf(obstacle) } : otherwise) };
}

/** Sets a condition, or removes it where there is nothing to say. */
export function putCondition(draft: Conditioned, type: string, verdict: Verdict | undefined, nowMs: number): void {
  if (verdict) setVerdict(draft, type, verdict, nowMs);
  else dropCondition(draft, type);
}

/** Conditions of the Cluster API contract that follow from the number of replicas. */
export function setReplicaConditions(draft: Conditioned, counts: ReplicaCounts, nowMs: number): void {
  setVerdict(draft, 'RollingOut', rollingOut(counts), nowMs);
  setVerdict(draft, 'ScalingUp', scaling(counts, 'ScalingUp'), nowMs);
  setVerdict(draft, 'ScalingDown', scaling(counts, 'ScalingDown'), nowMs);
}

/** Shows conditions of the object a control plane is made with on the object of the user. */
export function copyConditions(draft: Conditioned, from: Conditioned, types: readonly string[], nowMs: number): void {
  for (const type of types) {
    const known = conditionOf(from, type);
    putCondition(draft, type, known && verdictOf(known), nowMs);
  }
}

export const verdictOf = ({ status, reason, message }: Verdict): Verdict => ({
  status,
  reason,
  ...(message !== undefined && { message }),
});

/** How far the deletion of a plane is. */
export function setDeleting(draft: Conditioned, problem: { reason: string; message: string }, nowMs: number): void {
  const { reason, message } = problem;
  setVerdict(draft, 'Deleting', { status: 'True', reason, message }, nowMs);
  setVerdict(draft, 'Available', { status: 'False', reason: 'Deleting', message }, nowMs);
}

export function setNotDeleting(draft: Conditioned, nowMs: number): void {
  setVerdict(draft, 'Deleting', { status: 'False', reason: 'NotDeleting' }, nowMs);
}
