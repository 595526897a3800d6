import { formatDurationNanos, parseDuration } from '../../machinery/index.ts';
import { FunctionError } from '../errors.ts';
import { quoteGo } from '../syntax/index.ts';
import { Int, type Value } from '../values/index.ts';
import { type CallContext, define, type Library, text } from './function.ts';
import { formatLayout, type Moment, parseLayout } from './go-layout.ts';
import { GoTime, zeroMs } from './go-time.ts';

const utc = (ms: number): Moment => ({ ms, offset: 0, zone: 'UTC' });

function momentOf(value: Value, { clock }: CallContext): Moment {
  if (value instanceof GoTime) return value.moment;
  if (value instanceof Int && /^int(?:32|64)?$/.test(value.type)) return utc(Number(value.value) * 1_000);
  return utc(clock.now());
}

/** Converts to a zone by name. Unknown zones are UTC, as in Sprig. */
function inZone({ ms }: Moment, zone: string): Moment {
  if (zone === '' || zone === 'UTC' || zone === 'Local') return utc(ms);
  try {
    const format = (timeZoneName: 'longOffset' | 'short'): string =>
      new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName })
        .formatToParts(ms)
        .find((part) => part.type === 'timeZoneName')?.value ?? 'GMT';
    const found = /GMT([+-])(\d{2}):(\d{2})/.exec(format('longOffset'));
    const offset = found ? (Number(found[2]) * 60 + Number(found[3])) * (found[1] === '-' ? -1 : 1) : 0;
    return { ms, offset, zone: format('short') };
  } catch {
    return utc(ms);
  }
}

const modify = (isStrict: boolean) =>
  define('string, time.Time', ([change, time]) => {
    if (!(time instanceof GoTime)) return time;
    const ms = parseDuration(text(change));
    if (ms !== undefined) {
      return new GoTime({ ...time.moment, ms: time.moment.ms + ms });
    }
    if (isStrict) throw new FunctionError(`time: invalid duration ${quoteGo(text(change))}`);
    return time;
  });

const dateInZone = define('string, interface {}, string', ([layout, value, zone], context) =>
  formatLayout(text(layout), inZone(momentOf(value, context), text(zone))),
);

/** Sprig's date functions. `now` uses the caller's clock and the local zone is UTC, so that output is reproducible. */
export const dateFunctions: Library = {
  now: define('', (_args, { clock }) => new GoTime(utc(clock.now()))),
  date: define('string, interface {}', ([layout, value], context) =>
    formatLayout(text(layout), utc(momentOf(value, context).ms)),
  ),
  dateInZone,
  date_in_zone: dateInZone,
  dateModify: modify(false),
  date_modify: modify(false),
  mustDateModify: modify(true),
  must_date_modify: modify(true),
  htmlDate: define('interface {}', ([value], context) => formatLayout('2006-01-02', utc(momentOf(value, context).ms))),
  htmlDateInZone: define('interface {}, string', ([value, zone], context) =>
    formatLayout('2006-01-02', inZone(momentOf(value, context), text(zone))),
  ),
  toDate: define(
    'string, string',
    ([layout, value]) => new GoTime(parseLayout(text(layout), text(value)) ?? utc(zeroMs)),
  ),
  mustToDate: define('string, string', ([layout, value]) => {
    const moment = parseLayout(text(layout), text(value));
    if (moment) return new GoTime(moment);
    throw new FunctionError(`parsing time ${quoteGo(text(value))} as ${quoteGo(text(layout))}: cannot parse it`);
  }),
  unixEpoch: define('time.Time', ([time]) => String(time instanceof GoTime ? Math.floor(time.moment.ms / 1_000) : 0)),
  ago: define('interface {}', ([value], context) => {
    const ms = context.clock.now() - momentOf(value, context).ms;
    return formatDurationNanos(Math.round(ms / 1_000) * 1e9);
  }),
  duration: define('interface {}', ([value]) => {
    const isText = typeof value === 'string' && /^[+-]?[0-9]{1,9}$/.test(value);
    const seconds = isText ? Number(value) : value instanceof Int && value.type === 'int64' ? Number(value.value) : 0;
    return formatDurationNanos(seconds * 1e9);
  }),
  durationRound: define('interface {}', ([value], { clock }) => {
    let nanoseconds = 0;
    if (typeof value === 'string') nanoseconds = (parseDuration(value) ?? 0) * 1e6;
    else if (value instanceof Int && value.type === 'int64') nanoseconds = Number(value.value);
    else if (value instanceof GoTime) nanoseconds = (clock.now() - value.moment.ms) * 1e6;
    return roundDuration(Math.abs(nanoseconds));
  }),
};

const spans: readonly (readonly [number, string])[] = [
  [365 * 24 * 3_600e9, 'y'],
  [30 * 24 * 3_600e9, 'mo'],
  [24 * 3_600e9, 'd'],
  [3_600e9, 'h'],
  [60e9, 'm'],
  [1e9, 's'],
];

function roundDuration(nanoseconds: number): string {
  for (const [span, unit] of spans) if (nanoseconds > span) return `${Math.floor(nanoseconds / span)}${unit}`;
  return '0s';
}
