import { findMatch, type Match, type StepBudget } from './match.ts';
import { parseRegexp } from './parse.ts';
import { compileProgram, type Program } from './program.ts';
import { StateCache } from './state-cache.ts';

export { type Match, RegexpBudgetExceeded, type StepBudget } from './match.ts';

/**
 * A regular expression in Go's dialect (RE2), as CRD patterns and CEL use it. Matching is linear in the text for every
 * pattern, so user patterns cannot stall the process. A long pattern on long or very many texts still adds up. Pass a
 * budget if a client supplies both; RegexpBudgetExceeded is thrown when it is exhausted.
 */
export class GoRegexp {
  readonly source: string;
  readonly #program: Program;
  readonly #states: StateCache | undefined;

  /** Throws RegexpSyntaxError if `source` is invalid in Go. */
  constructor(source: string) {
    this.source = source;
    this.#program = compileProgram(parseRegexp(source), source);
    this.#states = this.#program.needsContext ? undefined : new StateCache(this.#program);
  }

  /** Reports whether any part of the text matches. */
  test(text: string, budget?: StepBudget): boolean {
    return this.#states ? this.#states.test(text, budget) : findMatch(this.#program, text, 0, budget) !== undefined;
  }

  /** Number of capture groups. */
  get captures(): number {
    return this.#program.captures;
  }

  /** Finds the leftmost match at or after `from`, as string offsets. */
  find(text: string, from = 0, budget?: StepBudget): Match | undefined {
    return findMatch(this.#program, text, from, budget);
  }

  /** Yields successive matches that do not overlap, at most `limit`. */
  *findAll(text: string, limit: number = Number.POSITIVE_INFINITY, budget?: StepBudget): Generator<Match> {
    let at = 0;
    let previousEnd = -1;
    for (let count = 0; count < limit && at <= text.length; ) {
      const match = this.find(text, at, budget);
      if (!match) return;
      const [start = 0, end = 0] = match;
      // Go drops an empty match directly after the previous match.
      if (end > start || start !== previousEnd) {
        yield match;
        count++;
        previousEnd = end;
      }
      at = end > start ? end : start + ((text.codePointAt(start) ?? 0) > 0xffff ? 2 : 1);
    }
  }
}

const cache = new Map<string, GoRegexp | string>();
const maxCached = 2_000;

/** Compiles each distinct source once. Returns the error message if the pattern is invalid. */
export function goRegexp(source: string): GoRegexp | string {
  let compiled = cache.get(source);
  if (compiled === undefined) {
    try {
      compiled = new GoRegexp(source);
    } catch (error) {
      compiled = error instanceof Error ? error.message : String(error);
    }
    if (cache.size >= maxCached) cache.clear();
    cache.set(source, compiled);
  }
  return compiled;
}

/** Returns Go's error text for a pattern; undefined if it is valid. */
export function validatePattern(source: string): string | undefined {
  const compiled = goRegexp(source);
  return typeof compiled === 'string' ? compiled : undefined;
}
