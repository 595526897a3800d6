import type { StatusCondition } from '../../api/index.ts';
import { formatTime, getCondition, withCondition, withoutCondition } from '../../machinery/index.ts';

export type ConditionStatus = 'True' | 'False' | 'Unknown';

/** What a condition says, before it is known since when. */
export interface Verdict {
  status: ConditionStatus;
  reason: string;
  message?: string;
  /** since when, where somebody else knows it */
  since?: string;
}

/**
 * On control planes in Pods: False while the version asked for is not rolled out, for what its message says. Whoever waits for the
 * control plane goes by the version it runs then.
 */
export const versionAcceptedCondition = 'VersionAccepted';

/** Anything with conditions in the v1beta2 place. */
export interface Conditioned {
  status?: { conditions?: StatusCondition[] };
}

export const isTrue = (object: Conditioned | undefined, type: string): boolean =>
  getCondition(object?.status?.conditions, type)?.status === 'True';

export const isFalse = (object: Conditioned | undefined, type: string): boolean =>
  getCondition(object?.status?.conditions, type)?.status === 'False';

export function conditionOf(object: Conditioned | undefined, type: string): StatusCondition | undefined {
  return getCondition(object?.status?.conditions, type);
}

/** Sets one condition of a draft. The time of the last transition moves only with the status. */
export function setVerdict(draft: Conditioned, type: string, verdict: Verdict, nowMs: number): void {
  const condition: StatusCondition = {
    type,
    status: verdict.status,
    reason: verdict.reason,
    message: verdict.message ?? '',
    lastTransitionTime: verdict.since ?? formatTime(nowMs),
  };
  const next = withCondition(draft.status?.conditions, condition, nowMs);
  if (next === draft.status?.conditions) return;
  draft.status = { ...draft.status, conditions: [...next] };
}

export function dropCondition(draft: Conditioned, type: string): void {
  const conditions = draft.status?.conditions;
  if (!draft.status || !conditions) return;
  const next = withoutCondition(conditions, type);
  if (next !== conditions) draft.status = { ...draft.status, conditions: [...next] };
}

export const toStatus = (value: boolean): ConditionStatus => (value ? 'True' : 'False');

/** The whole text of an error, once, as a condition shows it. */
export function explain(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
