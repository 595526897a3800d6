import { must } from '../../../machinery/index.ts';
import type { RolloutLimits } from './rollout-limits.ts';

/** State of one machine set as planning input. */
export interface SetState {
  name: string;
  /** desired replicas */
  spec: number;
  /** existing machines */
  current: number;
  available: number;
  createdMs: number;
}

/** New sizes by set name; sets without a change are absent. */
export type ScalePlan = Map<string, number>;

/**
 * Machines that are `movable` come to the current set from an old one and are updated there: new ones are made only in place of
 * those that are missing, and one for the time of the rollout where none may be unavailable.
 *
 * Either strategy fills the current set first; a set that does not exist yet is one of size nought.
 */
export function planRollout(
  strategy: 'RollingUpdate' | 'OnDelete',
  current: SetState,
  old: readonly SetState[],
  limits: RolloutLimits,
  { movable = false }: { movable?: boolean } = {},
): ScalePlan {
  const plan: ScalePlan = new Map();
  const outdated = [...old].sort(byAge);
  growCurrent(plan, current, outdated, limits, { strategy, movable });
  if (strategy === 'OnDelete') followDeletions(plan, current, outdated, limits);
  else {
    shrinkOld(plan, current, outdated, limits);
    breakDeadlock(plan, current, outdated);
  }
  return plan;
}

const sum = (sets: readonly SetState[], of: (set: SetState) => number): number =>
  sets.reduce((total, set) => total + of(set), 0);

const byAge = (a: SetState, b: SetState): number => a.createdMs - b.createdMs || (a.name < b.name ? -1 : 1);

/** Grows the current set as far as maxSurge allows, counting both desired and still existing machines. */
function growCurrent(
  plan: ScalePlan,
  current: SetState,
  old: readonly SetState[],
  { replicas, maxSurge, maxUnavailable }: RolloutLimits,
  { strategy, movable }: { strategy: 'RollingUpdate' | 'OnDelete'; movable: boolean },
): void {
  if (current.spec === replicas) return;
  if (current.spec > replicas) {
    plan.set(current.name, replicas);
    return;
  }
  const most = replicas + (strategy === 'OnDelete' ? 0 : maxSurge);
  const total = sum([...old, current], (set) => Math.max(set.spec, set.current));
  const lacking = movable ? Math.max(replicas - total, maxUnavailable === 0 && total === replicas ? 1 : 0) : most;
  const room = Math.min(most - total, replicas - current.spec, lacking);
  if (room > 0) plan.set(current.name, current.spec + room);
}

/**
 * Shrinks old sets as soon as enough machines are available. Unavailable machines go first. The count assumes the worst
 * case, that each deleted machine was available.
 */
function shrinkOld(
  plan: ScalePlan,
  current: SetState,
  old: readonly SetState[],
  { replicas, maxUnavailable }: RolloutLimits,
): void {
  if (sum(old, ({ spec }) => spec) === 0) return;
  const all = [...old, current];
  const minAvailable = Math.max(replicas - maxUnavailable, 0);
  const leaving = sum(all, (set) => {
    const desired = Math.min(set.spec, plan.get(set.name) ?? set.spec);
    return Math.max(set.current - desired, 0);
  });
  const coming = Math.max(current.spec - current.available, 0);
  const budget = {
    machines: Math.max(sum(all, ({ spec }) => spec) - leaving - minAvailable - coming, 0),
    available: sum(all, ({ available }) => available),
  };
  shrinkPass(plan, old, budget, minAvailable, 'unavailable');
  shrinkPass(plan, old, budget, minAvailable, 'any');
}

