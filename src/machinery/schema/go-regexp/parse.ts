import { must } from '../../errors/must.ts';
import {
  anyChar,
  anyCharButNewline,
  type CharClass,
  classOf,
  complement,
  foldRanges,
  normalizeRanges,
  perlClasses,
  posixClasses,
  unicodeProperty,
} from './char-class.ts';

export type Assertion = 'text-start' | 'text-end' | 'line-start' | 'line-end' | 'word-boundary' | 'no-word-boundary';

export type RegexpNode =
  | { kind: 'empty' }
  | { kind: 'char'; set: CharClass }
  | { kind: 'assert'; assertion: Assertion }
  | { kind: 'concat'; nodes: RegexpNode[] }
  | { kind: 'alternate'; nodes: RegexpNode[] }
  | { kind: 'capture'; node: RegexpNode }
  /** `max` is Infinity for an open end */
  | { kind: 'repeat'; node: RegexpNode; min: number; max: number; lazy: boolean };

/** The pattern is invalid RE2 syntax. The message has Go's wording. */
export class RegexpSyntaxError extends Error {
  constructor(problem: string, part: string) {
    super(`error parsing regexp: ${problem}: \`${part}\``);
    this.name = 'RegexpSyntaxError';
  }
}

interface Flags {
  ignoreCase: boolean;
  multiLine: boolean;
  dotAll: boolean;
  swapGreed: boolean;
}

const maxRepeat = 1000;
const maxDepth = 1000;

/** Parses Go's (RE2) regular expression syntax. Throws RegexpSyntaxError. */
export function parseRegexp(pattern: string): RegexpNode {
  const parser = new Parser(pattern);
  return parser.parse();
}

const copies = new WeakMap<RegexpNode, number>();

/** Number of copies that the most repeated part of a node is compiled to. */
function copiesIn(node: RegexpNode): number {
  const known = copies.get(node);
  if (known !== undefined) return known;
  let count = 1;
  if (node.kind === 'repeat') {
    const times = node.max === Number.POSITIVE_INFINITY ? node.min : node.max;
    count = Math.max(times, 1) * copiesIn(node.node);
  } else if (node.kind === 'capture') {
    count = copiesIn(node.node);
  } else if (node.kind === 'concat' || node.kind === 'alternate') {
    count = node.nodes.reduce((most, child) => Math.max(most, copiesIn(child)), 1);
  }
  copies.set(node, count);
  return count;
}

