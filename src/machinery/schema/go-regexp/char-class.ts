const maxRune = 0x10ffff;

/** A set of code points: sorted, disjoint [low, high] pairs, plus Unicode properties tested by the platform. */
export interface CharClass {
  /** low0, high0, low1, high1, … */
  ranges: readonly number[];
  /** `\p{…}` members; `wanted` is false for `\P{…}` */
  properties: readonly { test: RegExp; wanted: boolean }[];
  negated: boolean;
}

export function classOf(...ranges: number[]): CharClass {
  return { ranges, properties: [], negated: false };
}

export const anyChar: CharClass = classOf(0, maxRune);
export const anyCharButNewline: CharClass = classOf(0, 9, 11, maxRune);

export function classContains(set: CharClass, rune: number): boolean {
  return inRanges(set, rune) !== set.negated;
}

function inRanges(set: CharClass, rune: number): boolean {
  const { ranges } = set;
  for (let i = 0; i < ranges.length; i += 2) {
    if (rune < (ranges[i] ?? 0)) break;
    if (rune <= (ranges[i + 1] ?? 0)) return true;
  }
  for (const property of set.properties) {
    if (property.test.test(String.fromCodePoint(rune)) === property.wanted) return true;
  }
  return false;
}

/** Sorts and merges ranges, so that membership tests can stop early. */
export function normalizeRanges(ranges: readonly number[]): number[] {
  const pairs = pairsOf(ranges).sort((a, b) => a[0] - b[0]);
  const result: number[] = [];
  for (const [low, high] of pairs) {
    const last = result.at(-1);
    if (last !== undefined && low <= last + 1) result[result.length - 1] = Math.max(last, high);
    else result.push(low, high);
  }
  return result;
}

function pairsOf(ranges: readonly number[]): [number, number][] {
  const pairs: [number, number][] = [];
  for (let i = 0; i < ranges.length; i += 2) pairs.push([ranges[i] ?? 0, ranges[i + 1] ?? 0]);
  return pairs;
}

export function complement(ranges: readonly number[]): number[] {
  const result: number[] = [];
  let next = 0;
  for (const [low, high] of pairsOf(normalizeRanges(ranges))) {
    if (low > next) result.push(next, low - 1);
    next = high + 1;
  }
  if (next <= maxRune) result.push(next, maxRune);
  return result;
}

/** Adds the other case of every letter, for `(?i)`. In wide ranges only ASCII letters are folded. */
export function foldRanges(ranges: readonly number[]): number[] {
  const result = [...ranges];
  for (const [low, high] of pairsOf(ranges)) {
    for (let rune = low; rune <= Math.min(high, low + 2_000); rune++) {
      const char = String.fromCodePoint(rune);
      for (const other of [char.toLowerCase(), char.toUpperCase()]) {
        const folded = other.codePointAt(0) ?? 0;
        if (folded !== rune && other.length === (folded > 0xffff ? 2 : 1)) result.push(folded, folded);
      }
    }
    if (low <= 0x7a && high >= 0x7a) result.push(0x41, 0x5a, 0x61, 0x7a);
  }
  return normalizeRanges(result);
}

const digits = [0x30, 0x39];
const spaces = [0x09, 0x0a, 0x0c, 0x0d, 0x20, 0x20];
const words = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];

/** `\d`, `\s`, `\w` and their negations are ASCII only in RE2. */
export const perlClasses: Readonly<Record<string, readonly number[]>> = {
  d: digits,
  D: complement(digits),
  s: spaces,
  S: complement(spaces),
  w: words,
  W: complement(words),
};

export const posixClasses: Readonly<Record<string, readonly number[]>> = {
  alnum: [0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a],
  alpha: [0x41, 0x5a, 0x61, 0x7a],
  ascii: [0, 0x7f],
  blank: [0x09, 0x09, 0x20, 0x20],
  cntrl: [0, 0x1f, 0x7f, 0x7f],
  digit: digits,
  graph: [0x21, 0x7e],
  lower: [0x61, 0x7a],
  print: [0x20, 0x7e],
  punct: [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e],
  space: [0x09, 0x0d, 0x20, 0x20],
  upper: [0x41, 0x5a],
  word: words,
  xdigit: [0x30, 0x39, 0x41, 0x46, 0x61, 0x66],
};

/** Returns the matcher for `\p{name}`; undefined if no such category or script exists. */
export function unicodeProperty(name: string): RegExp | undefined {
  if (name === 'Any') return /[\s\S]/u;
  if (!/^[A-Za-z_]+$/.test(name)) return undefined;
  for (const expression of [name, `Script=${name}`]) {
    try {
      return new RegExp(`^\\p{${expression}}$`, 'u');
    } catch {
      // Not a category: try it as a script.
    }
  }
  return undefined;
}

export function isWordRune(rune: number): boolean {
  return (
    (rune >= 0x30 && rune <= 0x39) || (rune >= 0x41 && rune <= 0x5a) || rune === 0x5f || (rune >= 0x61 && rune <= 0x7a)
  );
}
