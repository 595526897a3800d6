import { must } from '../../machinery/index.ts';

type Step = { readonly kind: 'any' } | { readonly kind: 'one'; fits(rune: string): boolean };

/** Parses `*`, `?`, `[a-z]` and `\x`. Returns undefined for an invalid pattern. */
function steps(pattern: readonly string[]): Step[] | undefined {
  const result: Step[] = [];
  for (let i = 0; i < pattern.length; i++) {
    const rune = must(pattern[i], 'pattern[i]');
    if (rune === '*') result.push({ kind: 'any' });
    else if (rune === '?') result.push({ kind: 'one', fits: () => true });
    else if (rune === '[') {
      const isNegated = pattern[i + 1] === '^';
      const ranges: [string, string][] = [];
      for (i += isNegated ? 2 : 1; pattern[i] !== ']' || ranges.length === 0; i++) {
        if (pattern[i] === '\\') i++;
        const low = pattern[i];
        if (low === undefined) return undefined;
        let high: string | undefined = low;
        if (pattern[i + 1] === '-') {
          i += 2;
          if (pattern[i] === '\\') i++;
          high = pattern[i];
        }
        if (high === undefined) return undefined;
        ranges.push([low, high]);
      }
      result.push({
        kind: 'one',
        fits: (char) => ranges.some(([low, high]) => char >= low && char <= high) !== isNegated,
      });
    } else {
      const literal = rune === '\\' ? pattern[++i] : rune;
      if (literal === undefined) return undefined;
      result.push({ kind: 'one', fits: (char) => char === literal });
    }
  }
  return result;
}

/** Returns the lengths of all non-empty prefixes that match a glob, shortest first, in one pass over the text. */
export function fittingPrefixes(pattern: readonly string[], text: readonly string[]): number[] {
  const program = steps(pattern);
  if (!program) return [];
  const close = (states: Set<number>): Set<number> => {
    for (const at of states) if (program[at]?.kind === 'any') states.add(at + 1);
    return states;
  };
  let current = close(new Set([0]));
  const found: number[] = [];
  for (const [index, rune] of text.entries()) {
    const next = new Set<number>();
    for (const at of current) {
      const step = program[at];
      if (step?.kind === 'any') next.add(at);
      else if (step?.fits(rune)) next.add(at + 1);
    }
    current = close(next);
    if (current.size === 0) break;
    if (current.has(program.length)) found.push(index + 1);
  }
  return found;
}
