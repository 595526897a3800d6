import { goRegexp } from '../../schema/go-regexp/index.ts';
import { type CostMeter, defineFunction, defineMethod } from '../library.ts';
import { runeLength, runeOffset, runeSlice, unitOffset } from '../text.ts';
import { CelError, CelList } from '../values.ts';
import { formatString } from './string-format.ts';

const outOfRange = (index: bigint): CelError => new CelError(`index out of range: ${index}`);

defineMethod('charAt(string, int): string', ([text, index]) => {
  const at = Number(index);
  const length = runeLength(text as string);
  if (at < 0 || at > length) throw outOfRange(index as bigint);
  return runeSlice(text as string, at, at + 1);
});

defineMethod('indexOf(string, string): int', ([text, part]) =>
  BigInt(runeOffset(text as string, (text as string).indexOf(part as string))),
);
defineMethod('indexOf(string, string, int): int', ([text, part, from]) => {
  const start = Number(from);
  const whole = text as string;
  if (part === '') return from ?? null;
  if (start < 0 || start > runeLength(whole)) throw outOfRange(from as bigint);
  return BigInt(runeOffset(whole, whole.indexOf(part as string, unitOffset(whole, start))));
});
defineMethod('lastIndexOf(string, string): int', ([text, part]) =>
  BigInt(runeOffset(text as string, (text as string).lastIndexOf(part as string))),
);
defineMethod('lastIndexOf(string, string, int): int', ([text, part, from]) => {
  const start = Number(from);
  const whole = text as string;
  if (part === '') return from ?? null;
  if (start < 0 || start > runeLength(whole)) throw outOfRange(from as bigint);
  return BigInt(runeOffset(whole, whole.lastIndexOf(part as string, unitOffset(whole, start))));
});

defineMethod('substring(string, int): string', ([text, start]) => {
  const from = Number(start);
  const length = runeLength(text as string);
  if (from < 0 || from > length) throw outOfRange(start as bigint);
  return runeSlice(text as string, from, length);
});
defineMethod('substring(string, int, int): string', ([text, start, end]) => {
  const from = Number(start);
  const to = Number(end);
  const length = runeLength(text as string);
  if (from > to) throw new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  if (from < 0 || from > length) throw outOfRange(start as bigint);
  if (to < 0 || to > length) throw outOfRange(end as bigint);
  return runeSlice(text as string, from, to);
});

const lower = (text: string): string => text.replace(/[A-Z]/g, (char) => char.toLowerCase());
const upper = (text: string): string => text.replace(/[a-z]/g, (char) => char.toUpperCase());
defineMethod('lowerAscii(string): string', ([text]) => lower(text as string));
defineMethod('upperAscii(string): string', ([text]) => upper(text as string));
defineMethod('trim(string): string', ([text]) => (text as string).trim());

defineMethod('replace(string, string, string): string', ([text, old, fresh], meter) => {
  chargeReplacement(text as string, old as string, fresh as string, Number.POSITIVE_INFINITY, meter);
  return (text as string).replaceAll(old as string, () => fresh as string);
});
defineMethod('replace(string, string, string, int): string', ([text, old, fresh, limit], meter) => {
  let count = Number(limit);
  if (count < 0) count = Number.POSITIVE_INFINITY;
  chargeReplacement(text as string, old as string, fresh as string, count, meter);
  return (text as string).replaceAll(old as string, (match) => (count-- > 0 ? (fresh as string) : match));
});

/** Charges the cost of the result before it is built. Repeated replacement of a text by itself would exhaust memory. */
function chargeReplacement(text: string, old: string, fresh: string, limit: number, meter: CostMeter): void {
  meter.charge(text.length / 10);
  let found = old === '' ? text.length + 1 : 0;
  if (old !== '') for (let at = text.indexOf(old); at >= 0; at = text.indexOf(old, at + old.length)) found++;
  meter.charge((text.length + Math.min(found, limit) * (fresh.length - old.length)) / 10);
}

defineMethod('split(string, string): list<string>', ([text, separator], meter) => {
  meter.charge((text as string).length / 10);
  return new CelList(splitText(text as string, separator as string));
});
defineMethod('split(string, string, int): list<string>', ([text, separator, limit], meter) => {
  meter.charge((text as string).length / 10);
  const count = Number(limit);
  if (count === 0) return new CelList([]);
  const parts = splitText(text as string, separator as string);
  if (count < 0 || parts.length <= count) return new CelList(parts);
  return new CelList([...parts.slice(0, count - 1), parts.slice(count - 1).join(separator as string)]);
});

function splitText(text: string, separator: string): string[] {
  return separator === '' ? [...text] : text.split(separator);
}

defineMethod('join(list<string>): string', ([list], meter) => joinList(list as CelList, '', meter.charge));
defineMethod('join(list<string>, string): string', ([list, separator], meter) =>
  joinList(list as CelList, separator as string, meter.charge),
);

function joinList(list: CelList, separator: string, charge: (cost: number) => void): string {
  for (const item of list.items) if (typeof item !== 'string') throw new CelError('no such overload');
  const text = list.items.join(separator);
  charge(text.length / 10);
  return text;
}

const quotes: Record<string, string> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};
defineFunction('strings.quote(string): string', ([text]) => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to be escaped
  return `"${(text as string).replace(/[\x07\b\f\n\r\t\v\\"]/g, (char) => quotes[char] ?? char)}"`;
});

defineMethod('format(string, list<dyn>): string', ([text, args], meter) => {
  const result = formatString(text as string, (args as CelList).items);
  meter.charge(result.length / 10);
  return result;
});

function compiled(pattern: string): Exclude<ReturnType<typeof goRegexp>, string> {
  const regexp = goRegexp(pattern);
  if (typeof regexp === 'string') throw new CelError(`Illegal regex: ${regexp}`);
  return regexp;
}

defineMethod('find(string, string): string', ([text, pattern], meter) => {
  meter.charge((text as string).length / 4);
  const match = compiled(pattern as string).find(text as string);
  return match ? (text as string).slice(match[0], match[1]) : '';
});
const findAll = (text: string, pattern: string, limit: number): CelList =>
  new CelList([...compiled(pattern).findAll(text, limit)].map((match) => text.slice(match[0], match[1])));
defineMethod('findAll(string, string): list<string>', ([text, pattern], meter) => {
  meter.charge((text as string).length);
  return findAll(text as string, pattern as string, Number.POSITIVE_INFINITY);
});
defineMethod('findAll(string, string, int): list<string>', ([text, pattern, limit], meter) => {
  meter.charge((text as string).length);
  const count = Number(limit);
  return findAll(text as string, pattern as string, count < 0 ? Number.POSITIVE_INFINITY : count);
});
