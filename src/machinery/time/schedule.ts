import { type CronSchedule, cronDescriptors, parseCronFields } from '../validation/cron.ts';
import { parseDuration } from './go-duration.ts';

// Cron schedules in a time zone.

/** Due times of a schedule, in milliseconds since the epoch. */
export interface Schedule {
  /** first due time after the given time; undefined if there is none within years */
  next(afterMs: number): number | undefined;
  /** last due time after `fromMs` and not after `untilMs` */
  latest(fromMs: number, untilMs: number): number | undefined;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** A schedule on the 30th of February is never due; one on the 29th is due within eight years. */
const horizonMs = 8 * 366 * dayMs;

/** Parses a schedule. Returns an error text if it is invalid. */
export function parseSchedule(text: string, timeZone?: string): Schedule | string {
  if (text.startsWith('@every ')) return everySchedule(text.slice('@every '.length).trim());
  const fields = parseCronFields(cronDescriptors.get(text) ?? text);
  if (typeof fields === 'string') return fields;
  const wallClock = timeZone === undefined || /^(?:utc|etc\/utc)$/i.test(timeZone) ? utcTime : zonedTime(timeZone);
  return typeof wallClock === 'string' ? wallClock : fieldSchedule(fields, wallClock);
}

/** First due time after `afterMs`, in UTC; undefined if there is none or the schedule is invalid. */
export function nextCronTime(text: string, afterMs: number): number | undefined {
  const schedule = parseSchedule(text);
  return typeof schedule === 'string' ? undefined : schedule.next(afterMs);
}

function everySchedule(text: string): Schedule | string {
  const duration = parseDuration(text);
  if (duration === undefined) return `failed to parse duration ${text}`;
  const everyMs = Math.max(1_000, Math.floor(duration / 1_000) * 1_000);
  return {
    next: (afterMs) => Math.floor(afterMs / 1_000) * 1_000 + everyMs,
    latest(fromMs, untilMs) {
      const times = Math.floor((untilMs - fromMs) / everyMs);
      return times < 1 ? undefined : fromMs + times * everyMs;
    },
  };
}

/** Local time of a wall clock. */
interface WallTime {
  readonly month: number;
  readonly day: number;
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
}

type WallClock = (ms: number) => WallTime;

function utcTime(ms: number): WallTime {
  const date = new Date(ms);
  return {
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
  };
}

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

function zonedTime(timeZone: string): WallClock | string {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      weekday: 'short',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    });
  } catch {
    return `unknown time zone ${timeZone}`;
  }
  return (ms) => {
    const shown: Record<string, string> = {};
    for (const { type, value } of format.formatToParts(ms)) shown[type] = value;
    return {
      month: Number(shown['month']),
      day: Number(shown['day']),
      weekday: weekdays.indexOf(shown['weekday'] ?? ''),
      hour: Number(shown['hour']),
      minute: Number(shown['minute']),
    };
  };
}

function fieldSchedule(fields: CronSchedule, wallClock: WallClock): Schedule {
  const next = (afterMs: number, limit = afterMs + horizonMs): number | undefined => {
    let at = Math.floor(afterMs / minuteMs) * minuteMs + minuteMs;
    while (at < limit) {
      const time = wallClock(at);
      if (!fields.months.has(time.month) || !isDay(fields, time)) at = nextMidnight(at, time, wallClock);
      else if (!fields.hours.has(time.hour)) at += (60 - time.minute) * minuteMs;
      else if (!fields.minutes.has(time.minute)) at += minuteMs;
      else return at;
    }
    return undefined;
  };
  return {
    next: (afterMs) => next(afterMs),
    latest(fromMs, untilMs) {
      // Searches backwards in growing windows, so that a long pause does not enumerate every missed time.
      for (let windowMs = minuteMs; ; windowMs *= 2) {
        const from = Math.max(fromMs, untilMs - windowMs);
        let found: number | undefined;
        for (let at = next(from, untilMs + 1); at !== undefined; at = next(at, untilMs + 1)) found = at;
        if (found !== undefined || from === fromMs) return found;
      }
    },
  };
}

/** If day of month and day of week are both restricted, either may match. */
function isDay(fields: CronSchedule, { day, weekday }: WallTime): boolean {
  const isDayOfMonth = fields.daysOfMonth.has(day);
  const isDayOfWeek = fields.daysOfWeek.has(weekday);
  return fields.anyDayOfMonth || fields.anyDayOfWeek ? isDayOfMonth && isDayOfWeek : isDayOfMonth || isDayOfWeek;
}

/** Returns the first minute of the next local day, also across daylight saving changes. */
function nextMidnight(at: number, { hour, minute }: WallTime, wallClock: WallClock): number {
  const guess = at + dayMs - hour * hourMs - minute * minuteMs;
  const shown = wallClock(guess);
  if (shown.hour === 0) return guess - shown.minute * minuteMs;
  const sinceMidnight = shown.hour * hourMs + shown.minute * minuteMs;
  return shown.hour < 12 ? guess - sinceMidnight : guess + dayMs - sinceMidnight;
}