function shrinkPass(
  plan: ScalePlan,
  old: readonly SetState[],
  budget: { machines: number; available: number },
  minAvailable: number,
  which: 'unavailable' | 'any',
): void {
  for (const set of old) {
    if (budget.machines <= 0) return;
    const size = plan.get(set.name) ?? set.spec;
    if (size <= 0) continue;
    const most = which === 'unavailable' ? Math.max(size - set.available, 0) : size;
    let less = Math.min(most, budget.machines);
    if (less === 0) continue;
    if (set.available > 0) {
      let going = Math.max(set.current - (size - less), 0);
      const spare = Math.max(budget.available - minAvailable, 0);
      if (going > spare) {
        const floor = Math.min(set.current - spare, size);
        less = Math.max(size - floor, 0);
        going = Math.max(set.current - floor, 0);
      }
      budget.available -= Math.min(set.available, going);
    }
    if (less <= 0) continue;
    plan.set(set.name, Math.max(size - less, 0));
    budget.machines = Math.max(budget.machines - less, 0);
  }
}

/**
 * Resolves a deadlock: if no scaling is possible or pending and an old machine that never became available blocks the
 * rollout, that machine is deleted.
 */
function breakDeadlock(plan: ScalePlan, current: SetState, old: readonly SetState[]): void {
  const existing = sum(old, (set) => set.current);
  if (plan.size > 0 || existing === 0 || existing === sum(old, ({ available }) => available)) return;
  if ([...old, current].some((set) => set.spec !== set.current)) return;
  if (current.available !== current.current) return;
  const stuck = old.find((set) => set.available !== set.current && set.spec > 0);
  if (stuck) plan.set(stuck.name, stuck.spec - 1);
}

/**
 * Strategy OnDelete: users delete old machines, and the sets shrink along. Sets shrink further only if there are too
 * many machines in total.
 */
function followDeletions(
  plan: ScalePlan,
  current: SetState,
  old: readonly SetState[],
  { replicas }: RolloutLimits,
): void {
  let surplus = Math.max(sum(old, ({ spec }) => spec) + (plan.get(current.name) ?? current.spec) - replicas, 0);
  for (const set of old) {
    const deleted = Math.max(set.spec - set.current, 0);
    if (set.spec <= 0 || deleted === 0) continue;
    plan.set(set.name, set.current);
    surplus -= deleted;
  }
  for (const set of old) {
    if (surplus <= 0) return;
    const size = plan.get(set.name) ?? set.spec;
    const less = Math.min(size, surplus);
    if (less <= 0) continue;
    plan.set(set.name, size - less);
    surplus -= less;
  }
}

/** Scales a paused deployment proportionally; the largest set takes the remainder. */
export function planPaused(
  current: SetState | undefined,
  old: readonly SetState[],
  limits: RolloutLimits,
  { rolling }: { rolling: boolean },
): ScalePlan {
  const plan: ScalePlan = new Map();
  const all = [...old, ...(current ? [current] : [])];
  const active = all.filter(({ spec }) => spec > 0);
  if (active.length <= 1) {
    const only = active[0] ?? current ?? [...old].sort(byAge).at(-1);
    if (only && only.spec !== limits.replicas) plan.set(only.name, limits.replicas);
    return plan;
  }
  if (current && current.spec === limits.replicas && current.available === limits.replicas) {
    for (const set of active) if (set !== current) plan.set(set.name, 0);
    return plan;
  }
  if (!rolling) return plan;
  const total = sum(active, ({ spec }) => spec);
  const allowed = limits.replicas > 0 ? limits.replicas + limits.maxSurge : 0;
  const change = allowed - total;
  if (change === 0) return plan;
  const grows = change > 0;
  const ordered = [...active].sort(
    (a, b) => b.spec - a.spec || (grows ? b.createdMs - a.createdMs : a.createdMs - b.createdMs),
  );
  let given = 0;
  for (const set of ordered) {
    const share = Math.round((set.spec * allowed) / total) - set.spec;
    const left = change - given;
    const part = grows ? Math.max(Math.min(share, left), 0) : Math.min(Math.max(share, left), 0);
    plan.set(set.name, set.spec + part);
    given += part;
  }
  const largest = must(ordered[0], 'the largest set');
  plan.set(largest.name, Math.max((plan.get(largest.name) ?? largest.spec) + change - given, 0));
  for (const set of active) if (plan.get(set.name) === set.spec) plan.delete(set.name);
  return plan;
}
