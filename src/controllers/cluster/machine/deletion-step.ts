import type { Machine } from '../../../api/index.ts';
import { formatTime } from '../../../machinery/index.ts';
import type { Result } from '../../../runtime/index.ts';

/** What a step of the deletion came to: `done` goes on to the next, anything else ends the pass. */
export type DeletionStep = 'done' | { wait: Result | undefined; reason: string; message: string };

type TimedStep = keyof NonNullable<NonNullable<Machine['status']>['deletion']>;

/** Notes when a step began, once. */
export function begin(machine: Machine, step: TimedStep, nowMs: number): void {
  if (machine.status?.deletion?.[step] !== undefined) return;
  machine.status = { ...machine.status, deletion: { ...machine.status?.deletion, [step]: formatTime(nowMs) } };
}
