import { isJsonObject, type JsonValue } from './value.ts';

/** Invalid JSON; the message gives the reason. */
export class JsonParseError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'JsonParseError';
  }
}

export interface StrictJson {
  value: JsonValue;
  /** paths of duplicate fields, such as `spec.ports[0].name`; the last value wins, as upstream */
  duplicateFields: string[];
}

/**
 * Maximum nesting depth. kube-apiserver allows 10,000 with growing stacks. Here, later walks recurse on a fixed stack,
 * and server-side apply uses up to a kilobyte per level. No real object comes near the limit.
 */
export const maxJsonDepth = 500;

/**
 * Reports whether a value nests deeper than `limit`, without recursion, so that it is safe for any value. Calls
 * `looked` with the number of members of each visited value.
 */
export function isDeeperThan(value: JsonValue, limit: number, looked?: (members: number) => void): boolean {
  let level: JsonValue[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    const next: JsonValue[] = [];
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue;
      const members = Object.values(item);
      looked?.(members.length);
      for (const member of members) if (typeof member === 'object' && member !== null) next.push(member);
    }
    if (next.length > 0 && depth + 1 >= limit) return true;
    level = next;
  }
  return false;
}

/** kube-apiserver reports at most this many duplicates of one body. */
const maxReportedDuplicates = 100;
const shortestUnsafeInteger = 16;

const quote = 0x22;
const comma = 0x2c;
const minus = 0x2d;
const dot = 0x2e;
const zero = 0x30;
const nine = 0x39;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const upperE = 0x45;
const lowerE = 0x65;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * Handling of int64 values that a double cannot represent. Kubernetes keeps them. Code that calculates with numbers of
 * an object cannot, so it refuses them instead of silently changing them. Beyond int64, Kubernetes and this parser use
 * doubles.
 */
export type LargeIntegers = 'refuse' | 'keep';

/**
 * Parses JSON like JSON.parse, and detects duplicate fields, excessive nesting and integers that a JavaScript number
 * cannot hold.
 */
export function parseJsonStrict(text: string, largeIntegers: LargeIntegers = 'refuse'): StrictJson {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    throw new JsonParseError(error instanceof Error ? error.message : String(error), { cause: error });
  }
  const { fields, large } = scan(text);
  if (large?.[0] && largeIntegers === 'refuse') throw tooLarge(text.slice(...large[0]));
  return {
    value: large ? parseWithLarge(text, large) : value,
    duplicateFields: fields === countFields(value) ? [] : findDuplicateFields(text),
  };
}

/** Parses JSON like JSON.parse but keeps every int64. For trusted text: our own or the response of another API. */
export function parseJson(text: string): JsonValue {
  if (!hasManyDigits(text)) return JSON.parse(text) as JsonValue;
  const { large } = scan(text);
  return large ? parseWithLarge(text, large) : (JSON.parse(text) as JsonValue);
}

function isDigit(code: number): boolean {
  return code >= zero && code <= nine;
}

/**
 * Reports whether the text may contain as many digits in a row as a large integer has. It is enough to check every n-th
 * position, where n is that number of digits.
 */
function hasManyDigits(text: string): boolean {
  for (let place = shortestUnsafeInteger - 1; place < text.length; place += shortestUnsafeInteger) {
    if (!isDigit(text.charCodeAt(place))) continue;
    let from = place;
    let to = place + 1;
    while (isDigit(text.charCodeAt(from - 1))) from--;
    while (isDigit(text.charCodeAt(to))) to++;
    if (to - from >= shortestUnsafeInteger) return true;
    place = to - 1;
  }
  return false;
}

/** Position of a number in a text. */
type Span = readonly [start: number, end: number];

/**
 * Parses numbers at the given positions as bigints: replaces them by unique strings first, and converts these strings
 * after parsing.
 */
function parseWithLarge(text: string, large: readonly Span[]): JsonValue {
  const mark = freshMark();
  let marked = '';
  let from = 0;
  for (const [start, end] of large) {
    marked += `${text.slice(from, start)}"${mark}${text.slice(start, end)}"`;
    from = end;
  }
  return JSON.parse(marked + text.slice(from), (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  ) as JsonValue;
}

/** Creates a random prefix for strings that stand for large integers. The author of the text cannot predict it. */
export function freshMark(): string {
  return `int64:${crypto.randomUUID()}:`;
}

interface Scanned {
  /** number of fields of all objects in the text */
  fields: number;
  /** positions of integers that a double would change; undefined if there are none */
  large: Span[] | undefined;
}

/** Walks over valid JSON once. */
function scan(text: string): Scanned {
  let large: Span[] | undefined;
  const { length } = text;
  let fields = 0;
  let depth = 0;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code === quote) {
      const end = stringEnd(text, i);
      // Assigning `__proto__` on a plain object changes its prototype instead of adding a field.
      if (end - i >= 10 && isProto(text, i, end)) throw new JsonParseError('a field cannot be called "__proto__"');
      i = end;
    } else if (code === colon) {
      fields++;
    } else if (code === openBrace || code === openBracket) {
      if (++depth > maxJsonDepth) throw new JsonParseError('exceeded max depth');
    } else if (code === closeBrace || code === closeBracket) {
      depth--;
    } else if (code <= nine && (code >= zero || code === minus)) {
      const end = numberEnd(text, i);
      if (end - i >= shortestUnsafeInteger && isLargeInteger(text.slice(i, end))) {
        large ??= [];
        large.push([i, end]);
      }
      i = end - 1;
    }
  }
  return { fields, large };
}

