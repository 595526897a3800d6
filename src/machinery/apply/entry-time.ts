import { formatTime } from '../time/clock.ts';

let cachedSecond = Number.NaN;
let cachedText = '';

/**
 * Time of a managedFields entry. The text is cached per second, because formatting a date costs more than comparing an
 * object.
 */
export function entryTime(nowMs: number): string {
  const second = Math.floor(nowMs / 1000);
  if (second !== cachedSecond) {
    cachedText = formatTime(nowMs);
    cachedSecond = second;
  }
  return cachedText;
}
