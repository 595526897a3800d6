import { type Conditioned, conditionOf, dropCondition, setVerdict, type Verdict } from '../shared/index.ts';
import { backgroundStages, type PlaneReport, type PlaneStage, planeStages } from './plane-driver/index.ts';
import { type ReplicaCounts, rollingOut, scaling } from './scaling-conditions.ts';

// Shared conditions of control planes in Pods, for all kinds.

/** Returns the first of the given stages that is not done. */
export function obstacleAmong({ stages }: PlaneReport, among: readonly PlaneStage[]): Verdict | undefined {
  for (const stage of among) {
    const verdict = stages.get(stage);
    if (verdict && verdict.status !== 'True') return verdict;
  }
  return undefined;
}

const foreground = planeStages.filter((stage) => !backgroundStages.has(stage));

/** Returns the first obstacle to the desired state. */
export const obstacleOf = (report: PlaneReport): Verdict | undefined => obstacleAmong(report, foreground);

export const wordsOf = ({ reason, message }: Verdict): string => message || reason;

/** Computes Available, with a note on what is not as desired; `otherwise` applies while nothing is known. */
export function availability(report: PlaneReport, otherwise: Omit<Verdict, 'status'>): Verdict {
  const obstacle = obstacleOf(report);
  if (report.isFunctional)
    return { status: 'True', reason: 'Available', ...(obstacle && { message: wordsOf(obstacle) }) };
  return { status: 'False', ...(obstacle ? { reason: obstacle.reason, message: wordsOf(obstacle) } : otherwise) };
}

/** Sets a condition, or removes it without a verdict. */
export function putCondition(draft: Conditioned, type: string, verdict: Verdict | undefined, nowMs: number): void {
  if (verdict) setVerdict(draft, type, verdict, nowMs);
  else dropCondition(draft, type);
}

/** Sets the conditions of the Cluster API contract that depend on replica counts. */
export function setReplicaConditions(draft: Conditioned, counts: ReplicaCounts, nowMs: number): void {
  setVerdict(draft, 'RollingOut', rollingOut(counts), nowMs);
  setVerdict(draft, 'ScalingUp', scaling(counts, 'ScalingUp'), nowMs);
  setVerdict(draft, 'ScalingDown', scaling(counts, 'ScalingDown'), nowMs);
}

/** Copies conditions from a child object to its parent. */
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

/** Sets Deleting to the progress of the deletion. */
export function setDeleting(draft: Conditioned, problem: { reason: string; message: string }, nowMs: number): void {
  const { reason, message } = problem;
  setVerdict(draft, 'Deleting', { status: 'True', reason, message }, nowMs);
  setVerdict(draft, 'Available', { status: 'False', reason: 'Deleting', message }, nowMs);
}

export function setNotDeleting(draft: Conditioned, nowMs: number): void {
  setVerdict(draft, 'Deleting', { status: 'False', reason: 'NotDeleting' }, nowMs);
}
