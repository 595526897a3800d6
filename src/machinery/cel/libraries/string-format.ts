import { formatDuration, formatTimestamp } from '../time.ts';
import { CelError, CelList, CelType, type CelValue, Duration, isMap, Timestamp, typeName, Uint } from '../values.ts';
import { formatDouble } from './standard.ts';

/** Implements `'%s has %d'.format([…])` of CEL's string library. */
export function formatString(text: string, args: readonly CelValue[]): string {
  let next = 0;
  return text.replace(/%(?:\.(\d+))?([a-zA-Z%]?)/g, (_whole, precision: string | undefined, verb: string) => {
    if (verb === '%') return '%';
    if (verb === '') throw new CelError('unexpected end of string');
    const value = args[next++];
    if (value === undefined) throw new CelError(`index ${next - 1} out of range`);
    return formatVerb(verb, value, precision === undefined ? 6 : Number(precision));
  });
}

function formatVerb(verb: string, value: CelValue, precision: number): string {
  switch (verb) {
    case 's':
      return describe(value);
    case 'd':
      if (typeof value === 'bigint') return value.toString();
      if (value instanceof Uint) return value.value.toString();
      if (typeof value === 'number' && !Number.isFinite(value)) return special(value);
      throw new CelError(
        `error during formatting: decimal clause can only be used on integers, was given ${typeName(value)}`,
      );
    case 'f':
      return (
        special(toDouble(value, 'fixed-point')) || toDouble(value, 'fixed-point').toFixed(Math.min(precision, 100))
      );
    case 'e':
      return special(toDouble(value, 'scientific')) || formatScientific(toDouble(value, 'scientific'));
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      return toInteger(value, 'binary').toString(2);
    case 'o':
      return toInteger(value, 'octal').toString(8);
    case 'x':
      return hex(value);
    case 'X':
      return hex(value).toUpperCase();
    default:
      throw new CelError(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
}

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** Formats as 1.500000×10⁰³: cel-go writes Unicode exponents and always six digits. */
function formatScientific(value: number): string {
  const [mantissa, exponent] = value.toExponential(6).split('e') as [string, string];
  const digits = exponent
    .slice(1)
    .padStart(2, '0')
    .replace(/\d/g, (digit) => superscripts.charAt(Number(digit)));
  return `${mantissa}×10${exponent.startsWith('-') ? '⁻' : ''}${digits}`;
}

function special(value: number): string {
  return Number.isNaN(value) ? 'NaN' : Number.isFinite(value) ? '' : value > 0 ? 'Infinity' : '-Infinity';
}

function toDouble(value: CelValue, clause: string): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Uint) return Number(value.value);
  throw new CelError(
    `error during formatting: ${clause} clause can only be used on doubles, was given ${typeName(value)}`,
  );
}

function toInteger(value: CelValue, clause: string): bigint {
  if (typeof value === 'bigint') return value;
  if (value instanceof Uint) return value.value;
  throw new CelError(
    `error during formatting: ${clause} clause can only be used on integers, was given ${typeName(value)}`,
  );
}

function hex(value: CelValue): string {
  if (typeof value === 'string') return Buffer.from(value).toString('hex');
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return toInteger(value, 'hex').toString(16);
}

/** Formats a top-level value for `%s`. */
function describe(value: CelValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return special(value) || formatDouble(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  return describeMember(value);
}

/** Formats a value inside a list or map for `%s`: strings are quoted, doubles have six digits. */
function describeMember(value: CelValue): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === null) return 'null';
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return special(value) || value.toFixed(6);
  if (value instanceof Uint) return value.value.toString();
  if (value instanceof Uint8Array) return `b${JSON.stringify(Buffer.from(value).toString('utf8'))}`;
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof CelType) return value.name;
  if (value instanceof CelList) return `[${value.items.map(describeMember).join(', ')}]`;
  if (isMap(value)) {
    const entries = value.keys().map((key) => [describeMember(key), describeMember(value.get(key) ?? null)] as const);
    entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    return `{${entries.map(([key, member]) => `${key}:${member}`).join(', ')}}`;
  }
  throw new CelError(
    `error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given ${typeName(value)}`,
  );
}
