import type { DeprecatedCondition } from '../../api/index.ts';
import { formatTime, getCondition, withCondition, withoutCondition } from '../../machinery/index.ts';
import type { Severity } from '../shared/index.ts';

// Cluster stack kinds keep v1beta1 conditions where newer kinds have v1beta2 conditions.

interface StackConditioned {
  status?: { conditions?: DeprecatedCondition[] };
}

export const readyCondition = 'Ready';

export function markTrue(draft: StackConditioned, type: string, nowMs: number): void {
  set(draft, { type, status: 'True', lastTransitionTime: formatTime(nowMs) }, nowMs);
}

export function markFalse(
  draft: StackConditioned,
  type: string,
  { reason, severity, message }: { reason: string; severity: Severity; message: string },
  nowMs: number,
): void {
  set(draft, { type, status: 'False', severity, reason, message, lastTransitionTime: formatTime(nowMs) }, nowMs);
}

export function dropCondition(draft: StackConditioned, type: string): void {
  const before = draft.status?.conditions ?? [];
  const after = withoutCondition(before, type);
  if (after !== before) draft.status = { ...draft.status, conditions: [...after] };
}

export const conditionOf = (object: StackConditioned | undefined, type: string): DeprecatedCondition | undefined =>
  getCondition(object?.status?.conditions ?? [], type);

export const isTrue = (object: StackConditioned | undefined, type: string): boolean =>
  conditionOf(object, type)?.status === 'True';

const severities = ['Error', 'Warning', 'Info'];

/** Sets Ready to the worst condition; the first listed wins among equals. */
export function summarize(draft: StackConditioned, types: readonly string[], nowMs: number): void {
  const bad = types.flatMap((type) => conditionOf(draft, type) ?? []).filter(({ status }) => status !== 'True');
  const worst = severities.flatMap((severity) => bad.find((condition) => condition.severity === severity) ?? [])[0];
  if (worst === undefined) return markTrue(draft, readyCondition, nowMs);
  markFalse(
    draft,
    readyCondition,
    {
      reason: worst.reason ?? worst.type,
      severity: (worst.severity ?? 'Info') as Severity,
      message: worst.message ?? '',
    },
    nowMs,
  );
}

function set(draft: StackConditioned, condition: DeprecatedCondition, nowMs: number): void {
  const before = draft.status?.conditions ?? [];
  const after = withCondition(before, condition, nowMs);
  if (after !== before) draft.status = { ...draft.status, conditions: [...after] };
}
