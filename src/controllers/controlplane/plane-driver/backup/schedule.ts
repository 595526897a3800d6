import type { ObjectKey } from '../../../../client/index.ts';
import { formatTime, nextCronTime } from '../../../../machinery/index.ts';

/**
 * Schedules without an hour are spread over the night, hourly ones over the hour, so that not all planes start at once.
 */
const nightStartMinute = 20 * 60;
const nightMinutes = 8 * 60;

/** Remaining cron fields of schedules without an hour. */
const nightly: ReadonlyMap<string, string> = new Map([
  ['@daily', '* * *'],
  ['@midnight', '* * *'],
  ['@weekly', '* * 0'],
  ['@monthly', '1 * *'],
  ['@yearly', '1 1 *'],
  ['@annually', '1 1 *'],
]);

/** Returns the time of the next backup after the given one; undefined if the schedule never matches. */
export function nextBackup(schedule: string, afterMs: number, plane: ObjectKey): number | undefined {
  return nextCronTime(spreadSchedule(schedule, plane), afterMs);
}

function spreadSchedule(schedule: string, { namespace = '', name }: ObjectKey): string {
  const hash = spread(`${namespace}/${name}`);
  if (schedule === '@hourly') return `${hash % 60} * * * *`;
  const days = nightly.get(schedule);
  if (days === undefined) return schedule;
  const minute = (nightStartMinute + (hash % nightMinutes)) % (24 * 60);
  return `${minute % 60} ${Math.floor(minute / 60)} ${days}`;
}

/** FNV-1a hash, 32 bits. */
function spread(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

/** Prefix of all backups of a plane. */
export const backupPrefix = ({ namespace = '', name }: ObjectKey): string => `${namespace}/${name}/`;

export const backupName = (plane: ObjectKey, nowMs: number): string =>
  `${backupPrefix(plane)}${formatTime(nowMs)}.etcd`;
