import { type Condition, deepEqual, getCondition, withCondition, withoutCondition } from '../../machinery/index.ts';

/** Conditions that one writer added, changed and removed. */
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

/** Applies one writer's changes to conditions that others may have changed. */
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