class Parser {
  readonly #pattern: string;
  #at = 0;
  #depth = 0;
  #flags: Flags = { ignoreCase: false, multiLine: false, dotAll: false, swapGreed: false };

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  parse(): RegexpNode {
    const node = this.#alternation();
    if (this.#at < this.#pattern.length) throw new RegexpSyntaxError('unexpected )', this.#pattern);
    return node;
  }

  #alternation(): RegexpNode {
    const branches = [this.#concatenation()];
    while (this.#pattern[this.#at] === '|') {
      this.#at++;
      branches.push(this.#concatenation());
    }
    const [first, second] = branches;
    return first && !second ? first : { kind: 'alternate', nodes: branches };
  }

  #concatenation(): RegexpNode {
    const nodes: RegexpNode[] = [];
    while (this.#at < this.#pattern.length) {
      const char = this.#pattern.charAt(this.#at);
      if (char === '|' || char === ')') break;
      const atom = this.#atom(char);
      if (atom) nodes.push(this.#quantified(atom));
    }
    const [first, second] = nodes;
    if (!first) return { kind: 'empty' };
    return second ? { kind: 'concat', nodes } : first;
  }

  /** Returns undefined for constructs that match nothing themselves, such as `(?i)`. */
  #atom(char: string): RegexpNode | undefined {
    switch (char) {
      case '(':
        return this.#group();
      case '[':
        return { kind: 'char', set: this.#bracketClass() };
      case '.':
        this.#at++;
        return { kind: 'char', set: this.#flags.dotAll ? anyChar : anyCharButNewline };
      case '^':
        this.#at++;
        return { kind: 'assert', assertion: this.#flags.multiLine ? 'line-start' : 'text-start' };
      case '$':
        this.#at++;
        return { kind: 'assert', assertion: this.#flags.multiLine ? 'line-end' : 'text-end' };
      case '*':
      case '+':
      case '?':
        throw new RegexpSyntaxError('missing argument to repetition operator', char);
      case '\\':
        return this.#escape();
      default:
        return this.#literal(this.#nextRune());
    }
  }

  #literal(rune: number): RegexpNode {
    const ranges = this.#flags.ignoreCase ? foldRanges([rune, rune]) : [rune, rune];
    return { kind: 'char', set: classOf(...ranges) };
  }

  #nextRune(): number {
    const rune = this.#pattern.codePointAt(this.#at) ?? 0;
    this.#at += rune > 0xffff ? 2 : 1;
    return rune;
  }

  #quantified(atom: RegexpNode): RegexpNode {
    let node = atom;
    let previous = '';
    for (;;) {
      const from = this.#at;
      const bounds = this.#quantifier();
      if (!bounds) return node;
      let lazy = this.#flags.swapGreed;
      if (this.#pattern[this.#at] === '?') {
        this.#at++;
        lazy = !lazy;
      }
      const text = this.#pattern.slice(from, this.#at);
      if (previous !== '') throw new RegexpSyntaxError('invalid nested repetition operator', previous + text);
      if (bounds.min > maxRepeat || (bounds.max !== Number.POSITIVE_INFINITY && bounds.max > maxRepeat))
        throw new RegexpSyntaxError('invalid repeat count', text);
      if (bounds.max < bounds.min) throw new RegexpSyntaxError('invalid repeat count', text);
      previous = text;
      node = { kind: 'repeat', node, min: bounds.min, max: bounds.max, lazy };
      // Go limits the product of nested repetitions, because each copy is compiled separately.
      if (copiesIn(node) > maxRepeat) throw new RegexpSyntaxError('invalid repeat count', text);
    }
  }

  #quantifier(): { min: number; max: number } | undefined {
    switch (this.#pattern[this.#at]) {
      case '*':
        this.#at++;
        return { min: 0, max: Number.POSITIVE_INFINITY };
      case '+':
        this.#at++;
        return { min: 1, max: Number.POSITIVE_INFINITY };
      case '?':
        this.#at++;
        return { min: 0, max: 1 };
      case '{': {
        const match = /^\{(\d{1,9})(,(\d{1,9})?)?\}/.exec(this.#pattern.slice(this.#at, this.#at + 24));
        // RE2 treats a brace that is not a repetition literally.
        if (!match) return undefined;
        this.#at += match[0].length;
        const min = Number(match[1]);
        return { min, max: match[2] === undefined ? min : match[3] ? Number(match[3]) : Number.POSITIVE_INFINITY };
      }
      default:
        return undefined;
    }
  }

  #group(): RegexpNode | undefined {
    const start = this.#at;
    const saved = { ...this.#flags };
    let capture = true;
    this.#at++;
    if (this.#pattern[this.#at] === '?') {
      capture = false;
      const name = /^\?P?<([^>]*)>/.exec(this.#pattern.slice(this.#at));
      if (name) {
        if (!/^\w+$/.test(name[1] ?? '')) throw new RegexpSyntaxError('invalid named capture', `(${name[0]}`);
        this.#at += name[0].length;
        capture = true;
      } else if (!this.#flagGroup(start)) return undefined;
    }
    if (++this.#depth > maxDepth) throw new RegexpSyntaxError('expression nests too deeply', this.#pattern);
    const node = this.#alternation();
    this.#depth--;
    if (this.#pattern[this.#at] !== ')') throw new RegexpSyntaxError('missing closing )', this.#pattern);
    this.#at++;
    this.#flags = saved;
    return capture ? { kind: 'capture', node } : node;
  }

  /** Parses `?flags:` or `?flags)`. Returns whether a group body follows. */
  #flagGroup(start: number): boolean {
    this.#at++;
    const flags = { ...this.#flags };
    let value = true;
    for (;;) {
      const char = this.#pattern[this.#at++];
      switch (char) {
        case 'i':
          flags.ignoreCase = value;
          break;
        case 'm':
          flags.multiLine = value;
          break;
        case 's':
          flags.dotAll = value;
          break;
        case 'U':
          flags.swapGreed = value;
          break;
        case '-':
          if (!value) throw this.#badGroup(start);
          value = false;
          break;
        case ':':
        case ')':
          this.#flags = flags;
          return char === ':';
        case undefined:
          throw new RegexpSyntaxError('missing closing )', this.#pattern);
        default:
          throw this.#badGroup(start);
      }
    }
  }

  #badGroup(start: number): RegexpSyntaxError {
    return new RegexpSyntaxError('invalid or unsupported Perl syntax', this.#pattern.slice(start, this.#at));
  }

  #escape(): RegexpNode {
    const start = this.#at;
    const char = this.#pattern[start + 1];
    if (char === undefined) throw new RegexpSyntaxError('trailing backslash at end of expression', '');
    const perl = perlClasses[char];
    if (perl) {
      this.#at += 2;
      return { kind: 'char', set: classOf(...perl) };
    }
    switch (char) {
      case 'A':
        this.#at += 2;
        return { kind: 'assert', assertion: 'text-start' };
      case 'z':
        this.#at += 2;
        return { kind: 'assert', assertion: 'text-end' };
      case 'b':
        this.#at += 2;
        return { kind: 'assert', assertion: 'word-boundary' };
      case 'B':
        this.#at += 2;
        return { kind: 'assert', assertion: 'no-word-boundary' };
      case 'p':
      case 'P':
        return { kind: 'char', set: { ranges: [], properties: [this.#property()], negated: false } };
      case 'Q':
        return this.#quoted();
      default:
        return this.#literal(this.#escapedRune());
    }
  }

  #quoted(): RegexpNode {
    this.#at += 2;
    const end = this.#pattern.indexOf('\\E', this.#at);
    const text = this.#pattern.slice(this.#at, end < 0 ? undefined : end);
    this.#at = end < 0 ? this.#pattern.length : end + 2;
    return { kind: 'concat', nodes: [...text].map((char) => this.#literal(char.codePointAt(0) ?? 0)) };
  }

  #property(): { test: RegExp; wanted: boolean } {
    const start = this.#at;
    let wanted = this.#pattern[start + 1] === 'p';
    this.#at += 2;
    let name: string;
    if (this.#pattern[this.#at] === '{') {
      const end = this.#pattern.indexOf('}', this.#at);
      if (end < 0) throw new RegexpSyntaxError('invalid character class range', this.#pattern.slice(start));
      name = this.#pattern.slice(this.#at + 1, end);
      this.#at = end + 1;
    } else {
      name = String.fromCodePoint(this.#nextRune());
    }
    if (name.startsWith('^')) {
      wanted = !wanted;
      name = name.slice(1);
    }
    const test = unicodeProperty(name);
    if (!test) throw new RegexpSyntaxError('invalid character class range', this.#pattern.slice(start, this.#at));
    return { test, wanted };
  }

  #escapedRune(): number {
    const start = this.#at;
    this.#at++;
    const rest = this.#pattern.slice(this.#at, this.#at + 12);
    const simple = /^[aftnrv]/.exec(rest);
    if (simple) {
      this.#at++;
      return must({ a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 }[simple[0]], simple[0]);
    }
    const numeric = /^(?:x\{([0-9A-Fa-f]{1,8})\}|x([0-9A-Fa-f]{2})|(0[0-7]{0,2}|[1-7][0-7]{1,2}))/.exec(rest);
    if (numeric) {
      this.#at += numeric[0].length;
      const rune =
        numeric[3] === undefined ? Number.parseInt(numeric[1] ?? numeric[2] ?? '', 16) : Number.parseInt(numeric[3], 8);
      if (rune <= 0x10ffff) return rune;
    } else if (/^[^A-Za-z0-9]/u.test(rest)) {
      return this.#nextRune();
    } else {
      this.#nextRune();
    }
    throw new RegexpSyntaxError('invalid escape sequence', this.#pattern.slice(start, this.#at));
  }

  #bracketClass(): CharClass {
    const start = this.#at;
    this.#at++;
    let negated = false;
    if (this.#pattern[this.#at] === '^') {
      negated = true;
      this.#at++;
    }
    const ranges: number[] = [];
    const properties: { test: RegExp; wanted: boolean }[] = [];
    for (let first = true; ; first = false) {
      const char = this.#pattern[this.#at];
      if (char === undefined) throw new RegexpSyntaxError('missing closing ]', this.#pattern.slice(start));
      if (char === ']' && !first) break;
      if (char === '[' && this.#posixClass(ranges)) continue;
      if (char === '\\') {
        const next = this.#pattern[this.#at + 1] ?? '';
        if (perlClasses[next]) {
          ranges.push(...perlClasses[next]);
          this.#at += 2;
          continue;
        }
        if (next === 'p' || next === 'P') {
          properties.push(this.#property());
          continue;
        }
      }
      const from = this.#at;
      const low = this.#classRune(start);
      let high = low;
      if (this.#pattern[this.#at] === '-' && (this.#pattern[this.#at + 1] ?? ']') !== ']') {
        this.#at++;
        high = this.#classRune(start);
        if (high < low)
          throw new RegexpSyntaxError('invalid character class range', this.#pattern.slice(from, this.#at));
      }
      ranges.push(low, high);
    }
    this.#at++;
    return {
      ranges: this.#flags.ignoreCase ? foldRanges(normalizeRanges(ranges)) : normalizeRanges(ranges),
      properties,
      negated,
    };
  }

  #classRune(start: number): number {
    if (this.#at >= this.#pattern.length) throw new RegexpSyntaxError('missing closing ]', this.#pattern.slice(start));
    return this.#pattern[this.#at] === '\\' ? this.#escapedRune() : this.#nextRune();
  }

  #posixClass(ranges: number[]): boolean {
    const match = /^\[:(\^?)([a-z]+):\]/.exec(this.#pattern.slice(this.#at, this.#at + 16));
    if (!match) return false;
    const members = posixClasses[match[2] ?? ''];
    if (!members) throw new RegexpSyntaxError('invalid character class range', match[0]);
    ranges.push(...(match[1] === '^' ? complement(members) : members));
    this.#at += match[0].length;
    return true;
  }
}
