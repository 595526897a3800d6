/** A step of a JSONPath. Each step maps a list of values to another list. */
export type PathStep =
  | { kind: 'field'; name: string }
  | { kind: 'wildcard' }
  | { kind: 'recursive' }
  /** `end` is undefined for "to the end"; a single index has `end` = `start` + 1 and `single` set */
  | { kind: 'slice'; start: number; end: number | undefined; step: number; single: boolean }
  | { kind: 'union'; branches: PathStep[][] }
  | { kind: 'filter'; left: PathStep[]; operator: FilterOperator; right: PathStep[] }
  | { kind: 'literal'; value: string | number | boolean };

export type FilterOperator = '==' | '!=' | '<' | '>' | '<=' | '>=' | 'exists';

/** The expression is invalid in the Kubernetes dialect. */
export class JsonPathError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'JsonPathError';
  }
}

const operators = new Set<string>(['==', '!=', '<', '>', '<=', '>=']);
const terminators = new Set(['', ' ', '\t', '\r', '\n', '.', ',', '[', ']', '$', '@', '{', '}']);

/**
 * Parses one expression, with or without braces. Follows the dialect of client-go and its quirks: a quoted key in
 * brackets is parsed as a path, so dots in it need a backslash.
 */
export function parseJsonPath(expression: string): PathStep[] {
  let text = expression.trim();
  if (text.startsWith('{')) {
    if (!text.endsWith('}')) throw new JsonPathError('unclosed action');
    text = text.slice(1, -1);
  }
  return parseAction(text);
}

function parseAction(text: string): PathStep[] {
  const steps: PathStep[] = [];
  let at = 0;
  while (at < text.length) {
    const char = text.charAt(at);
    if (text.startsWith('[?(', at)) at = parseFilter(text, at, steps);
    else if (text.startsWith('..', at)) at = parseRecursive(text, at, steps);
    else if (char === ' ' || char === '@' || char === '$') at++;
    else if (char === '[') at = parseBracket(text, at, steps);
    else if (char === '"' || char === "'") at = parseQuoted(text, at, steps);
    else if (char === '.') at = parseField(text, at + 1, steps);
    else if (/[-+\d]/.test(char)) at = parseNumber(text, at, steps);
    else if (/[\p{L}_]/u.test(char)) at = parseWord(text, at, steps);
    else if (char === '\n' || char === '\r') throw new JsonPathError('unclosed action');
    else throw new JsonPathError(`unrecognized character in action: ${describeRune(text, at)}`);
  }
  return steps;
}

function describeRune(text: string, at: number): string {
  const rune = text.codePointAt(at) ?? 0;
  return `U+${rune.toString(16).toUpperCase().padStart(4, '0')} '${String.fromCodePoint(rune)}'`;
}

function parseField(text: string, start: number, steps: PathStep[]): number {
  let at = start;
  while (!terminators.has(text[at] ?? '')) at += text[at] === '\\' ? 2 : 1;
  at = Math.min(at, text.length);
  const name = text.slice(start, at);
  steps.push(name === '*' ? { kind: 'wildcard' } : { kind: 'field', name: name.replaceAll('\\', '') });
  return at;
}

function parseRecursive(text: string, start: number, steps: PathStep[]): number {
  if (steps.at(-1)?.kind === 'recursive') throw new JsonPathError('invalid multiple recursive descent');
  steps.push({ kind: 'recursive' });
  const at = start + 2;
  return /[\p{L}\d_]/u.test(text[at] ?? '') ? parseField(text, at, steps) : at;
}

function parseWord(text: string, start: number, steps: PathStep[]): number {
  let at = start;
  while (!terminators.has(text[at] ?? '')) at++;
  const word = text.slice(start, at);
  if (word !== 'true' && word !== 'false') throw new JsonPathError(`unrecognized identifier ${word}`);
  steps.push({ kind: 'literal', value: word === 'true' });
  return at;
}

function parseNumber(text: string, start: number, steps: PathStep[]): number {
  const [match = ''] = /^[-+]?[\d.]*/.exec(text.slice(start)) ?? [];
  const value = Number(match);
  if (match === '' || !/\d/.test(match) || Number.isNaN(value)) throw new JsonPathError(`cannot parse number ${match}`);
  steps.push({ kind: 'literal', value });
  return start + match.length;
}

function parseQuoted(text: string, start: number, steps: PathStep[]): number {
  const quote = text.charAt(start);
  let at = start + 1;
  while (at < text.length && (text[at] !== quote || text[at - 1] === '\\')) at++;
  if (at >= text.length) throw new JsonPathError('unterminated quoted string');
  steps.push({ kind: 'literal', value: unquote(text.slice(start + 1, at)) });
  return at + 1;
}

const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', '\\': '\\', '"': '"', "'": "'" };

function unquote(text: string): string {
  return text.replace(/\\(.)/gs, (whole, char: string) => escapes[char] ?? whole);
}

function parseBracket(text: string, start: number, steps: PathStep[]): number {
  const end = text.indexOf(']', start);
  if (end < 0) throw new JsonPathError('unterminated array');
  const content = text.slice(start + 1, end);
  const parts = content.split(',');
  if (parts.length > 1) {
    steps.push({ kind: 'union', branches: parts.map((part) => parseAction(`[${part.trim()}]`)) });
    return end + 1;
  }
  const key = /^'([^']*)'$/.exec(content);
  if (key) {
    steps.push(...parseAction(`.${key[1]}`));
    return end + 1;
  }
  steps.push(parseSlice(content === '*' ? ':' : content));
  return end + 1;
}

function parseSlice(text: string): PathStep {
  const match = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(text);
  if (!match) throw new JsonPathError(`invalid array index ${text}`);
  const start = match[1] === '' || match[1] === undefined ? 0 : Number(match[1]);
  const step = match[3] === undefined || match[3] === ':' ? 1 : Number(match[3].slice(1));
  const single = match[2] === undefined;
  const end = single ? start + 1 : match[2] === ':' ? undefined : Number(match[2]?.slice(1));
  for (const number of [start, step, end ?? 0]) {
    if (Number.isNaN(number)) throw new JsonPathError(`array index ${text} is not a number`);
  }
  return { kind: 'slice', start, end, step, single };
}

function parseFilter(text: string, start: number, steps: PathStep[]): number {
  const from = start + 3;
  let at = from;
  let quote = '';
  for (; ; at++) {
    const char = text[at];
    if (char === undefined || char === '\n') throw new JsonPathError('unterminated filter');
    if (quote !== '') {
      if (char === quote && text[at - 1] !== '\\') quote = '';
    } else if (char === '"' || char === "'") quote = char;
    else if (char === ')') break;
  }
  if (text[at + 1] !== ']') throw new JsonPathError('unclosed array expect ]');
  const content = text.slice(from, at);
  const [, left, operator, right] = /^([^!<>=]+)([!<>=]+)(.+)$/s.exec(content) ?? [];
  if (left === undefined || operator === undefined || right === undefined) {
    steps.push({ kind: 'filter', left: parseAction(content), operator: 'exists', right: [] });
  } else {
    if (!operators.has(operator)) throw new JsonPathError(`unrecognized filter operator ${operator}`);
    steps.push({
      kind: 'filter',
      left: parseAction(left),
      operator: operator as FilterOperator,
      right: parseAction(right),
    });
  }
  return at + 2;
}
