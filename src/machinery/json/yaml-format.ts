import type { JsonObject, JsonPrimitive, JsonValue } from './value.ts';
import { foldScalar, type ScalarStyle } from './yaml-fold.ts';
import { formatGoFloat, resolvePlainScalar } from './yaml-scalar.ts';

interface Output {
  readonly lines: string[];
  readonly width: number;
  /** indent lists by two columns from their key */
  readonly indentsLists: boolean;
}

/** Formats a value like `kubectl -o yaml`: sorted keys, lists at the level of their key, quotes only where needed. */
export function formatYaml(value: JsonValue): string {
  return formatFoldedYaml(value, Number.POSITIVE_INFINITY);
}

/** Like formatYaml, but folds long text at spaces, as Helm's `toYaml` does at 80 columns. */
export function formatFoldedYaml(value: JsonValue, width: number): string {
  return write(value, { lines: [], width, indentsLists: false });
}

/** Like formatYaml, but indents lists, as Helm's `toYamlPretty` does. */
export function formatPrettyYaml(value: JsonValue): string {
  return write(value, { lines: [], width: Number.POSITIVE_INFINITY, indentsLists: true });
}

function write(value: JsonValue, out: Output): string {
  if (isCollection(value) && !isEmpty(value)) writeCollection(out, value, '', '');
  else writeScalar(out, value, '', '');
  return `${out.lines.join('\n')}\n`;
}

function isCollection(value: JsonValue | undefined): value is JsonObject | JsonValue[] {
  return typeof value === 'object' && value !== null;
}

function isEmpty(value: JsonObject | JsonValue[]): boolean {
  return Array.isArray(value) ? value.length === 0 : definedKeys(value).length === 0;
}

function definedKeys(object: JsonObject): string[] {
  return Object.keys(object).filter((key) => object[key] !== undefined);
}

/** `lead` starts the first line: the indent plus a `- ` for each enclosing list. `indent` starts the other lines. */
function writeCollection(out: Output, value: JsonObject | JsonValue[], lead: string, indent: string): void {
  let start = lead;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (isCollection(item) && !isEmpty(item)) writeCollection(out, item, `${start}- `, `${indent}  `);
      else writeScalar(out, item, `${start}- `, `${indent}  `);
      start = indent;
    }
    return;
  }
  for (const key of definedKeys(value).sort(compareKeys)) {
    const member = value[key] ?? null;
    // A key too long for one line has its colon on the line below.
    const isSimple = Buffer.byteLength(key) <= maxSimpleKey && !breaks.test(key);
    if (!isSimple) writeScalar(out, key, `${start}? `, `${indent}  `);
    const before = isSimple ? `${start}${formatKey(key)}:` : `${indent}:`;
    if (!isCollection(member) || isEmpty(member)) {
      writeScalar(out, member, `${before} `, `${indent}  `);
    } else if (!isSimple) {
      writeCollection(out, member, `${before} `, `${indent}  `);
    } else {
      out.lines.push(before);
      const below = Array.isArray(member) && !out.indentsLists ? indent : `${indent}  `;
      writeCollection(out, member, below, below);
    }
    start = indent;
  }
}

const maxSimpleKey = 128;

function writeScalar(out: Output, value: JsonValue, before: string, indent: string): void {
  if (isCollection(value)) out.lines.push(`${before}${Array.isArray(value) ? '[]' : '{}'}`);
  else if (typeof value === 'string' && value.includes('\n') && mayBeBlock(value))
    writeBlock(out, value, before, indent);
  else if (typeof value !== 'string') out.lines.push(`${before}${formatPrimitive(value)}`);
  else if (before.length + value.length <= out.width || before.endsWith('? '))
    out.lines.push(`${before}${formatString(value)}`);
  else
    out.lines.push(
      `${before}${formatString(value, { column: [...before].length, indent: indent || '  ', width: out.width })}`,
    );
}

/** Writes a block scalar with the indicators that keep leading spaces and trailing line breaks. */
function writeBlock(out: Output, text: string, before: string, indent: string): void {
  // At the top level a block is also indented by two columns.
  const inner = indent === '' ? '  ' : indent;
  const hint = /^[ \n]/.test(text) ? '2' : '';
  const chomp = !text.endsWith('\n') ? '-' : text.endsWith('\n\n') || text === '\n' ? '+' : '';
  out.lines.push(`${before}|${hint}${chomp}`);
  const content = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
  for (const line of content) out.lines.push(line === '' ? '' : `${inner}${line}`);
}

function formatPrimitive(value: JsonPrimitive): string {
  if (typeof value === 'string') return formatString(value);
  return typeof value === 'number' ? formatNumber(value) : String(value);
}

function formatNumber(value: number): string {
  const isInteger = Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 64;
  return isInteger ? String(value) : formatGoFloat(value);
}

/** Unlike go-yaml, `<<` is quoted, because it would be read back as a merge key. */
function formatKey(key: string): string {
  return key === '<<' ? '"<<"' : formatString(key);
}

