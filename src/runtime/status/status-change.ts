import {
  asTyped,
  type Condition,
  deepEqual,
  getCondition,
  isJsonObject,
  type JsonObject,
} from '../../machinery/index.ts';

/** What a patch of a status changes. */
export interface StatusChange {
  /** changed members of the status, except `conditions` */
  readonly fields: readonly string[];
  /** the changed members as in a merge patch */
  readonly patch: JsonObject;
  /** added, changed and removed conditions */
  readonly conditions: readonly ConditionChange[];
}

export interface ConditionChange {
  readonly type: string;
  readonly from: Condition | undefined;
  readonly to: Condition | undefined;
}

export function statusChangeOf(patch: JsonObject, base: object): StatusChange {
  const status = isJsonObject(patch['status']) ? patch['status'] : {};
  const fields = Object.keys(status).filter((field) => field !== 'conditions');
  if (!('conditions' in status)) return { fields, patch: status, conditions: [] };
  const before = listOf((base as { status?: { conditions?: unknown } }).status?.conditions);
  const after = listOf(status['conditions']);
  const types = new Set([...before, ...after].map(({ type }) => type));
  const conditions = [...types].map((type) => ({
    type,
    from: getCondition(before, type),
    to: getCondition(after, type),
  }));
  return { fields, patch: status, conditions: conditions.filter(({ from, to }) => !deepEqual(from, to)) };
}

function listOf(conditions: unknown): readonly Condition[] {
  return Array.isArray(conditions) ? asTyped<Condition[]>(conditions) : [];
}
