import {
  anyOf,
  type CharacterTest,
  classEscapes,
  ignoringCase,
  isAny,
  isNoLineBreak,
  namedClasses,
  not,
  oneOf,
} from './characters.ts';
import { type Node, PatternError } from './syntax.ts';

export interface PatternOptions {
  readonly ignoreCase?: boolean;
  /** a dot also matches line breaks */
  readonly dotAll?: boolean;
}

const maxDepth = 100;
const maxRepeat = 1_000;
const controls: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', f: '\f', v: '\v', '0': '\0' };

/** Parses a pattern in JavaScript or extended POSIX syntax. Throws PatternError. */
export function parsePattern(source: string, options: PatternOptions = {}): { readonly root: Node; groups: number } {
  let at = 0;
  let groups = 0;
  let depth = 0;
  const one = (test: CharacterTest): Node => ({ kind: 'char', test: options.ignoreCase ? ignoringCase(test) : test });
  const character = (char: string): Node => one((code) => code === char.charCodeAt(0));

  const choice = (): Node => {
    if (++depth > maxDepth) throw new PatternError('regular expression is nested too deep');
    const parts = [sequence()];
    while (source[at] === '|') {
      at++;
      parts.push(sequence());
    }
    depth--;
    const [only, another] = parts;
    return only && !another ? only : { kind: 'choice', parts };
  };

  const sequence = (): Node => {
    const parts: Node[] = [];
    while (at < source.length && source[at] !== '|' && source[at] !== ')') parts.push(repeated(atom()));
    const [first, second] = parts;
    if (!first) return { kind: 'empty' };
    return second ? { kind: 'sequence', parts } : first;
  };

  const repeated = (first: Node): Node => {
    let inner = first;
    for (let count = 0; ; count++) {
      const times = repetition();
      if (!times) return inner;
      if (count >= maxDepth) throw new PatternError('regular expression is nested too deep');
      const isLazy = source[at] === '?';
      if (isLazy) at++;
      inner = { kind: 'repeat', inner, ...times, isLazy };
    }
  };

  const repetition = (): { min: number; max: number } | undefined => {
    switch (source[at]) {
      case '*':
        at++;
        return { min: 0, max: Number.POSITIVE_INFINITY };
      case '+':
        at++;
        return { min: 1, max: Number.POSITIVE_INFINITY };
      case '?':
        at++;
        return { min: 0, max: 1 };
    }
    const braces = /\{(\d{1,9})(,?)(\d{0,9})\}/y;
    braces.lastIndex = at;
    const found = braces.exec(source);
    if (!found) return undefined;
    at = braces.lastIndex;
    const min = Number(found[1]);
    const max = found[2] === '' ? min : found[3] === '' ? Number.POSITIVE_INFINITY : Number(found[3]);
    if (max < min) throw new PatternError('invalid content of \\{\\}');
    if (min > maxRepeat || (max !== Number.POSITIVE_INFINITY && max > maxRepeat)) {
      throw new PatternError('regular expression too big');
    }
    return { min, max };
  };

  const atom = (): Node => {
    const char = source.charAt(at++);
    switch (char) {
      case '(':
        return group();
      case '[':
        return one(brackets());
      case '.':
        return { kind: 'char', test: options.dotAll ? isAny : isNoLineBreak };
      case '^':
        return { kind: 'assertion', at: 'start' };
      case '$':
        return { kind: 'assertion', at: 'end' };
      case '*':
      case '+':
      case '?':
        throw new PatternError(`nothing to repeat at "${source.slice(at - 1)}"`);
      case '\\':
        return escaped();
      default:
        return character(char);
    }
  };

  const group = (): Node => {
    let index: number | undefined;
    if (source.startsWith('?:', at)) at += 2;
    else if (source[at] === '?') throw new PatternError('look-around and named groups are not supported');
    else index = ++groups;
    const inner = choice();
    if (source[at++] !== ')') throw new PatternError('unmatched ( or \\(');
    return { kind: 'group', index, inner };
  };

  const escaped = (): Node => {
    const char = source[at++];
    if (char === undefined) throw new PatternError('trailing backslash');
    const test = classEscapes[char];
    if (test) return one(test);
    if (char === 'b' || char === '<' || char === '>') return { kind: 'assertion', at: 'boundary' };
    if (char === 'B') return { kind: 'assertion', at: 'inside' };
    if (/[1-9]/.test(char)) throw new PatternError('back-references are not supported');
    return character(coded(char) ?? controls[char] ?? char);
  };

  /** Parses `\x41` and `\u0041`. */
  const coded = (char: string): string | undefined => {
    const digits = char === 'x' ? 2 : char === 'u' ? 4 : 0;
    const hex = source.slice(at, at + digits);
    if (digits === 0 || hex.length < digits || !/^[\da-fA-F]+$/.test(hex)) return undefined;
    at += digits;
    return String.fromCharCode(Number.parseInt(hex, 16));
  };

  const brackets = (): CharacterTest => {
    const isNegated = source[at] === '^';
    if (isNegated) at++;
    const tests: CharacterTest[] = [];
    let singles = '';
    for (let isFirst = true; ; isFirst = false) {
      const char = source[at];
      if (char === undefined) throw new PatternError('unmatched [, [^, [:, [., or [=');
      if (char === ']' && !isFirst) break;
      const named = /\[:([a-z]+):\]/y;
      named.lastIndex = at;
      const name = char === '[' ? named.exec(source)?.[1] : undefined;
      if (name !== undefined) {
        const test = namedClasses[name];
        if (!test) throw new PatternError('invalid character class name');
        tests.push(test);
        at = named.lastIndex;
        continue;
      }
      at++;
      const first = char === '\\' ? bracketEscape() : char;
      if (typeof first !== 'string') tests.push(first);
      else if (source[at] === '-' && source[at + 1] !== ']' && source[at + 1] !== undefined) {
        at++;
        const next = source.charAt(at++);
        const last = next === '\\' ? bracketEscape() : next;
        if (typeof last !== 'string' || last < first) throw new PatternError('invalid range end');
        const [from, to] = [first.charCodeAt(0), last.charCodeAt(0)];
        tests.push((code) => code >= from && code <= to);
      } else singles += first;
    }
    at++;
    const test = anyOf(oneOf(singles), ...tests);
    return isNegated ? not(options.ignoreCase ? ignoringCase(test) : test) : test;
  };

  const bracketEscape = (): string | CharacterTest => {
    const char = source[at];
    if (char === undefined) return '\\';
    at++;
    return classEscapes[char] ?? coded(char) ?? (char === 'b' ? '\b' : undefined) ?? controls[char] ?? char;
  };

  const root = choice();
  if (at < source.length) throw new PatternError('unmatched ) or \\)');
  return { root, groups };
}
