import { must } from '../../machinery/index.ts';

/** A syntax error in a pattern of Go's filepath.Match. */
export class BadPattern extends Error {
  constructor() {
    super('syntax error in pattern');
    this.name = 'BadPattern';
  }
}

type Piece =
  | { readonly kind: 'any' }
  | { readonly kind: 'one' }
  | { readonly kind: 'char'; readonly char: string }
  | { readonly kind: 'class'; readonly isNegated: boolean; readonly ranges: readonly (readonly [string, string])[] };

/** Pattern of Go's filepath.Match: `*`, `?` and `[a-z]` do not match slashes. */
export class PathPattern {
  readonly #pieces: readonly Piece[];

  constructor(pattern: string) {
    this.#pieces = pieces(pattern);
  }

  /** Takes time proportional to pattern times text. */
  matches(path: string): boolean {
    // Shortcut: most patterns and paths differ in the first character.
    const [first] = this.#pieces;
    if (first?.kind === 'char' && !path.startsWith(first.char)) return false;
    const chars = [...path];
    let states = new Set([0]);
    const close = (reached: Set<number>): void => {
      for (const state of reached) if (this.#pieces[state]?.kind === 'any') reached.add(state + 1);
    };
    close(states);
    for (const char of chars) {
      const next = new Set<number>();
      for (const state of states) {
        const piece = this.#pieces[state];
        if (!piece || !fits(piece, char)) continue;
        next.add(piece.kind === 'any' ? state : state + 1);
      }
      if (next.size === 0) return false;
      close(next);
      states = next;
    }
    return states.has(this.#pieces.length);
  }
}

function fits(piece: Piece, char: string): boolean {
  switch (piece.kind) {
    case 'any':
    case 'one':
      return char !== '/';
    case 'char':
      return char === piece.char;
    case 'class':
      return piece.ranges.some(([from, to]) => char >= from && char <= to) !== piece.isNegated;
  }
}

function pieces(pattern: string): Piece[] {
  const chars = [...pattern];
  const result: Piece[] = [];
  let at = 0;
  const escaped = (): string => {
    if (chars[at] === '\\') at++;
    const char = chars[at++];
    if (char === undefined) throw new BadPattern();
    return char;
  };
  while (at < chars.length) {
    const char = must(chars[at], 'chars[at]');
    if (char === '*') {
      at++;
      if (result.at(-1)?.kind !== 'any') result.push({ kind: 'any' });
    } else if (char === '?') {
      at++;
      result.push({ kind: 'one' });
    } else if (char === '[') {
      at++;
      const isNegated = chars[at] === '^';
      if (isNegated) at++;
      const ranges: [string, string][] = [];
      while (chars[at] !== ']' || ranges.length === 0) {
        if (chars[at] === '-' || chars[at] === ']' || at >= chars.length) throw new BadPattern();
        const from = escaped();
        let to = from;
        if (chars[at] === '-') {
          at++;
          if (chars[at] === '-' || chars[at] === ']') throw new BadPattern();
          to = escaped();
        }
        ranges.push([from, to]);
      }
      at++;
      result.push({ kind: 'class', isNegated, ranges });
    } else result.push({ kind: 'char', char: escaped() });
  }
  return result;
}