const breaks = /[\n\r\u0085\u2028\u2029]/;
const base60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
const timestampLike = /^\d{4}-\d{1,2}-\d{1,2}(?:$|[Tt ]|\s)/;
/** characters that must be escaped: control characters, tabs, and all beyond the basic plane */
const special = /[^\n\u0020-\u007e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/u;

interface Place {
  readonly column: number;
  readonly indent: string;
  readonly width: number;
}

function formatString(text: string, place?: Place): string {
  const fold = (style: ScalarStyle, written: (rune: string) => string, column: number): string =>
    place
      ? foldScalar(text, style, written, { ...place, column: place.column + column })
      : [...text].map(written).join('');
  if (meansItself(text)) {
    if (mayBePlain(text)) return place ? fold('plain', (rune) => rune, 0) : text;
    if (mayBeSingleQuoted(text)) return `'${fold('single', (rune) => (rune === "'" ? "''" : rune), 1)}'`;
  }
  return place ? `"${fold('double', (rune) => rune.replace(escaped, escapeRune), 1)}"` : doubleQuoted(text);
}

/** Reports whether unquoted text is read back as the same string, not as a number, boolean, date or null. */
function meansItself(text: string): boolean {
  if (text.includes('\n')) return false;
  if (base60.test(text) || isTimestamp(text)) return false;
  try {
    return typeof resolvePlainScalar(text) === 'string';
  } catch {
    return false;
  }
}

/** Go accepts four forms of a date. Anything else stays a string. */
function isTimestamp(text: string): boolean {
  if (!timestampLike.test(text)) return false;
  const match =
    /^(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt]| )(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.\d+)?(Z|[-+]\d{2}:\d{2})?)?$/.exec(
      text,
    );
  if (!match) return false;
  const [, year, month, day, hour = '0', minute = '0', second = '0'] = match;
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return (
    date.getUTCMonth() === Number(month) - 1 &&
    date.getUTCDate() === Number(day) &&
    Number(hour) < 24 &&
    Number(minute) < 60 &&
    Number(second) < 60
  );
}

/** Reports whether the text contains no indicator in block context. */
function mayBePlain(text: string): boolean {
  if (text.startsWith('---') || text.startsWith('...')) return false;
  if (/^[ ]|[ ]$/.test(text) || breaks.test(text) || special.test(text)) return false;
  if (/^[#,[\]{}&*!|>'"%@`]/.test(text) || /^[?:-](?:[ \t]|$)/.test(text)) return false;
  return !/:(?:[ \t]|$)|[ \t]#/.test(text);
}

function mayBeSingleQuoted(text: string): boolean {
  return !special.test(text) && !/[ ][\n\r\u0085\u2028\u2029]|[\n\r\u0085\u2028\u2029][ ]/.test(text);
}

function mayBeBlock(text: string): boolean {
  return !special.test(text) && !/[ ](?:$|[\n\r\u0085\u2028\u2029])/.test(text) && !text.endsWith(' ');
}

const shortEscapes: Record<string, string> = {
  '\0': '0',
  '\x07': 'a',
  '\b': 'b',
  '\t': 't',
  '\n': 'n',
  '\v': 'v',
  '\f': 'f',
  '\r': 'r',
  '\x1b': 'e',
  '"': '"',
  '\\': '\\',
  '\u0085': 'N',
  '\u2028': 'L',
  '\u2029': 'P',
};
const escaped = /["\\\n\u0085\u2028\u2029]|[^\n\u0020-\u007e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/gu;

function doubleQuoted(text: string): string {
  return `"${text.replace(escaped, escapeRune)}"`;
}

function escapeRune(char: string): string {
  const short = shortEscapes[char];
  if (short !== undefined) return `\\${short}`;
  const code = char.codePointAt(0) ?? 0;
  const hex = code.toString(16).toUpperCase();
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}

const letter = /\p{L}/u;
const digit = /\p{Nd}/u;

/** Compares keys in go-yaml's order: embedded numbers by value, letters after everything else. */
function compareKeys(a: string, b: string): number {
  const left = [...a];
  const right = [...b];
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) {
    const l = left[i] ?? '';
    const r = right[i] ?? '';
    if (l === r) continue;
    const leftIsLetter = letter.test(l);
    const rightIsLetter = letter.test(r);
    if (leftIsLetter !== rightIsLetter) return rightIsLetter ? -1 : 1;
    if (!leftIsLetter) {
      const byNumber = compareNumbersAt(left, right, i);
      if (byNumber !== 0) return byNumber;
    }
    return (l.codePointAt(0) ?? 0) - (r.codePointAt(0) ?? 0);
  }
  return left.length - right.length;
}

/** Compares the numbers in which two keys differ, starting at the first differing character. */
function compareNumbersAt(left: string[], right: string[], at: number): number {
  // Digits before a differing zero make it part of a longer number, where zeros count.
  let carry = 0n;
  if (left[at] === '0' || right[at] === '0') {
    for (let i = at - 1; i >= 0 && digit.test(left[i] ?? ''); i--) {
      if (left[i] !== '0') {
        carry = 1n;
        break;
      }
    }
  }
  const [leftNumber, leftEnd] = numberAt(left, at, carry);
  const [rightNumber, rightEnd] = numberAt(right, at, carry);
  if (leftNumber !== rightNumber) return leftNumber < rightNumber ? -1 : 1;
  return leftEnd - rightEnd;
}

function numberAt(chars: string[], start: number, carry: bigint): [bigint, number] {
  let value = carry;
  let end = start;
  for (; end < chars.length; end++) {
    const char = chars[end] ?? '';
    if (!digit.test(char)) break;
    value = BigInt.asIntN(64, value * 10n + BigInt((char.codePointAt(0) ?? 0) - 0x30));
  }
  return [value, end];
}
