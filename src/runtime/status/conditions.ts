import { type Condition, deepEqual, formatTime } from '../../machinery/index.ts';

/** Objects that carry conditions where Kubernetes expects them. */
export interface WithConditions {
  status?: { conditions?: Condition[] };
}

export function getCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function isConditionTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return getCondition(conditions, type)?.status === 'True';
}

export function isConditionFalse(conditions: readonly Condition[] | undefined, type: string): boolean {
  return getCondition(conditions, type)?.status === 'False';
}

/**
 * The list with one condition set. lastTransitionTime changes only when the status does; the very same list is
 * returned when nothing changes at all.
 */
export function withCondition(
  conditions: readonly Condition[] | undefined,
  condition: Condition,
  nowMs: number,
): readonly Condition[] {
  const list = conditions ?? [];
  const index = list.findIndex(({ type }) => type === condition.type);
  const old = list[index];
  const lastTransitionTime =
    old && old.status === condition.status
      ? (old.lastTransitionTime ?? formatTime(nowMs))
      : (condition.lastTransitionTime ?? formatTime(nowMs));
  const next: Condition = { ...condition, lastTransitionTime };
  if (!old) return [...list, next];
  if (deepEqual(old, next)) return list;
  const copy = [...list];
  copy[index] = next;
  return copy;
}

export function withoutCondition(conditions: readonly Condition[] | undefined, type: string): readonly Condition[] {
  const list = conditions ?? [];
  return list.some((condition) => condition.type === type) ? list.filter((condition) => condition.type !== type) : list;
}

/** Sets a condition on a private copy of an object. */
export function setCondition(draft: WithConditions, condition: Condition, nowMs: number): void {
  const status = draft.status ?? {};
  const next = withCondition(status.conditions, condition, nowMs);
  if (next === status.conditions) return;
  status.conditions = next as Condition[];
  draft.status = status;
}

/** Which conditions one writer added, changed and removed. */
export interface ConditionChanges {
  set: readonly Condition[];
  removed: readonly string[];
}

export function diffConditions(
  before: readonly Condition[] | undefined,
  after: readonly Condition[] | undefined,
): ConditionChanges {
  const set = (after ?? []).filter((condition) => !deepEqual(getCondition(before, condition.type), condition));
  const removed = (before ?? []).filter(({ type }) => !getCondition(after, type)).map(({ type }) => type);
  return { set, removed };
}

/** Puts one writer's changes onto the conditions as others left them. */
export function applyConditionChanges(
  conditions: readonly Condition[] | undefined,
  changes: ConditionChanges,
  nowMs: number,
): readonly Condition[] {
  let result: readonly Condition[] = conditions ?? [];
  for (const type of changes.removed) result = withoutCondition(result, type);
  for (const condition of changes.set) result = withCondition(result, condition, nowMs);
  return result;
}

export interface SummaryOptions {
  /** type of the condition made, e.g. Ready */
  type: string;
  /** the conditions that count, in order of importance; one that is absent counts as Unknown */
  of: readonly string[];
  /** types for which True is bad news (Paused, Deleting, …) */
  negative?: readonly string[];
  /** reason and message when all is well */
  reasonWhenTrue: string;
  messageWhenTrue?: string;
  observedGeneration?: number;
}

/**
 * One condition that speaks for several: False when any of them reports a problem, else Unknown when any is unknown,
 * else True. The reason is that of the most important one with a problem; the message names all of them.
 */
export function summarizeConditions(conditions: readonly Condition[] | undefined, options: SummaryOptions): Condition {
  const problems: Condition[] = [];
  const unknown: Condition[] = [];
  for (const type of options.of) {
    const condition = getCondition(conditions, type);
    const bad = options.negative?.includes(type) === true ? 'True' : 'False';
    if (!condition || condition.status === 'Unknown') {
      unknown.push(condition ?? { type, status: 'Unknown', reason: 'NotYetReported', message: 'not yet reported' });
    } else if (condition.status === bad) problems.push(condition);
  }
  const named = problems.length > 0 ? problems : unknown;
  const generation = options.observedGeneration;
  return {
    type: options.type,
    status: problems.length > 0 ? 'False' : unknown.length > 0 ? 'Unknown' : 'True',
    reason: named[0]?.reason ?? options.reasonWhenTrue,
    message:
      named.length === 0
        ? (options.messageWhenTrue ?? '')
        : named.map(({ type, reason, message }) => `${type}: ${message || reason || 'no details'}`).join('; '),
    ...(generation !== undefined && { observedGeneration: generation }),
  };
}
