import { deepEqual } from '../json/index.ts';
import { formatTime } from '../time/index.ts';

/** What every kind of condition has, in whatever API group. */
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

/** Since when a condition has its status: the time changes only when the status does. */
export function transitionTime(before: ConditionLike | undefined, status: string, nowMs: number): string {
  return (before?.status === status && before.lastTransitionTime) || formatTime(nowMs);
}

/** A condition to be set; without a time it counts from now. */
type Unset<C extends ConditionLike> = Omit<C, 'lastTransitionTime'> & Pick<ConditionLike, 'lastTransitionTime'>;

/**
 * The list with one condition set, in its place. lastTransitionTime changes only when the status does; the very same list
 * is returned when nothing changes at all.
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
 * The list with one condition set, as the controllers of Kubernetes itself do it: one that changes moves to the end, and
 * only status, reason and message count as a change. The very same list is returned when there is none.
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
