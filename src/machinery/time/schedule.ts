import { type CronSchedule, cronDescriptors, parseCronFields } from '../validation/cron.ts';
import { parseDuration } from './go-duration.ts';

// When a schedule is due, in the time zone it is meant for.

/** The moments of a schedule, all in milliseconds since the epoch. */
export interface Schedule {
  /** the first moment after the given one; undefined when there is none within years */
  next(afterMs: number): number | undefined;
  /** the last moment after `fromMs` that is not after `untilMs` */
  latest(fromMs: number, untilMs: number): number | undefined;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** a schedule such as the 30th of February is never due; one of the 29th within eight years */
const horizonMs = 8 * 366 * dayMs;

/** Reads a schedule; a text says what is wrong with it. */
export function parseSchedule(text: string, timeZone?: string): Schedule | string {
  if (text.startsWith('@every ')) return everySchedule(text.slice('@every '.length).trim());
  const fields = parseCronFields(cronDescriptors.get(text) ?? text);
  if (typeof fields === 'string') return fields;
  const wallClock = timeZone === undefined || /^(?:utc|etc\/utc)$/i.test(timeZone) ? utcTime : zonedTime(timeZone);
  return typeof wallClock === 'string' ? wallClock : fieldSchedule(fields, wallClock);
}

/**
 * The first moment after `afterMs` at which a schedule strikes, in universal time; undefined when it never does, and when it
 * has not passed `checkCronSchedule`.
 */
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

/** What a clock on the wall shows. */
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
      // From now backwards in steps that grow: after a long sleep not every missed moment is looked at.
      for (let windowMs = minuteMs; ; windowMs *= 2) {
        const from = Math.max(fromMs, untilMs - windowMs);
        let found: number | undefined;
        for (let at = next(from, untilMs + 1); at !== undefined; at = next(at, untilMs + 1)) found = at;
        if (found !== undefined || from === fromMs) return found;
      }
    },
  };
}

/** Restricted days of the month and of the week are alternatives. */
function isDay(fields: CronSchedule, { day, weekday }: WallTime): boolean {
  const isDayOfMonth = fields.daysOfMonth.has(day);
  const isDayOfWeek = fields.daysOfWeek.has(weekday);
  return fields.anyDayOfMonth || fields.anyDayOfWeek ? isDayOfMonth && isDayOfWeek : isDayOfMonth || isDayOfWeek;
}

/** The first minute of the next day on the wall, also when the clock is put forward or back before. */
function nextMidnight(at: number, { hour, minute }: WallTime, wallClock: WallClock): number {
  const guess = at + dayMs - hour * hourMs - minute * minuteMs;
  const shown = wallClock(guess);
  if (shown.hour === 0) return guess - shown.minute * minuteMs;
  const sinceMidnight = shown.hour * hourMs + shown.minute * minuteMs;
  return shown.hour < 12 ? guess - sinceMidnight : guess + dayMs - sinceMidnight;
}
