import type { ObjectKey } from '../../../../client/index.ts';
import { formatTime, nextCronTime } from '../../../../machinery/index.ts';

/** Backups that only have to be made once a day are spread over the night, so that a thousand planes do not begin at once. */
const nightStartMinute = 20 * 60;
const nightMinutes = 8 * 60;

/** When the next backup is due, counted from the one before; undefined for a schedule that never strikes. */
export function nextBackup(schedule: string, afterMs: number, plane: ObjectKey): number | undefined {
  if (schedule !== '@daily' && schedule !== '@midnight') return nextCronTime(schedule, afterMs);
  const minute = (nightStartMinute + (spread(`${plane.namespace ?? ''}/${plane.name}`) % nightMinutes)) % (24 * 60);
  return nextCronTime(`${minute % 60} ${Math.floor(minute / 60)} * * *`, afterMs);
}

/** FNV-1a, 32 bits. */
function spread(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

/** Below which all backups of a plane are found. */
export const backupPrefix = ({ namespace = '', name }: ObjectKey): string => `${namespace}/${name}/`;

export const backupName = (plane: ObjectKey, nowMs: number): string =>
  `${backupPrefix(plane)}${formatTime(nowMs)}.etcd`;
