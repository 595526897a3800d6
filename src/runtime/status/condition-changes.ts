import { type Condition, deepEqual, getCondition, withCondition, withoutCondition } from '../../machinery/index.ts';

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
