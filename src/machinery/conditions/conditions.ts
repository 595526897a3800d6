import { deepEqual } from '../json/index.ts';
import { formatTime } from '../time/index.ts';

/** Fields shared by the conditions of all API groups. */
export interface ConditionLike {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string | null;
}

export function getCondition<C extends ConditionLike>(
  conditions: readonly C[] | undefined,
  type: string,
): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function isConditionTrue(conditions: readonly ConditionLike[] | undefined, type: string): boolean {
  return getCondition(conditions, type)?.status === 'True';
}

export function isConditionFalse(conditions: readonly ConditionLike[] | undefined, type: string): boolean {
  return getCondition(conditions, type)?.status === 'False';
}

/** Returns lastTransitionTime, which changes only together with the status. */
export function transitionTime(before: ConditionLike | undefined, status: string, nowMs: number): string {
  return (before?.status === status && before.lastTransitionTime) || formatTime(nowMs);
}

/** A condition to be set. Without a time it gets the present time. */
type Unset<C extends ConditionLike> = Omit<C, 'lastTransitionTime'> & Pick<ConditionLike, 'lastTransitionTime'>;

/**
 * Replaces or adds a condition, keeping its position. lastTransitionTime changes only when the status does. Returns the
 * same list if nothing changes.
 */
export function withCondition<C extends ConditionLike>(
  conditions: readonly C[] | undefined,
  condition: Unset<C>,
  nowMs: number,
): readonly C[] {
  const list = conditions ?? [];
  const index = list.findIndex(({ type }) => type === condition.type);
  const old = list[index];
  const lastTransitionTime =
    old?.status === condition.status
      ? transitionTime(old, condition.status, nowMs)
      : (condition.lastTransitionTime ?? formatTime(nowMs));
  const next = { ...condition, lastTransitionTime } as C;
  if (!old) return [...list, next];
  if (deepEqual(old, next)) return list;
  const copy = [...list];
  copy[index] = next;
  return copy;
}

/**
 * Replaces or adds a condition as the built-in Kubernetes controllers do: a changed condition moves to the end, and
 * only status, reason and message count as a change. Returns the same list if nothing changes.
 */
export function withConditionLast<C extends ConditionLike>(
  conditions: readonly C[],
  condition: Unset<C>,
  nowMs: number,
): readonly C[] {
  const { type, status, reason, message } = condition;
  const before = getCondition(conditions, type);
  if (before?.status === status && before.reason === reason && before.message === message) return conditions;
  return [
    ...withoutCondition(conditions, type),
    { ...condition, lastTransitionTime: transitionTime(before, status, nowMs) } as C,
  ];
}

export function withoutCondition<C extends ConditionLike>(
  conditions: readonly C[] | undefined,
  type: string,
): readonly C[] {
  const list = conditions ?? [];
  return list.some((condition) => condition.type === type) ? list.filter((condition) => condition.type !== type) : list;
}
