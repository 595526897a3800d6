import type { StatusCondition } from '../../api/index.ts';
import { formatTime, getCondition, withCondition, withoutCondition } from '../../machinery/index.ts';

export type ConditionStatus = 'True' | 'False' | 'Unknown';

/** Content of a condition without its transition time. */
export interface Verdict {
  status: ConditionStatus;
  reason: string;
  message?: string;
  /** transition time, if known from elsewhere */
  since?: string;
}

/**
 * Condition of hosted control planes: False with a reason while the requested version is not rolled out. Others then
 * use the running version.
 */
export const versionAcceptedCondition = 'VersionAccepted';

/** An object with v1beta2 conditions. */
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

/** Sets a condition on a draft. The transition time changes only with the status. */
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

export function explain(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
