import { trimTrailing } from '../../machinery/index.ts';
// A layout in Go shows the reference time: Mon Jan 2 15:04:05 MST 2006.

/** A time with its zone offset. */
export interface Moment {
  /** milliseconds since the epoch */
  readonly ms: number;
  /** minutes east of UTC */
  readonly offset: number;
  readonly zone: string;
}

const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

const elements =
  /January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|2006|-07:00:00|-070000|-07:00|-0700|-07|Z07:00:00|Z070000|Z07:00|Z0700|Z07|__2|_2(?!006)|002|01|02|03|04|05|06|15|PM|pm|[.,]0+(?![0-9])|[.,]9+(?![0-9])|1|2|3|4|5/g;

const two = (value: number): string => String(value).padStart(2, '0');

/** Formats a time with a Go layout. */
export function formatLayout(layout: string, { ms, offset, zone }: Moment): string {
  const local = new Date(ms + offset * 60_000);
  const hour12 = local.getUTCHours() % 12 || 12;
  const dayOfYear = dayInYear(local);
  const month = months[local.getUTCMonth()] ?? '';
  const day = days[local.getUTCDay()] ?? '';
  return layout.replace(elements, (element) => {
    switch (element) {
      case 'January':
        return month;
      case 'Jan':
        return month.slice(0, 3);
      case '1':
        return String(local.getUTCMonth() + 1);
      case '01':
        return two(local.getUTCMonth() + 1);
      case 'Monday':
        return day;
      case 'Mon':
        return day.slice(0, 3);
      case '2':
        return String(local.getUTCDate());
      case '_2':
        return String(local.getUTCDate()).padStart(2, ' ');
      case '02':
        return two(local.getUTCDate());
      case '__2':
        return String(dayOfYear).padStart(3, ' ');
      case '002':
        return String(dayOfYear).padStart(3, '0');
      case '15':
        return two(local.getUTCHours());
      case '3':
        return String(hour12);
      case '03':
        return two(hour12);
      case '4':
        return String(local.getUTCMinutes());
      case '04':
        return two(local.getUTCMinutes());
      case '5':
        return String(local.getUTCSeconds());
      case '05':
        return two(local.getUTCSeconds());
      case '2006':
        return String(local.getUTCFullYear()).padStart(4, '0');
      case '06':
        return two(local.getUTCFullYear() % 100);
      case 'PM':
        return local.getUTCHours() >= 12 ? 'PM' : 'AM';
      case 'pm':
        return local.getUTCHours() >= 12 ? 'pm' : 'am';
      case 'MST':
        return zone;
    }
    if (/^[-Z]/.test(element)) return zoneText(element, offset);
    if (/^[.,]/.test(element)) return fraction(element, local.getUTCMilliseconds());
    return element;
  });
}

function dayInYear(date: Date): number {
  return (
    Math.floor(
      (Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()) - Date.UTC(date.getUTCFullYear(), 0, 1)) /
        86_400_000,
    ) + 1
  );
}

function zoneText(element: string, offset: number): string {
  if (element.startsWith('Z') && offset === 0) return 'Z';
  const size = Math.abs(offset);
  const separator = element.includes(':') ? ':' : '';
  const sign = offset < 0 ? '-' : '+';
  const hours = two(Math.floor(size / 60));
  if (/^.07$/.test(element)) return sign + hours;
  const seconds = /(?:00:00|0000)$/.test(element) && element.length > 6 ? `${separator}00` : '';
  return `${sign}${hours}${separator}${two(size % 60)}${seconds}`;
}

function fraction(element: string, ms: number): string {
  const digits = String(ms)
    .padStart(3, '0')
    .padEnd(9, '0')
    .slice(0, element.length - 1);
  if (element[1] === '0') return element.charAt(0) + digits;
  const kept = trimTrailing(digits, '0');
  return kept === '' ? '' : element.charAt(0) + kept;
}

