import { type ConditionForm, type ConditionView, conditionsOf, findCondition, isUneventful } from './conditions.ts';
import { type AnyObject, numberAt, type ObjectReference } from './fields.ts';
import { findingsOf, missingCondition } from './findings.ts';
import type { ReplicaCounters, TreeNode, TreeOptions } from './tree.ts';

export function objectNode(object: AnyObject, options: TreeOptions, role?: string): TreeNode {
  const form: ConditionForm = options.legacyConditions ? 'legacy' : 'modern';
  const conditions = conditionsOf(object, form);
  const condition = representative(object, conditions, options, role);
  const deleting = object.metadata.deletionTimestamp !== undefined;
  return {
    title: titleOf(object, role, deleting),
    ...(role !== undefined && { role }),
    object,
    deleting,
    ...(condition && { condition }),
    shownConditions: shownConditions(object, conditions, condition, options),
    counters: countersOf(object, conditions, role),
    rank: 0,
    children: [],
  };
}

/** Builds the line of a referenced object that does not exist. */
export function missingNode(reference: ObjectReference, role: string): TreeNode {
  const node = virtualNode(`${role} - ${reference.kind}/${reference.name}`);
  return { ...node, role, condition: missingCondition(reference) };
}

/** Builds a line that groups others. */
export function virtualNode(title: string, rank = 0): TreeNode {
  return { title, deleting: false, shownConditions: [], counters: {}, rank, children: [] };
}

function titleOf({ kind, metadata }: AnyObject, role: string | undefined, deleting: boolean): string {
  const name = `${kind}/${metadata.name ?? ''}`;
  const withRole = role === undefined ? name : `${role} - ${name}`;
  return deleting ? `!! DELETED !! ${withRole}` : withRole;
}

const shownByAvailability = new Set(['Cluster', 'MachineDeployment']);

/** Returns the condition that summarizes the object. */
function representative(
  object: AnyObject,
  conditions: readonly ConditionView[],
  options: TreeOptions,
  role: string | undefined,
): ConditionView | undefined {
  const ready = findCondition(conditions, 'Ready');
  const available = findCondition(conditions, 'Available');
  if (options.legacyConditions) {
    // An object without v1beta1 conditions may have v1beta2 ones, where good conditions have a reason, too.
    const shown =
      withCause(ready, conditions) ??
      (conditions.some(({ severity }) => severity !== undefined) ? undefined : available);
    if (shown?.status !== 'True' || shown.reason === undefined) return shown;
    const { reason: _reason, ...rest } = shown;
    return rest;
  }
  if (object.kind === 'MachineSet') return undefined;
  if (shownByAvailability.has(object.kind)) return available;
  return role === 'ControlPlane' ? (available ?? ready) : (ready ?? available);
}

const stepCounter = /^\d+ of \d+ completed$/;

/**
 * Replaces the message of a summary that only counts steps by the message of the condition it summarizes, which names
 * the reason.
 */
function withCause(
  summary: ConditionView | undefined,
  conditions: readonly ConditionView[],
): ConditionView | undefined {
  if (!summary || !stepCounter.test(summary.message ?? '')) return summary;
  const { status, reason } = summary;
  const cause = conditions.find((other) => other !== summary && other.status === status && other.reason === reason);
  return cause?.message ? { ...summary, message: cause.message } : summary;
}

function shownConditions(
  object: AnyObject,
  conditions: readonly ConditionView[],
  condition: ConditionView | undefined,
  options: TreeOptions,
): ConditionView[] {
  const findings = options.legacyConditions ? [] : findingsOf(object, conditions, condition);
  const asked = options.showConditions.map(parseFilter).find((filter) => filter.matches(object));
  if (!asked) return findings;
  // The older table shows one condition in the line of the object itself.
  const own = options.legacyConditions ? conditions.filter(({ type }) => type !== condition?.type) : conditions;
  const others = [...own, ...findings.filter((finding) => !conditions.includes(finding))];
  if (!asked.eventfulOnly) return others;
  return others.filter((other) => !isUneventful(other) || other.type === 'Available' || other.type === 'Ready');
}

/** Parses one entry of `--show-conditions`. */
function parseFilter(text: string): { matches(object: AnyObject): boolean; eventfulOnly: boolean } {
  const eventfulOnly = text.endsWith('+');
  const [kind = '', name] = (eventfulOnly ? text.slice(0, -1) : text).toLowerCase().split('/');
  return {
    eventfulOnly,
    matches: (object) =>
      kind === 'all' ||
      (object.kind.toLowerCase() === kind && (name === undefined || object.metadata.name?.toLowerCase() === name)),
  };
}

function countersOf(
  object: AnyObject,
  conditions: readonly ConditionView[],
  role: string | undefined,
): ReplicaCounters {
  if (object.kind === 'Cluster') return clusterCounters(object);
  if (object.kind === 'Machine') {
    const one = (type: string): number => (findCondition(conditions, type)?.status === 'True' ? 1 : 0);
    return { replicas: '1', available: one('Available'), ready: one('Ready'), upToDate: one('UpToDate') };
  }
  if (role !== 'ControlPlane' && !['MachineDeployment', 'MachineSet', 'MachinePool'].includes(object.kind)) return {};
  const desired = numberAt(object, 'spec', 'replicas');
  const current = numberAt(object, 'status', 'replicas');
  const count = (field: string): number | undefined => numberAt(object, 'status', field);
  return withoutUndefined({
    replicas: desired === undefined ? undefined : `${current ?? 0}/${desired}`,
    available: count('availableReplicas'),
    ready: count('readyReplicas'),
    upToDate: count('upToDateReplicas') ?? count('updatedReplicas'),
  });
}

/** Sums up control plane and workers. */
function clusterCounters(cluster: AnyObject): ReplicaCounters {
  const sum = (field: string): number | undefined => {
    const parts = ['controlPlane', 'workers'].map((part) => numberAt(cluster, 'status', part, field));
    return parts.every((part) => part === undefined)
      ? undefined
      : parts.reduce<number>((total, part) => total + (part ?? 0), 0);
  };
  const desired = sum('desiredReplicas');
  const current = sum('replicas');
  return withoutUndefined({
    replicas: desired === undefined && current === undefined ? undefined : `${current ?? 0}/${desired ?? 0}`,
    available: sum('availableReplicas'),
    ready: sum('readyReplicas'),
    upToDate: sum('upToDateReplicas'),
  });
}

function withoutUndefined(counters: {
  replicas: string | undefined;
  available: number | undefined;
  ready: number | undefined;
  upToDate: number | undefined;
}): ReplicaCounters {
  const { replicas, available, ready, upToDate } = counters;
  return {
    ...(replicas !== undefined && { replicas }),
    ...(available !== undefined && { available }),
    ...(ready !== undefined && { ready }),
    ...(upToDate !== undefined && { upToDate }),
  };
}
