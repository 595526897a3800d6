import { goRegexp } from '../../schema/go-regexp/index.ts';
import { celEquals } from '../compare.ts';
import { defineFunction, defineMethod, type Handler } from '../library.ts';
import { runeLength } from '../text.ts';
import {
  type CalendarFields,
  calendarAt,
  formatDuration,
  formatTimestamp,
  parseGoDuration,
  parseTimestamp,
} from '../time.ts';
import {
  CelError,
  type CelList,
  type CelMap,
  CelType,
  type CelValue,
  type CidrBlock,
  Duration,
  type IpAddress,
  Timestamp,
  typeName,
  Uint,
} from '../values.ts';

const maxInt = 2n ** 63n - 1n;
const minInt = -(2n ** 63n);
const maxUint = 2n ** 64n - 1n;

export function checkedInt(value: bigint): bigint {
  if (value > maxInt || value < minInt) throw new CelError('integer overflow');
  return value;
}

export function checkedUint(value: bigint): Uint {
  if (value > maxUint || value < 0n) throw new CelError('unsigned integer overflow');
  return new Uint(value);
}

/** Matches a regular expression in Go's dialect. The pattern may come from data. */
export function matchRegexp(text: string, pattern: string): boolean {
  const compiled = goRegexp(pattern);
  if (typeof compiled === 'string') throw new CelError(compiled);
  return compiled.test(text);
}

function both(signature: string, handler: Handler): void {
  defineFunction(signature, handler);
  defineMethod(signature, handler);
}

both('size(string): int', ([text]) => BigInt(runeLength(text as string)));
both('size(bytes): int', ([bytes]) => BigInt((bytes as Uint8Array).length));
both('size(list<T>): int', ([list]) => BigInt((list as CelList).items.length));
both('size(map<K, V>): int', ([map]) => BigInt((map as CelMap).size));

defineFunction('type(T): type', ([value]) => new CelType(typeName(value ?? null)));
defineFunction('dyn(T): dyn', ([value]) => value ?? null);

both('matches(string, string): bool', ([text, pattern], meter) => {
  meter.charge((text as string).length / 4);
  return matchRegexp(text as string, pattern as string);
});
defineMethod('contains(string, string): bool', ([text, part]) => (text as string).includes(part as string));
defineMethod('startsWith(string, string): bool', ([text, part]) => (text as string).startsWith(part as string));
defineMethod('endsWith(string, string): bool', ([text, part]) => (text as string).endsWith(part as string));

const identity: Handler = ([value]) => value ?? null;
for (const name of ['int', 'uint', 'double', 'bool', 'string', 'bytes', 'timestamp', 'duration']) {
  defineFunction(`${name}(${name}): ${name}`, identity);
}

defineFunction('int(uint): int', ([value]) => checkedInt((value as Uint).value));
defineFunction('int(double): int', ([value]) => {
  if (!Number.isFinite(value)) throw new CelError('integer overflow');
  return checkedInt(BigInt(Math.trunc(value as number)));
});
defineFunction('int(string): int', ([text]) => {
  if (!/^[-+]?\d+$/.test(text as string)) {
    throw new CelError(`type conversion error from string to int: ${JSON.stringify(text)}`);
  }
  return checkedInt(BigInt((text as string).replace(/^\+/, '')));
});
defineFunction('int(timestamp): int', ([time]) => (time as Timestamp).nanos / 1_000_000_000n);
defineFunction('int(duration): int', ([span]) => (span as Duration).nanos);

defineFunction('uint(int): uint', ([value]) => checkedUint(value as bigint));
defineFunction('uint(double): uint', ([value]) => {
  if (!Number.isFinite(value)) throw new CelError('unsigned integer overflow');
  return checkedUint(BigInt(Math.trunc(value as number)));
});
defineFunction('uint(string): uint', ([text]) => {
  if (!/^\d+$/.test(text as string)) throw new CelError('type conversion error from string to uint');
  return checkedUint(BigInt(text as string));
});

defineFunction('double(int): double', ([value]) => Number(value as bigint));
defineFunction('double(uint): double', ([value]) => Number((value as Uint).value));
defineFunction('double(string): double', ([text]) => {
  const value = Number(text as string);
  if ((text as string).trim() === '' || Number.isNaN(value)) {
    throw new CelError('type conversion error from string to double');
  }
  return value;
});

