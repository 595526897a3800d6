import type { Machine } from '../../../api/index.ts';
import { formatTime } from '../../../machinery/index.ts';
import type { Result } from '../../../runtime/index.ts';

/** Result of a deletion step: `done` continues with the next, anything else ends the reconcile. */
export type DeletionStep = 'done' | { wait: Result | undefined; reason: string; message: string };

type TimedStep = keyof NonNullable<NonNullable<Machine['status']>['deletion']>;

/** Records the start time of a step once. */
export function begin(machine: Machine, step: TimedStep, nowMs: number): void {
  if (machine.status?.deletion?.[step] !== undefined) return;
  machine.status = { ...machine.status, deletion: { ...machine.status?.deletion, [step]: formatTime(nowMs) } };
}
