import { nextCronTime } from '../../../../machinery/index.ts';

/** Whether a schedule has struck since a moment. */
export function checkSchedule(schedule: string, sinceMs: number, nowMs: number): boolean {
  const next = nextCronTime(schedule, sinceMs);
  return next !== undefined && next <= nowMs;
}
