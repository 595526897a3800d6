import { must } from '../errors/must.ts';
import { parseDuration } from '../time/go-duration.ts';

interface Bounds {
  min: number;
  max: number;
  names?: readonly string[];
  /** number of the first name */
  firstName?: number;
}

const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const fields: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: monthNames, firstName: 1 },
  { min: 0, max: 6, names: dayNames, firstName: 0 },
];
/** Descriptors and their five fields. */
export const cronDescriptors: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);

/** Allowed values of a schedule by field. */
export interface CronSchedule {
  minutes: ReadonlySet<number>;
  hours: ReadonlySet<number>;
  daysOfMonth: ReadonlySet<number>;
  months: ReadonlySet<number>;
  daysOfWeek: ReadonlySet<number>;
  /** if day of month and day of week are both restricted, either may match */
  anyDayOfMonth: boolean;
  anyDayOfWeek: boolean;
}

function parseNumber(text: string, bounds: Bounds): number | string {
  const named = bounds.names?.indexOf(text.toLowerCase()) ?? -1;
  if (named >= 0) return named + (bounds.firstName ?? 0);
  if (/^[+-]?[0-9]+$/.test(text)) {
    const value = Number(text);
    return value < 0 ? `negative number (${value}) not allowed: ${text}` : value;
  }
  return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
}

function parseRange(text: string, bounds: Bounds, into: Set<number>): string | undefined {
  const slashes = text.split('/');
  const [range = '', stepText] = slashes;
  const hyphens = range.split('-');
  const [from = '', to] = hyphens;
  const single = to === undefined;
  let start: number | string;
  let end: number | string;
  if (from === '*' || from === '?') {
    start = bounds.min;
    end = bounds.max;
  } else {
    start = parseNumber(from, bounds);
    if (typeof start === 'string') return start;
    if (hyphens.length > 2) return `too many hyphens: ${text}`;
    end = single ? start : parseNumber(to, bounds);
    if (typeof end === 'string') return end;
  }
  let step = 1;
  if (slashes.length > 2) return `too many slashes: ${text}`;
  if (stepText !== undefined) {
    const parsed = parseNumber(stepText, bounds);
    if (typeof parsed === 'string') return parsed;
    step = parsed;
    // "N/step" means "N-max/step".
    if (single) end = bounds.max;
  }
  if (start < bounds.min) return `beginning of range (${start}) below minimum (${bounds.min}): ${text}`;
  if (end > bounds.max) return `end of range (${end}) above maximum (${bounds.max}): ${text}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${text}`;
  if (step === 0) return `step of range should be a positive number: ${text}`;
  for (let value = start; value <= end; value += step) into.add(value);
  return undefined;
}

function descriptorProblem(spec: string): string | undefined {
  if (cronDescriptors.has(spec)) return undefined;
  if (spec.startsWith('@every ')) {
    const text = spec.slice('@every '.length);
    return parseDuration(text) === undefined
      ? `failed to parse duration ${spec}: time: invalid duration ${JSON.stringify(text)}`
      : undefined;
  }
  return `unrecognized descriptor: ${spec}`;
}

/** Parses the five fields of a schedule. Returns an error text if invalid. */
export function parseCronFields(spec: string): CronSchedule | string {
  const parts = spec.split(/\s+/).filter((part) => part !== '');
  if (parts.length !== 5) return `expected exactly 5 fields, found ${parts.length}: [${parts.join(' ')}]`;
  const sets: Set<number>[] = [];
  for (const [index, bounds] of fields.entries()) {
    const values = new Set<number>();
    for (const range of (parts[index] ?? '').split(',').filter((text) => text !== '')) {
      const problem = parseRange(range, bounds, values);
      if (problem !== undefined) return problem;
    }
    sets.push(values);
  }
  const field = (index: number): Set<number> => must(sets[index], 'a field');
  const isAny = (part = ''): boolean => part.startsWith('*') || part.startsWith('?');
  return {
    minutes: field(0),
    hours: field(1),
    daysOfMonth: field(2),
    months: field(3),
    daysOfWeek: field(4),
    anyDayOfMonth: isAny(parts[2]),
    anyDayOfWeek: isAny(parts[4]),
  };
}

/** Returns the errors of a cron schedule in the standard five-field form or a descriptor such as `@hourly`. */
export function checkCronSchedule(spec: string): string[] {
  if (spec === '') return ['empty spec string'];
  if (spec.startsWith('@')) {
    const problem = descriptorProblem(spec);
    return problem === undefined ? [] : [problem];
  }
  const parsed = parseCronFields(spec);
  return typeof parsed === 'string' ? [parsed] : [];
}
