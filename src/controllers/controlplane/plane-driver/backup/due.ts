import { nextCronTime } from '../../../../machinery/index.ts';

/** Tells whether a schedule was due since a given time. */
export function checkSchedule(schedule: string, sinceMs: number, nowMs: number): boolean {
  const next = nextCronTime(schedule, sinceMs);
  return next !== undefined && next <= nowMs;
}