/** Parses a text with a layout, or returns undefined. The default zone is UTC. */
export function parseLayout(layout: string, text: string): Moment | undefined {
  let [year, month, day, hour, minute, second, ms, offset] = [0, 1, 1, 0, 0, 0, 0, 0];
  let isAfternoon: boolean | undefined;
  let zone = 'UTC';
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    const sticky = new RegExp(pattern.source, 'yi');
    sticky.lastIndex = at;
    const found = sticky.exec(text);
    if (!found) return undefined;
    at = sticky.lastIndex;
    return found[0];
  };
  let position = 0;
  const literal = (upTo: number): boolean => {
    const wanted = layout.slice(position, upTo);
    if (!text.startsWith(wanted, at)) return false;
    at += wanted.length;
    return true;
  };
  for (const match of layout.matchAll(elements)) {
    if (!literal(match.index)) return undefined;
    position = match.index + match[0].length;
    const element = match[0];
    const pattern = patterns(element);
    const found = take(pattern);
    if (found === undefined) return undefined;
    const number = Number(found.trim());
    switch (element) {
      case 'January':
      case 'Jan':
        month = months.findIndex((name) => name.slice(0, 3).toLowerCase() === found.slice(0, 3).toLowerCase()) + 1;
        break;
      case '1':
      case '01':
        month = number;
        break;
      case '2':
      case '_2':
      case '02':
        day = number;
        break;
      case '15':
      case '3':
      case '03':
        hour = number;
        break;
      case '4':
      case '04':
        minute = number;
        break;
      case '5':
      case '05': {
        second = number;
        // Go accepts fractional seconds even if the layout has none.
        if (!/^[.,][09]/.test(layout.slice(position))) {
          const extra = take(/[.,][0-9]+/);
          if (extra) ms = Math.floor(Number(`0.${extra.slice(1)}`) * 1_000);
        }
        break;
      }
      case '2006':
        year = number;
        break;
      case '06':
        year = number + (number >= 69 ? 1900 : 2000);
        break;
      case 'PM':
      case 'pm':
        isAfternoon = found.toLowerCase() === 'pm';
        break;
      case 'MST':
        zone = found;
        break;
      default:
        if (/^[.,]/.test(element)) ms = Math.floor(Number(`0.${found.slice(1)}`) * 1_000);
        else if (/^[-Z]/.test(element) && found.toUpperCase() !== 'Z') {
          const digits = found.replace(/[^0-9]/g, '');
          offset =
            (Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2, 4) || 0)) * (found.startsWith('-') ? -1 : 1);
        }
    }
  }
  if (!literal(layout.length) || at !== text.length) return undefined;
  if (isAfternoon !== undefined) hour = (hour % 12) + (isAfternoon ? 12 : 0);
  const date = new Date(Date.UTC(2000, month - 1, day, hour, minute, second, ms));
  date.setUTCFullYear(year, month - 1, day);
  const isValid =
    date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
  return isValid ? { ms: date.getTime() - offset * 60_000, offset, zone: offset === 0 ? zone : '' } : undefined;
}

function patterns(element: string): RegExp {
  switch (element) {
    case 'January':
      return new RegExp(months.join('|'));
    case 'Jan':
      return new RegExp(months.map((name) => name.slice(0, 3)).join('|'));
    case 'Monday':
      return new RegExp(days.join('|'));
    case 'Mon':
      return new RegExp(days.map((name) => name.slice(0, 3)).join('|'));
    case '2006':
      return /[0-9]{4}/;
    case '_2':
      return / ?[0-9]{1,2}/;
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
      return /[0-9]{1,2}/;
    case 'PM':
    case 'pm':
      return /[AP]M/;
    case 'MST':
      return /[A-Z]{3,4}/;
  }
  if (/^[.,]/.test(element)) return /[.,][0-9]+/;
  if (/^Z/.test(element)) return /Z|[+-][0-9]{2}:?(?:[0-9]{2})?/;
  if (/^-/.test(element)) return /[+-][0-9]{2}:?(?:[0-9]{2})?/;
  return /[0-9]{2,3}/;
}
