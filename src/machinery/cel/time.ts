import { trimTrailing } from '../text/trim.ts';
import { parseDurationNanos } from '../time/go-duration.ts';
import { CelError, Duration, Timestamp } from './values.ts';

const second = 1_000_000_000n;
/** Parses Go's duration syntax; undefined if invalid. */
export function parseGoDuration(text: string): Duration | undefined {
  const nanos = parseDurationNanos(text);
  return nanos === undefined ? undefined : new Duration(nanos);
}

const timestamp = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([-+])(\d{2}):(\d{2}))$/;

/** Parses RFC 3339; undefined if invalid. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const match = timestamp.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, seconds] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const ms = Date.UTC(year, month - 1, day, hour, minute, seconds);
  const date = new Date(ms);
  if (year < 100) date.setUTCFullYear(year);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day || hour > 23 || minute > 59 || seconds > 59) {
    return undefined;
  }
  const offset =
    match[8] === undefined ? 0 : (Number(match[9]) * 60 + Number(match[10])) * (match[8] === '-' ? -60 : 60);
  const fraction = BigInt((match[7] ?? '').slice(0, 9).padEnd(9, '0'));
  return new Timestamp((BigInt(date.getTime()) / 1000n - BigInt(offset)) * second + fraction);
}

export function formatTimestamp(value: Timestamp): string {
  const { seconds, rest } = split(value.nanos);
  const text = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  return rest === 0n ? `${text}Z` : `${text}.${fractionOf(rest)}Z`;
}

/** Formats a duration in seconds with a fraction, `3600s`, as cel-go does. */
export function formatDuration(value: Duration): string {
  const negative = value.nanos < 0n;
  const nanos = negative ? -value.nanos : value.nanos;
  const rest = nanos % second;
  const fraction = rest === 0n ? '' : `.${fractionOf(rest)}`;
  return `${negative ? '-' : ''}${nanos / second}${fraction}s`;
}

/** Formats decimal places without trailing zeros. */
function fractionOf(nanos: bigint): string {
  return trimTrailing(nanos.toString().padStart(9, '0'), '0');
}

function split(nanos: bigint): { seconds: bigint; rest: bigint } {
  let seconds = nanos / second;
  let rest = nanos % second;
  if (rest < 0n) {
    rest += second;
    seconds -= 1n;
  }
  return { seconds, rest };
}

export interface CalendarFields {
  year: number;
  /** zero-based */
  month: number;
  day: number;
  weekday: number;
  /** zero-based */
  yearDay: number;
  hours: number;
  minutes: number;
  seconds: number;
  milliseconds: number;
}

/** Computes calendar fields for a time in UTC, an offset such as `+02:00` or a named zone. */
export function calendarAt(value: Timestamp, zone: string): CalendarFields {
  const { seconds, rest } = split(value.nanos);
  const date = new Date(Number(seconds) * 1000 + offsetMs(zone, Number(seconds) * 1000));
  const yearStart = Date.UTC(date.getUTCFullYear(), 0, 1);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth(),
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
    yearDay: Math.floor((date.getTime() - yearStart) / 86_400_000),
    hours: date.getUTCHours(),
    minutes: date.getUTCMinutes(),
    seconds: date.getUTCSeconds(),
    milliseconds: Number(rest / 1_000_000n),
  };
}

function offsetMs(zone: string, ms: number): number {
  if (zone === '' || zone === 'UTC') return 0;
  const fixed = /^([-+]?)(\d{2}):(\d{2})$/.exec(zone);
  if (fixed) return (Number(fixed[2]) * 60 + Number(fixed[3])) * 60_000 * (fixed[1] === '-' ? -1 : 1);
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
    const name = format.formatToParts(ms).find((part) => part.type === 'timeZoneName')?.value ?? 'GMT';
    const match = /GMT([-+])(\d{2}):(\d{2})/.exec(name);
    if (!match) return 0;
    return (Number(match[2]) * 60 + Number(match[3])) * 60_000 * (match[1] === '-' ? -1 : 1);
  } catch {
    throw new CelError(`unknown time zone ${zone}`);
  }
}
