import type { DeletionOrder, Machine } from '../../../api/index.ts';
import { parseRfc3339 } from '../../../machinery/index.ts';
import { deleteMachineAnnotation, isDeleting, isFalse, updateInProgressAnnotation } from '../../shared/index.ts';

const tenDaysMs = 10 * 24 * 3_600_000;

/** Deletion priority of a machine; higher goes first. The values are those of upstream. */
export function deletePriority(machine: Machine, order: DeletionOrder | undefined, nowMs: number): number {
  if (isDeleting(machine)) return 100;
  if (machine.metadata.annotations?.[deleteMachineAnnotation] !== undefined) return 80;
  if (machine.metadata.annotations?.[updateInProgressAnnotation] !== undefined) return 75;
  if (!isHealthy(machine)) return 50;
  if (order !== 'Oldest' && order !== 'Newest') return 20;
  const created = parseRfc3339(machine.metadata.creationTimestamp ?? '');
  const age = created === undefined ? -1 : nowMs - created;
  const oldest = age < 0 ? 0 : 50 * (1 - Math.exp(-age / tenDaysMs));
  return order === 'Oldest' ? oldest : 50 - oldest;
}

/** Tells whether a machine has a Node and no unhealthy condition. */
export function isHealthy(machine: Machine): boolean {
  return (
    machine.status?.nodeRef !== undefined &&
    !isFalse(machine, 'NodeHealthy') &&
    !isFalse(machine, 'HealthCheckSucceeded')
  );
}

/** Returns the first `count` machines in deletion order. */
export function machinesToDelete(
  machines: readonly Machine[],
  count: number,
  order: DeletionOrder | undefined,
  nowMs: number,
): Machine[] {
  if (count <= 0) return [];
  const name = (machine: Machine): string => machine.metadata.name ?? '';
  return machines
    .map((machine) => ({ machine, priority: deletePriority(machine, order, nowMs) }))
    .sort((a, b) => b.priority - a.priority || (name(a.machine) < name(b.machine) ? -1 : 1))
    .slice(0, count)
    .map(({ machine }) => machine);
}
