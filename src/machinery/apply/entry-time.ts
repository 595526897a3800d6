import { formatTime } from '../time/clock.ts';

let cachedSecond = Number.NaN;
let cachedText = '';

/** The time of an entry. Formatting a date costs more than comparing an object, and writes come many to a second. */
export function entryTime(nowMs: number): string {
  const second = Math.floor(nowMs / 1000);
  if (second !== cachedSecond) {
    cachedText = formatTime(nowMs);
    cachedSecond = second;
  }
  return cachedText;
}