defineFunction('bool(string): bool', ([text]) => {
  if (['1', 't', 'true', 'TRUE', 'True', 'T'].includes(text as string)) return true;
  if (['0', 'f', 'false', 'FALSE', 'False', 'F'].includes(text as string)) return false;
  throw new CelError('type conversion error from string to bool');
});

defineFunction('string(int): string', ([value]) => String(value));
defineFunction('string(uint): string', ([value]) => String((value as Uint).value));
defineFunction('string(double): string', ([value]) => formatDouble(value as number));
defineFunction('string(bool): string', ([value]) => String(value));
defineFunction('string(bytes): string', ([bytes]) => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes as Uint8Array);
  } catch {
    throw new CelError('invalid UTF-8 in bytes, cannot convert to string');
  }
});
defineFunction('string(timestamp): string', ([time]) => formatTimestamp(time as Timestamp));
defineFunction('string(duration): string', ([span]) => formatDuration(span as Duration));
defineFunction('string(IP): string', ([ip]) => (ip as IpAddress).toString());
defineFunction('string(CIDR): string', ([cidr]) => (cidr as CidrBlock).toString());

export function formatDouble(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  return String(value).replace(/e([-+])(\d)$/, 'e$10$2');
}

defineFunction('bytes(string): bytes', ([text]) => new Uint8Array(Buffer.from(text as string)));
defineFunction('timestamp(string): timestamp', ([text]) => {
  const time = parseTimestamp(text as string);
  if (!time) throw new CelError('type conversion error from string to google.protobuf.Timestamp');
  return time;
});
defineFunction('timestamp(int): timestamp', ([seconds]) => new Timestamp((seconds as bigint) * 1_000_000_000n));
defineFunction('duration(string): duration', ([text]) => {
  const span = parseGoDuration(text as string);
  if (!span) throw new CelError('type conversion error from string to google.protobuf.Duration');
  return span;
});
defineFunction('duration(int): duration', ([nanos]) => new Duration(nanos as bigint));

const timeParts: Record<string, (fields: CalendarFields) => number> = {
  getFullYear: (fields) => fields.year,
  getMonth: (fields) => fields.month,
  getDate: (fields) => fields.day,
  getDayOfMonth: (fields) => fields.day - 1,
  getDayOfWeek: (fields) => fields.weekday,
  getDayOfYear: (fields) => fields.yearDay,
  getHours: (fields) => fields.hours,
  getMinutes: (fields) => fields.minutes,
  getSeconds: (fields) => fields.seconds,
  getMilliseconds: (fields) => fields.milliseconds,
};
for (const [name, part] of Object.entries(timeParts)) {
  const read: Handler = ([time, zone]) => BigInt(part(calendarAt(time as Timestamp, (zone as string) ?? '')));
  defineMethod(`${name}(timestamp): int`, read);
  defineMethod(`${name}(timestamp, string): int`, read);
}

const spans: Record<string, bigint> = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
  getMilliseconds: 1_000_000n,
};
for (const [name, unit] of Object.entries(spans)) {
  defineMethod(`${name}(duration): int`, ([span]) => (span as Duration).nanos / unit);
}

/** Reports whether a list contains an equal element. */
export function listHas(list: CelList, value: CelValue): boolean {
  return list.items.some((item) => celEquals(item, value));
}

defineFunction('sets.contains(list<T>, list<T>): bool', ([list, wanted], meter) => {
  charge(list, wanted, meter);
  return (wanted as CelList).items.every((item) => listHas(list as CelList, item));
});
defineFunction('sets.intersects(list<T>, list<T>): bool', ([list, other], meter) => {
  charge(list, other, meter);
  return (other as CelList).items.some((item) => listHas(list as CelList, item));
});
defineFunction('sets.equivalent(list<T>, list<T>): bool', ([list, other], meter) => {
  charge(list, other, meter);
  const [a, b] = [list as CelList, other as CelList];
  return a.items.every((item) => listHas(b, item)) && b.items.every((item) => listHas(a, item));
});

function charge(a: CelValue | undefined, b: CelValue | undefined, meter: Parameters<Handler>[1]): void {
  meter.charge((a as CelList).items.length * (b as CelList).items.length);
}
