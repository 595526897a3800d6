import { isJsonObject, type JsonValue } from './value.ts';

/** Text that is not acceptable JSON; the message says why. */
export class JsonParseError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'JsonParseError';
  }
}

export interface StrictJson {
  value: JsonValue;
  /** paths of fields given more than once, such as `spec.ports[0].name`; the last value wins, as upstream */
  duplicateFields: string[];
}

/**
 * How deep a value may nest. kube-apiserver allows 10,000 with stacks that grow; here every later walk over the value recurses
 * on a fixed stack, of which the greediest (server-side apply) uses up to a kilobyte per level. No real object comes near.
 */
export const maxJsonDepth = 500;

/**
 * Whether a value nests deeper than `limit`; found without recursion, so that it can be asked of any value. `looked` is given
 * the number of members of each value it looks into.
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

/** kube-apiserver stops collecting complaints about one body after this many. */
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
 * What becomes of an int64 that no double holds. Kubernetes keeps them; code that calculates with the numbers of an object
 * cannot, and has them refused instead of altered in silence. Beyond int64 Kubernetes itself turns to doubles, and so do we.
 */
export type LargeIntegers = 'refuse' | 'keep';

/** JSON.parse that also notices duplicate fields, excessive nesting, and integers a JavaScript number cannot hold. */
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

/** JSON.parse that keeps every int64, of text that is trusted to be JSON: what we wrote ourselves or another API answered. */
export function parseJson(text: string): JsonValue {
  if (!hasManyDigits(text)) return JSON.parse(text) as JsonValue;
  const { large } = scan(text);
  return large ? parseWithLarge(text, large) : (JSON.parse(text) as JsonValue);
}

function isDigit(code: number): boolean {
  return code >= zero && code <= nine;
}

/** Whether there are as many digits in a row as a large integer has: then one of them is at every so-many-th place. */
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

/** Where in a text a number is. */
type Span = readonly [start: number, end: number];

/** The numbers at the given places become strings that nothing else in the text looks like, and those become bigints. */
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

/** Begins a string that stands for a large integer. Drawn anew each time: whoever wrote the text cannot have it in there. */
export function freshMark(): string {
  return `int64:${crypto.randomUUID()}:`;
}

interface Scanned {
  /** how many fields its objects have */
  fields: number;
  /** where integers are that a double would change; undefined when there are none */
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
      // Setting `__proto__` on a plain object changes what it inherits instead of adding a field.
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
/** the sign and digits of the longest int64 */
const longestInt64 = 20;
const minInt64 = -(2n ** 63n);
const maxInt64 = 2n ** 63n - 1n;

/** Whether a text is an int64 that a double would change. */
function isLargeInteger(text: string): boolean {
  // Reading very many digits exactly takes long, and no int64 has them.
  if (text.length > longestInt64 || !wholeNumber.test(text) || String(Number(text)) === text) return false;
  const exact = BigInt(text);
  return exact >= minInt64 && exact <= maxInt64;
}

/** A whole number as JSON values have it; an int64 that no double holds is kept or refused. */
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

/** An object or array being walked over, and where in it the walk is. */
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

/** Where in a value the walk is: the path of what comes next. */
function nextPath(level: Level | undefined): string {
  if (!level) return '';
  return level.seen ? fieldPath(level) : `${level.path}[${level.index}]`;
}

/** The paths of duplicates, in the order of the text, each once. Runs only when it is known that there are some. */
function findDuplicateFields(text: string): string[] {
  const found = new Set<string>();
  walkFields(text, (path, again) => {
    if (again && found.size < maxReportedDuplicates) found.add(path);
  });
  return [...found];
}

/** Something wrong with a field of a text. */
export interface FieldProblem {
  path: string;
  kind: 'duplicate' | 'unknown';
}

/** Duplicate fields and those among `unknown`, in the order in which a reader of the text comes upon them. */
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

/** Calls back with the path of every field of valid JSON, and whether the same object had it before. */
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
