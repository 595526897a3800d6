import type { DeprecatedCondition } from '../../api/index.ts';
import {
  formatTime,
  getCondition,
  type UnstructuredObject,
  withCondition,
  withoutCondition,
} from '../../machinery/index.ts';
import { findLegacyCondition } from './condition-mirror.ts';
import type { ConditionStatus } from './conditions.ts';

export type Severity = 'Error' | 'Warning' | 'Info';

/** Content of a v1beta1 condition; True has neither reason nor severity. */
export interface LegacyVerdict {
  status: ConditionStatus;
  severity?: Severity;
  reason?: string;
  message?: string;
}

export interface LegacyConditioned {
  status?: { deprecated?: { v1beta1?: { conditions?: DeprecatedCondition[] } } };
}

export const legacyTrue: LegacyVerdict = { status: 'True' };

export function legacyFalse(reason: string, severity: Severity, message = ''): LegacyVerdict {
  return { status: 'False', reason, severity, message };
}

export function legacyConditionOf(
  object: LegacyConditioned | undefined,
  type: string,
): DeprecatedCondition | undefined {
  return listOf(object).find((condition) => condition.type === type);
}

export function setLegacy(draft: LegacyConditioned, type: string, verdict: LegacyVerdict, nowMs: number): void {
  const before = listOf(draft);
  const condition = {
    type,
    status: verdict.status,
    ...(verdict.severity !== undefined && verdict.status === 'False' && { severity: verdict.severity }),
    ...(verdict.reason && { reason: verdict.reason }),
    ...(verdict.message && { message: verdict.message }),
    lastTransitionTime: formatTime(nowMs),
  };
  put(draft, before, withCondition(before, condition, nowMs));
}

export function dropLegacy(draft: LegacyConditioned, type: string): void {
  const before = listOf(draft);
  put(draft, before, withoutCondition(before, type));
}

function listOf(object: LegacyConditioned | undefined): DeprecatedCondition[] {
  return object?.status?.deprecated?.v1beta1?.conditions ?? [];
}

function put(draft: LegacyConditioned, before: readonly unknown[], after: readonly DeprecatedCondition[]): void {
  if (after === before || (after.length === 0 && before.length === 0)) return;
  const { status = {} } = draft;
  const { deprecated = {} } = status;
  draft.status = {
    ...status,
    deprecated: { ...deprecated, v1beta1: { ...deprecated.v1beta1, conditions: [...after] } },
  };
}

/** Mirrors the provider's v1beta1 Ready, or derives it from its ready flag. */
export function mirrorLegacy(source: UnstructuredObject, ready: boolean, waitingReason: string): LegacyVerdict {
  const found = findLegacyCondition(source, 'Ready');
  if (!found) return ready ? legacyTrue : legacyFalse(waitingReason, 'Info');
  return {
    status: found.status,
    ...(found.severity !== undefined && { severity: found.severity as Severity }),
    ...(found.reason !== undefined && found.status !== 'True' && { reason: found.reason }),
    ...(found.message !== undefined && found.status !== 'True' && { message: found.message }),
  };
}

export interface LegacySummaryOptions {
  /** in order of importance; absent ones are ignored */
  of: readonly string[];
  /** count these in "1 of 2 completed" */
  steps?: readonly string[];
}

const importance = (condition: DeprecatedCondition): number => {
  if (condition.status === 'False') {
    return condition.severity === 'Error' ? 0 : condition.severity === 'Warning' ? 1 : 2;
  }
  // Unknown is worse than True
  return condition.status === 'True' ? 4 : 3;
};

/** Summarizes v1beta1 Ready: the worst of the given conditions with its own message; undefined if there is none yet. */
export function summarizeLegacy(object: LegacyConditioned, options: LegacySummaryOptions): LegacyVerdict | undefined {
  let worst: DeprecatedCondition | undefined;
  for (const type of options.of) {
    const condition = legacyConditionOf(object, type);
    if (condition && (!worst || importance(condition) < importance(worst))) worst = condition;
  }
  if (!worst) return undefined;
  if (worst.status === 'True') return legacyTrue;
  const { steps } = options;
  const done = steps?.filter((type) => legacyConditionOf(object, type)?.status === 'True').length;
  return {
    status: worst.status as ConditionStatus,
    ...(worst.severity !== undefined && { severity: worst.severity as Severity }),
    ...(worst.reason !== undefined && { reason: worst.reason }),
    ...(steps
      ? { message: `${done} of ${steps.length} completed` }
      : worst.message !== undefined && { message: worst.message }),
  };
}

export const hasLegacy = (object: LegacyConditioned, type: string): boolean =>
  getCondition(listOf(object), type) !== undefined;
