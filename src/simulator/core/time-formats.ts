import { formatTime } from '../../machinery/index.ts';

// Rows keep milliseconds; every service writes them its own way, all of them in UTC.

/** `2026-11-15T03:47:14Z`: nova, neutron, glance */
export const zulu: (ms: number) => string = formatTime;

/** `2026-11-15T03:47:15.000000`: cinder, nova's launch times and actions */
export function microseconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000`;
}

/** The same for what was kept by the second: everything nova and cinder read back from their databases. */
export function wholeSeconds(ms: number): string {
  return microseconds(Math.floor(ms / 1000) * 1000);
}

/** `2026-11-15T04:03:45.000000Z`: keystone's tokens */
export function microsecondsZulu(ms: number): string {
  return `${microseconds(ms)}Z`;
}

/** `2026-11-15T03:49:17`: octavia */
export function seconds(ms: number): string {
  return zulu(ms).slice(0, 19);
}
