import { FunctionError } from '../errors.ts';
import { printValue, sprintf } from '../format/index.ts';
import { quoteGo } from '../syntax/index.ts';
import { int, stringList, type ValueMap, withElements } from '../values/index.ts';
import { byteLength, byteSlice, isAscii } from './bytes.ts';
import { toStrings, toText } from './convert.ts';
import { type CallContext, define, type Library, text, whole } from './function.ts';
import { lowerWords, pascalCase } from './word-case.ts';

const spaces = /^[\s\u0085]+|[\s\u0085]+$/gu;

/** Sprig's string functions. */
export const stringFunctions: Library = {
  trim: define('string', ([s]) => text(s).replace(spaces, '')),
  trimAll: define('string, string', ([cut, s]) => trimSet(text(s), text(cut))),
  trimall: define('string, string', ([cut, s]) => trimSet(text(s), text(cut))),
  trimSuffix: define('string, string', ([cut, s]) =>
    text(s).endsWith(text(cut)) ? text(s).slice(0, text(s).length - text(cut).length) : text(s),
  ),
  trimPrefix: define('string, string', ([cut, s]) =>
    text(s).startsWith(text(cut)) ? text(s).slice(text(cut).length) : text(s),
  ),
  upper: define('string', ([s]) => text(s).replace(/\p{L}/gu, (rune) => single(rune.toUpperCase(), rune))),
  lower: define('string', ([s]) => text(s).replace(/\p{L}/gu, (rune) => single(rune.toLowerCase(), rune))),
  title: define('string', ([s]) =>
    text(s).replace(
      /(^|[^\p{L}\p{Nd}_'])(\p{L})/gu,
      (_all, before: string, rune: string) => before + single(rune.toUpperCase(), rune),
    ),
  ),
  untitle: define('string', ([s]) =>
    text(s).replace(/(^|\s)(\S)/gu, (_all, before: string, rune: string) => before + rune.toLowerCase()),
  ),
  substr: define('int, int, string', ([start, end, s]) => substring(whole(start), whole(end), text(s))),
  repeat: define('int, string', ([count, s], { budget }) => {
    const times = whole(count);
    if (times < 0) throw new FunctionError('strings: negative Repeat count');
    budget.reserve(times * text(s).length);
    return text(s).repeat(times);
  }),
  nospace: define('string', ([s]) => asCharacters(text(s)).replace(/[\s\u0085]/g, '')),
  trunc: define('int, string', ([count, s]) => truncate(whole(count), text(s))),
  abbrev: define('int, string', ([width, s]) => abbreviate(text(s), 0, whole(width))),
  abbrevboth: define('int, int, string', ([left, right, s]) => {
    if (whole(right) < 4 || (whole(left) > 0 && whole(right) < 7)) return text(s);
    return abbreviate(text(s), whole(left), whole(right));
  }),
  initials: define('string', ([s]) =>
    [...asCharacters(text(s)).matchAll(/(?:^|\s)(\S)/gu)].map((match) => match[1]).join(''),
  ),
  swapcase: define('string', ([s]) => swapCase(text(s))),
  snakecase: define('string', ([s]) => lowerWords(text(s), '_')),
  kebabcase: define('string', ([s]) => lowerWords(text(s), '-')),
  camelcase: define('string', ([s]) => pascalCase(text(s))),
  wrap: define('int, string', ([width, s], { budget }) => {
    budget.reserve(text(s).length);
    return wrap(text(s), whole(width), '\n', { cutsWords: false });
  }),
  wrapWith: define('int, string, string', ([width, separator, s], { budget }) => {
    budget.reserve(text(s).length * (1 + text(separator).length));
    return wrap(text(s), whole(width), text(separator) || '\n', { cutsWords: true });
  }),
  contains: define('string, string', ([part, s]) => text(s).includes(text(part))),
  hasPrefix: define('string, string', ([part, s]) => text(s).startsWith(text(part))),
  hasSuffix: define('string, string', ([part, s]) => text(s).endsWith(text(part))),
  quote: define('...interface {}', (args, { budget }) =>
    args
      .filter((value) => value !== null && value !== undefined)
      .map((value) => quoteGo(toText(value, budget)))
      .join(' '),
  ),
  squote: define('...interface {}', (args, { budget }) =>
    args
      .filter((value) => value !== null && value !== undefined)
      .map((value) => `'${printValue(value, budget)}'`)
      .join(' '),
  ),
  cat: define('...interface {}', (args, { budget }) => {
    const present = args.filter((value) => value !== null && value !== undefined);
    return sprintf('%v '.repeat(present.length).trim(), present, budget);
  }),
  indent: define('int, string', ([count, s], context) => indent(whole(count), text(s), context)),
  nindent: define('int, string', ([count, s], context) => `\n${indent(whole(count), text(s), context)}`),
  replace: define('string, string, string', ([from, to, s], { budget }) => {
    const [old, next, source] = [text(from), text(to), text(s)];
    if (old === '') {
      budget.reserve(source.length + next.length * (source.length + 1));
      return next + [...source].map((rune) => rune + next).join('');
    }
    const parts = source.split(old);
    budget.reserve(source.length + parts.length * next.length);
    return parts.join(next);
  }),
  plural: define('string, string, int', ([one, many, count]) => (whole(count) === 1 ? text(one) : text(many))),
  toString: define('interface {}', ([value], { budget }) => toText(value, budget)),
  toStrings: define('interface {}', ([value], { budget }) => stringList(toStrings(value, budget))),
  join: define('string, interface {}', ([separator, value], { budget }) => {
    const items = toStrings(value, budget);
    budget.reserve(items.reduce((sum, item) => sum + item.length + text(separator).length, 0));
    return items.join(text(separator));
  }),
  split: define('string, string', ([separator, s], { budget }) =>
    numbered(parts(text(s), text(separator)), budget.spend.bind(budget)),
  ),
  splitn: define('string, int, string', ([separator, count, s], { budget }) =>
    numbered(partsUpTo(text(s), text(separator), whole(count)), budget.spend.bind(budget)),
  ),
  splitList: define('string, string', ([separator, s], { budget }) => {
    const items = parts(text(s), text(separator));
    budget.spend(items.length);
    return stringList(items);
  }),
  hello: define('', () => 'Hello!'),
  atoi: define('string', ([s]) => int(/^[+-]?[0-9]{1,15}$/.test(text(s)) ? Number(text(s)) : 0)),
};

/** Some letters have an upper case of several characters. Go keeps those unchanged. */
const single = (converted: string, rune: string): string => ([...converted].length === 1 ? converted : rune);

/** In these functions Sprig's library treats bytes as characters. The output must match. */
const asCharacters = (value: string): string => (isAscii(value) ? value : Buffer.from(value).toString('latin1'));

function trimSet(value: string, cut: string): string {
  const set = new Set(cut);
  const runes = [...value];
  let [start, end] = [0, runes.length];
  while (start < end && set.has(runes[start] ?? '')) start++;
  while (end > start && set.has(runes[end - 1] ?? '')) end--;
  return runes.slice(start, end).join('');
}

function substring(start: number, end: number, value: string): string {
  const size = byteLength(value);
  const range = (from: number, to: number): string => {
    if (from > to || to > size || from < 0) {
      const where = to > size ? `:${to}] with length ${size}` : `${from}:${to}]`;
      throw new FunctionError(`runtime error: slice bounds out of range [${where}`);
    }
    return byteSlice(value, from, to);
  };
  if (start < 0) return range(0, end);
  return end < 0 || end > size ? range(start, size) : range(start, end);
}

function truncate(count: number, value: string): string {
  const size = byteLength(value);
  if (count < 0 && size + count > 0) return byteSlice(value, size + count, size);
  return count >= 0 && size > count ? byteSlice(value, 0, count) : value;
}

function abbreviate(value: string, left: number, width: number): string {
  if (width < 4) return value;
  const size = byteLength(value);
  if (size <= width) return value;
  let offset = Math.min(left, size);
  if (size - offset < width - 3) offset = size - (width - 3);
  if (offset <= 4) return `${byteSlice(value, 0, width - 3)}...`;
  if (width < 7) return '';
  if (offset + width - 3 < size) return `...${abbreviate(byteSlice(value, offset, size), 0, width - 3)}`;
  return `...${byteSlice(value, size - (width - 3), size)}`;
}

function swapCase(value: string): string {
  let result = '';
  for (const rune of value) {
    if (/\p{Lu}|\p{Lt}/u.test(rune)) result += rune.toLowerCase();
    else result += /\p{Ll}/u.test(rune) ? single(rune.toUpperCase(), rune) : rune;
  }
  return result;
}

function wrap(value: string, width: number, lineEnd: string, { cutsWords }: { cutsWords: boolean }): string {
  const size = Math.max(1, width);
  let result = '';
  let offset = 0;
  while (value.length - offset > size) {
    if (value[offset] === ' ') {
      offset++;
      continue;
    }
    const space = value.slice(offset, offset + size + 1).lastIndexOf(' ');
    if (space >= 0) {
      result += value.slice(offset, offset + space) + lineEnd;
      offset += space + 1;
    } else if (cutsWords) {
      result += value.slice(offset, offset + size) + lineEnd;
      offset += size;
    } else {
      const next = value.indexOf(' ', offset + size);
      if (next < 0) break;
      result += value.slice(offset, next) + lineEnd;
      offset = next + 1;
    }
  }
  return result + value.slice(offset);
}

function indent(count: number, value: string, { budget }: CallContext): string {
  if (count < 0) throw new FunctionError('strings: negative Repeat count');
  let lines = 1;
  for (let at = value.indexOf('\n'); at >= 0; at = value.indexOf('\n', at + 1)) lines++;
  budget.reserve(value.length + lines * count);
  const pad = ' '.repeat(count);
  return pad + value.replaceAll('\n', `\n${pad}`);
}

const parts = (value: string, separator: string): string[] => (separator === '' ? [...value] : value.split(separator));

function partsUpTo(value: string, separator: string, count: number): string[] {
  const all = parts(value, separator);
  if (count === 0) return [];
  if (count < 0 || all.length <= count) return all;
  return [...all.slice(0, count - 1), all.slice(count - 1).join(separator)];
}

function numbered(items: readonly string[], spend: (steps: number) => void): ValueMap {
  spend(items.length);
  return withElements('string', new Map(items.map((item, index) => [`_${index}`, item])));
}