/** Position of the quote that ends the string starting at `start`. */
function stringEnd(text: string, start: number): number {
  for (let i = text.indexOf('"', start + 1); ; i = text.indexOf('"', i + 1)) {
    if (text.charCodeAt(i - 1) !== backslash) return i;
    let slashes = 1;
    while (text.charCodeAt(i - 1 - slashes) === backslash) slashes++;
    if (slashes % 2 === 0) return i;
  }
}

function numberEnd(text: string, start: number): number {
  let i = start + 1;
  for (; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const inNumber =
      (code >= zero && code <= nine) ||
      code === dot ||
      code === lowerE ||
      code === upperE ||
      code === minus ||
      code === 0x2b;
    if (!inNumber) break;
  }
  return i;
}

const wholeNumber = /^-?\d+$/;
/** length of the longest int64, including the sign */
const longestInt64 = 20;
const minInt64 = -(2n ** 63n);
const maxInt64 = 2n ** 63n - 1n;

/** Reports whether a text is an int64 that a double would change. */
function isLargeInteger(text: string): boolean {
  // Converting very many digits to a bigint is slow, and no int64 has that many.
  if (text.length > longestInt64 || !wholeNumber.test(text) || String(Number(text)) === text) return false;
  const exact = BigInt(text);
  return exact >= minInt64 && exact <= maxInt64;
}

/** Converts a whole number to a JSON value. An int64 that a double cannot represent is kept or refused. */
export function integerValue(exact: bigint, largeIntegers: LargeIntegers): number | bigint {
  const text = String(exact);
  if (!isLargeInteger(text)) return Number(exact);
  if (largeIntegers === 'refuse') throw tooLarge(text);
  return exact;
}

function tooLarge(text: string): JsonParseError {
  return new JsonParseError(
    `the integer ${text} is too large to be kept exactly; the limit is ${Number.MAX_SAFE_INTEGER}`,
  );
}

const underscore = 0x5f;

function isProto(text: string, start: number, end: number): boolean {
  const first = text.charCodeAt(start + 1);
  if (first !== underscore && first !== backslash) return false;
  let after = end + 1;
  while (text.charCodeAt(after) <= 0x20) after++;
  return text.charCodeAt(after) === colon && JSON.parse(text.slice(start, end + 1)) === '__proto__';
}

function countFields(value: JsonValue): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') count += countFields(item);
  } else if (isJsonObject(value)) {
    for (const key in value) {
      count++;
      const member = value[key];
      if (typeof member === 'object') count += countFields(member);
    }
  }
  return count;
}

/** Position of a walk within an object or array. */
interface Level {
  path: string;
  /** fields seen so far; undefined for an array */
  seen: Set<string> | undefined;
  field: string;
  index: number;
}

function fieldPath(level: Level): string {
  return level.path === '' ? level.field : `${level.path}.${level.field}`;
}

/** Path of the next value of the walk. */
function nextPath(level: Level | undefined): string {
  if (!level) return '';
  return level.seen ? fieldPath(level) : `${level.path}[${level.index}]`;
}

/** Returns the paths of duplicate fields in text order, each once. Runs only if there are duplicates. */
function findDuplicateFields(text: string): string[] {
  const found = new Set<string>();
  walkFields(text, (path, again) => {
    if (again && found.size < maxReportedDuplicates) found.add(path);
  });
  return [...found];
}

/** A duplicate or unknown field. */
export interface FieldProblem {
  path: string;
  kind: 'duplicate' | 'unknown';
}

/** Returns duplicate fields and the fields in `unknown`, in text order. */
export function fieldProblemsInOrder(text: string, unknown: ReadonlySet<string>): FieldProblem[] {
  const duplicates = new Set<string>();
  const problems: FieldProblem[] = [];
  walkFields(text, (path, again) => {
    if (!again) {
      if (unknown.has(path)) problems.push({ path, kind: 'unknown' });
    } else if (!duplicates.has(path)) {
      duplicates.add(path);
      problems.push({ path, kind: 'duplicate' });
    }
  });
  return problems;
}

/** Calls back with the path of every field of valid JSON, and whether it is a duplicate. */
function walkFields(text: string, visit: (path: string, again: boolean) => void): void {
  const levels: Level[] = [];
  let expectsField = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const level = levels[levels.length - 1];
    if (code === quote) {
      const end = stringEnd(text, i);
      if (expectsField && level?.seen) {
        level.field = JSON.parse(text.slice(i, end + 1)) as string;
        visit(fieldPath(level), level.seen.has(level.field));
        level.seen.add(level.field);
        expectsField = false;
      }
      i = end;
    } else if (code === openBrace) {
      levels.push({ path: nextPath(level), seen: new Set(), field: '', index: 0 });
      expectsField = true;
    } else if (code === openBracket) {
      levels.push({ path: nextPath(level), seen: undefined, field: '', index: 0 });
    } else if (code === closeBrace || code === closeBracket) {
      levels.pop();
    } else if (code === comma && level) {
      if (level.seen) expectsField = true;
      else level.index++;
    }
  }
}
