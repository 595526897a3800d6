import type { CharacterTest } from './characters.ts';
import { PatternError } from './syntax.ts';

type Token =
  | { readonly kind: 'many'; readonly test: CharacterTest }
  | { readonly kind: 'one'; readonly test: CharacterTest };

/** Maximum steps of one match or replacement: a fraction of a second. */
const maxSteps = 20_000_000;

interface Budget {
  left: number;
}

/** A shell pattern (`*`, `?`, `[a-z]`). Matching takes time proportional to pattern times text. */
export class Glob {
  readonly #tokens: readonly Token[];

  /** With `beyond`, `*` and `?` also match slashes. */
  constructor(pattern: string, { beyond = true }: { beyond?: boolean } = {}) {
    this.#tokens = tokensOf(pattern, beyond);
  }

  test(text: string): boolean {
    let isWhole = false;
    ends(
      this.#tokens,
      text.length,
      (index) => text.charCodeAt(index),
      (length) => {
        isWhole = length === text.length;
        return true;
      },
    );
    return isWhole;
  }

  /** Returns the length of the matching prefix; undefined if not even the empty prefix matches. */
  prefix(text: string, match: 'longest' | 'shortest'): number | undefined {
    return best(this.#tokens, text.length, (index) => text.charCodeAt(index), match);
  }

  /** Returns the length of the matching suffix. */
  suffix(text: string, match: 'longest' | 'shortest'): number | undefined {
    const last = text.length - 1;
    return best(this.#tokens.toReversed(), text.length, (index) => text.charCodeAt(last - index), match);
  }

  /** Replaces the first match or all matches. Matches are as long as possible. */
  replace(text: string, by: string, matches: 'all' | 'first'): string {
    let result = '';
    let from = 0;
    const budget = { left: maxSteps };
    for (let at = 0; at < text.length; ) {
      const start = at;
      const length =
        best(this.#tokens, text.length - start, (index) => text.charCodeAt(start + index), 'longest', budget) ?? 0;
      if (length === 0) {
        at++;
        continue;
      }
      result += text.slice(from, at) + by;
      at += length;
      from = at;
      if (matches !== 'all') break;
    }
    return result + text.slice(from);
  }
}

function best(
  tokens: readonly Token[],
  length: number,
  codeAt: (index: number) => number,
  match: 'longest' | 'shortest',
  budget?: Budget,
): number | undefined {
  let found: number | undefined;
  ends(
    tokens,
    length,
    codeAt,
    (end) => {
      found = end;
      return match === 'longest';
    },
    budget,
  );
  return found;
}

/** Yields the lengths of all matching prefixes, shortest first, until the callback returns false. */
function ends(
  tokens: readonly Token[],
  length: number,
  codeAt: (index: number) => number,
  onEnd: (length: number) => boolean,
  budget: Budget = { left: maxSteps },
): void {
  const states = tokens.length + 1;
  let current = new Uint8Array(states);
  let next = new Uint8Array(states);
  current[0] = 1;
  for (let at = 0; ; at++) {
    let isAlive = false;
    for (let state = 0; state < tokens.length; state++) {
      if (!current[state]) continue;
      isAlive = true;
      if (tokens[state]?.kind === 'many') current[state + 1] = 1;
    }
    if (current[tokens.length] && !onEnd(at)) return;
    if (!isAlive || at >= length) return;
    budget.left -= states;
    if (budget.left < 0) throw new PatternError('pattern takes too long for this text');
    next.fill(0);
    const code = codeAt(at);
    for (let state = 0; state < tokens.length; state++) {
      const token = tokens[state];
      if (!current[state] || !token?.test(code)) continue;
      next[token.kind === 'many' ? state : state + 1] = 1;
    }
    [current, next] = [next, current];
  }
}

function tokensOf(pattern: string, beyond: boolean): Token[] {
  const tokens: Token[] = [];
  const any: CharacterTest = beyond ? () => true : (code) => code !== slash;
  const literal = (char: string): void => {
    const wanted = char.charCodeAt(0);
    tokens.push({ kind: 'one', test: (code) => code === wanted });
  };
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern.charAt(i);
    if (char === '*') {
      if (tokens.at(-1)?.kind !== 'many') tokens.push({ kind: 'many', test: any });
    } else if (char === '?') tokens.push({ kind: 'one', test: any });
    else if (char === '\\' && i + 1 < pattern.length) literal(pattern.charAt(++i));
    else if (char === '[') {
      const end = pattern.indexOf(']', pattern[i + 1] === '!' || pattern[i + 1] === '^' ? i + 3 : i + 2);
      if (end < 0) literal(char);
      else {
        tokens.push({ kind: 'one', test: bracketTest(pattern.slice(i + 1, end)) });
        i = end;
      }
    } else literal(char);
  }
  return tokens;
}

const slash = '/'.charCodeAt(0);

function bracketTest(inside: string): CharacterTest {
  const isNegated = inside.startsWith('!') || inside.startsWith('^');
  const text = isNegated ? inside.slice(1) : inside;
  const ranges: (readonly [number, number])[] = [];
  for (let i = 0; i < text.length; i++) {
    const first = text.charCodeAt(i);
    if (text[i + 1] === '-' && i + 2 < text.length) {
      ranges.push([first, text.charCodeAt(i + 2)]);
      i += 2;
    } else ranges.push([first, first]);
  }
  return (code) => ranges.some(([from, to]) => code >= from && code <= to) !== isNegated;
}
