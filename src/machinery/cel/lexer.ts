import { must } from '../errors/must.ts';
import { CelSyntaxError } from './source-error.ts';
import { Uint } from './values.ts';

export type Token =
  | { kind: 'end'; text: ''; at: number }
  | { kind: 'identifier'; text: string; at: number }
  | { kind: 'operator'; text: string; at: number }
  | { kind: 'literal'; text: string; at: number; value: string | bigint | number | Uint | Uint8Array };

const operators = /^(?:==|!=|<=|>=|&&|\|\||[-+*/%<>!?:.,()[\]{}=])/;
const number =
  /^(?:0x([0-9a-fA-F]+)([uU]?)|(\d+\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+|\.\d+(?:[eE][-+]?\d+)?)|(\d+)([uU]?))/;
const stringStart = /^([rR][bB]?|[bB][rR]?)?("""|'''|"|')/;
const maxTokens = 20_000;

/** Splits an expression into tokens. Throws CelSourceError. */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < source.length) {
    const skipped = /^(?:[ \t\r\n\f]+|\/\/[^\n]*)/.exec(source.slice(at));
    if (skipped) {
      at += skipped[0].length;
      continue;
    }
    const token = nextToken(source, at);
    tokens.push(token);
    at += token.text.length;
    if (tokens.length > maxTokens) throw new CelSyntaxError(source, at, 'expression is too long');
  }
  tokens.push({ kind: 'end', text: '', at: source.length });
  return tokens;
}

function nextToken(source: string, at: number): Token {
  const rest = source.slice(at);
  const quote = stringStart.exec(rest);
  if (quote) return readString(source, at, quote[1] ?? '', quote[2] ?? '');
  const identifier = /^[_a-zA-Z][_a-zA-Z0-9]*/.exec(rest);
  if (identifier) return { kind: 'identifier', text: identifier[0], at };
  const digits = number.exec(rest);
  if (digits) return readNumber(source, at, digits);
  const operator = operators.exec(rest);
  if (operator && operator[0] !== '=') return { kind: 'operator', text: operator[0], at };
  throw new CelSyntaxError(source, at, `token recognition error at: '${rest[0]}'`);
}

const maxInt = 2n ** 63n;
const maxUint = 2n ** 64n;

function readNumber(source: string, at: number, match: RegExpExecArray): Token {
  const text = match[0];
  if (match[3] !== undefined) return { kind: 'literal', text, at, value: Number(match[3]) };
  const value = BigInt(match[1] === undefined ? (match[4] ?? '') : `0x${match[1]}`);
  const unsigned = (match[2] ?? '') !== '' || (match[5] ?? '') !== '';
  if (unsigned) {
    if (value >= maxUint) throw new CelSyntaxError(source, at, 'invalid uint literal');
    return { kind: 'literal', text, at, value: new Uint(value) };
  }
  // 2^63 is allowed here, because a minus may precede it.
  if (value > maxInt) throw new CelSyntaxError(source, at, 'invalid int literal');
  return { kind: 'literal', text, at, value };
}

function readString(source: string, at: number, prefix: string, quote: string): Token {
  const raw = /r/i.test(prefix);
  const bytes = /b/i.test(prefix);
  const start = at + prefix.length + quote.length;
  let end = start;
  for (;;) {
    if (end >= source.length || (quote.length === 1 && source[end] === '\n')) {
      throw new CelSyntaxError(source, at, `token recognition error at: '${source.slice(at, end)}'`);
    }
    if (source.startsWith(quote, end)) break;
    end += source[end] === '\\' && !raw ? 2 : 1;
  }
  const text = source.slice(at, end + quote.length);
  const content = source.slice(start, end);
  if (!bytes) return { kind: 'literal', text, at, value: raw ? content : unescapeString(source, at, content) };
  const value = raw ? Buffer.from(content) : unescapeBytes(source, at, content);
  return { kind: 'literal', text, at, value: new Uint8Array(value) };
}

const simpleEscapes: Record<string, string> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '`': '`',
  '?': '?',
};

const escapeSequence =
  /\\(?:([abfnrtv\\'"`?])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.|$))/gs;

function unescapeString(source: string, at: number, content: string): string {
  if (!content.includes('\\')) return content;
  return content.replace(escapeSequence, (_whole, ...[simple, hex, u4, u8, octal]: (string | undefined)[]) => {
    if (simple !== undefined) return must(simpleEscapes[simple], 'simpleEscapes[simple]');
    const code = octal === undefined ? Number.parseInt(hex ?? u4 ?? u8 ?? 'x', 16) : Number.parseInt(octal, 8);
    if (Number.isNaN(code) || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
      throw new CelSyntaxError(source, at, 'unable to unescape string');
    }
    return String.fromCodePoint(code);
  });
}

function unescapeBytes(source: string, at: number, content: string): Buffer {
  const parts: Buffer[] = [];
  let last = 0;
  for (const match of content.matchAll(escapeSequence)) {
    parts.push(Buffer.from(content.slice(last, match.index)));
    last = match.index + match[0].length;
    const [, simple, hex, , , octal] = match;
    if (simple !== undefined) parts.push(Buffer.from(must(simpleEscapes[simple], 'simpleEscapes[simple]')));
    else if (hex !== undefined) parts.push(Buffer.from([Number.parseInt(hex, 16)]));
    else if (octal !== undefined) parts.push(Buffer.from([Number.parseInt(octal, 8)]));
    else throw new CelSyntaxError(source, at, 'unable to unescape string');
  }
  parts.push(Buffer.from(content.slice(last)));
  return Buffer.concat(parts);
}
