import type { JsonObject } from '../../machinery/index.ts';
import { objectsAt, textAt } from './fields.ts';

/** A condition of either contract; only v1beta1 conditions have a severity. */
export interface ConditionView {
  type: string;
  status: string;
  severity?: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

/** Contract of the conditions to show. */
export type ConditionForm = 'legacy' | 'modern';

/** Returns the conditions of an object in one form. Objects with only the other form show that one. */
export function conditionsOf(object: object, form: ConditionForm): ConditionView[] {
  const places: readonly (readonly string[])[] =
    form === 'legacy'
      ? [
          ['status', 'deprecated', 'v1beta1', 'conditions'],
          ['status', 'conditions'],
        ]
      : [
          ['status', 'v1beta2', 'conditions'],
          ['status', 'conditions'],
        ];
  for (const place of places) {
    const found = objectsAt(object, ...place);
    if (found && found.length > 0) return found.map(viewOf);
  }
  return [];
}

function viewOf(condition: JsonObject): ConditionView {
  const optional = (field: 'severity' | 'reason' | 'message' | 'lastTransitionTime'): object => {
    const text = textAt(condition, field);
    return text === undefined ? {} : { [field]: text };
  };
  return {
    type: textAt(condition, 'type') ?? '',
    status: textAt(condition, 'status') ?? '',
    ...optional('severity'),
    ...optional('reason'),
    ...optional('message'),
    ...optional('lastTransitionTime'),
  };
}

export function findCondition(conditions: readonly ConditionView[], type: string): ConditionView | undefined {
  return conditions.find((condition) => condition.type === type);
}

const negative = new Set(['Paused', 'Asleep', 'Deleting', 'RollingOut', 'ScalingUp', 'ScalingDown', 'Remediating']);

/** Tells whether True is the good status of this condition. */
export function isPositive(type: string): boolean {
  return !negative.has(type);
}

/** Tells whether a condition is bad. Unknown is bad for conditions whose good status is True. */
export function isBad({ type, status }: Pick<ConditionView, 'type' | 'status'>): boolean {
  return isPositive(type) ? status !== 'True' : status === 'True';
}

/** Tells whether a condition is good and has no message. */
export function isUneventful({ type, status, message }: ConditionView): boolean {
  return status === (isPositive(type) ? 'True' : 'False') && (message ?? '') === '';
}
