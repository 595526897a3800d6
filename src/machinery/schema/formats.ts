import { parseCidr, parseIp, parseIpv4 } from '../net/ip.ts';
import { parseDurationNanos } from '../time/go-duration.ts';
import { goRegexp } from './go-regexp/index.ts';

/** Reports whether a string matches a format. */
export type FormatCheck = (text: string) => boolean;

/**
 * Returns the check for an OpenAPI `format`; undefined if kube-apiserver does not enforce it on custom resources.
 * Dashes are ignored: `date-time` and `datetime` are the same.
 */
export function formatCheck(format: string): FormatCheck | undefined {
  return formats.get(format.replaceAll('-', ''));
}

const uuid = (version: string, variant: string): FormatCheck => {
  const pattern = new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}-?${variant}-?[0-9a-f]{12}$`, 'i');
  return (text) => pattern.test(text);
};
const matches =
  (pattern: RegExp): FormatCheck =>
  (text) =>
    pattern.test(text);

const formats = new Map<string, FormatCheck>([
  ['bsonobjectid', matches(/^[0-9a-fA-F]{24}$/)],
  ['uri', isRequestUri],
  ['email', isEmail],
  ['hostname', isHostname],
  [
    'ipv4',
    (text) => parseIpv4(text, { lenient: true }) !== undefined || (text.includes('.') && parseIp(text) !== undefined),
  ],
  ['ipv6', (text) => text.includes(':') && parseIp(text) !== undefined],
  ['cidr', (text) => parseCidr(text, { lenient: true }) !== undefined],
  ['mac', isMac],
  ['uuid', uuid('[0-9a-f]{4}', '[0-9a-f]{4}')],
  ['uuid3', uuid('3[0-9a-f]{3}', '[0-9a-f]{4}')],
  ['uuid4', uuid('4[0-9a-f]{3}', '[89ab][0-9a-f]{3}')],
  ['uuid5', uuid('5[0-9a-f]{3}', '[89ab][0-9a-f]{3}')],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', matches(/^\d{3}[- ]\d{2}[- ]\d{4}$/)],
  ['hexcolor', matches(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  [
    'rgbcolor',
    matches(
      /^rgb\(\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*\)$/,
    ),
  ],
  // The empty string is invalid here, although a decoder accepts it.
  ['byte', matches(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/)],
  ['password', () => true],
  ['date', isDate],
  ['duration', isDuration],
  ['datetime', isDateTime],
]);

const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/;
const daysInMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

export function isDate(text: string): boolean {
  const match = datePattern.exec(text);
  if (!match) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const leap = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day >= 1 && day <= (daysInMonth[month - 1] ?? 0) + (leap ? 1 : 0);
}

const timePattern = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})$/;

/** Recently seen times. Most checked times were written by the server itself and are checked again at every update. */
const knownTimes = new Set<string>();
const maxKnownTimes = 1000;
const maxKnownLength = 40;

export function isDateTime(text: string): boolean {
  if (knownTimes.has(text)) return true;
  if (!parsesAsDateTime(text)) return false;
  if (text.length > maxKnownLength) return true;
  if (knownTimes.size >= maxKnownTimes) knownTimes.clear();
  knownTimes.add(text);
  return true;
}

function parsesAsDateTime(text: string): boolean {
  const [date, time] = text.toLowerCase().split('t');
  if (date === undefined || time === undefined || !isDate(date)) return false;
  const [, hours, minutes = '', seconds = ''] = timePattern.exec(time) ?? [];
  return hours !== undefined && hours <= '23' && minutes <= '59' && seconds <= '59';
}

// Without the lookbehind, the digits of a long number would be retried from every position.
const wordyDuration = /(?<!\d)(\d+)\s*([A-Za-zµ]+)/g;
const exactUnits = new Set(['ns', 'us', 'µs', 'ms', 's', 'm', 'h', 'hr', 'd', 'w', 'wk']);
const unitPrefixes = ['nano', 'micro', 'milli', 'sec', 'min', 'hour', 'day', 'week'];

/** Accepts Go durations and sentences like `3 days 2 hours`. */
export function isDuration(text: string): boolean {
  if (parseDurationNanos(text) !== undefined) return true;
  for (const [, , word = ''] of text.matchAll(wordyDuration)) {
    const unit = word.toLowerCase();
    if (exactUnits.has(unit) || unitPrefixes.some((prefix) => unit.startsWith(prefix))) return true;
  }
  return false;
}

const hostname = goRegexp(
  '^([a-zA-Z0-9\\p{S}\\p{L}]((-?[a-zA-Z0-9\\p{S}\\p{L}]{0,62})?)|([a-zA-Z0-9\\p{S}\\p{L}](([a-zA-Z0-9-\\p{S}\\p{L}]{0,61}[a-zA-Z0-9\\p{S}\\p{L}])?)(\\.)){1,}([a-zA-Z\\p{L}]){2,63})$',
);

function isHostname(text: string): boolean {
  if (typeof hostname === 'string' || !hostname.test(text) || Buffer.byteLength(text) > 255) return false;
  return text.split('.').every((label) => Buffer.byteLength(label) <= 63);
}

/** Accepts absolute URIs and absolute paths, as Go's url.ParseRequestURI does. */
function isRequestUri(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Go refuses control characters in URLs
  if (text === '' || /[\u0000-\u001f\u007f]/.test(text) || /%(?![0-9a-fA-F]{2})/.test(text.split('?')[0] ?? ''))
    return false;
  if (text === '*' || text.startsWith('/')) return true;
  const [, rest] = /^[A-Za-z][-+.A-Za-z0-9]*:(.*)$/s.exec(text) ?? [];
  if (rest === undefined) return false;
  if (!rest.startsWith('//')) return rest !== '' || text.endsWith(':');
  const [authority = ''] = rest.slice(2).split(/[/?#]/);
  return /^(?:[^@\s]*@)?(?:\[[0-9A-Fa-f:.%]+\]|[^:[\]\s<>"^`{|}\\]*)(?::[0-9]*)?$/.test(authority);
}

const atext = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\u0080-\\uffff-]+";
const address = new RegExp(
  `^(?:${atext}(?:\\.${atext})*|"(?:[^"\\\\]|\\\\.)*")@(?:${atext}(?:\\.${atext})*|\\[[^\\]]*\\])$`,
);

/** Accepts a bare address, or a display name followed by an address in angle brackets. */
function isEmail(text: string): boolean {
  const trimmed = text.trim();
  const [, named = trimmed] = /^[^<>]*<([^<>]*)>$/.exec(trimmed) ?? [];
  return address.test(named);
}

function isMac(text: string): boolean {
  return /^[0-9a-fA-F]{2}([:-])[0-9a-fA-F]{2}(?:\1[0-9a-fA-F]{2})*$/.test(text)
    ? [17, 23, 59].includes(text.length)
    : /^[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4})+$/.test(text) && [14, 19, 49].includes(text.length);
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '');
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < 10; i++) sum += (i + 1) * (digits[i] === 'X' ? 10 : Number(digits[i]));
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '');
  if (!/^[0-9]{13}$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < 13; i++) sum += Number(digits[i]) * (i % 2 === 0 ? 1 : 3);
  return sum % 10 === 0;
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '');
  const issuers =
    /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/;
  if (!issuers.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    let digit = Number(digits[digits.length - 1 - i]);
    if (i % 2 === 1) digit = digit * 2 > 9 ? digit * 2 - 9 : digit * 2;
    sum += digit;
  }
  return sum % 10 === 0;
}
