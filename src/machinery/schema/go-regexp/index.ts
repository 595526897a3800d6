import { findMatch, type Match, type StepBudget } from './match.ts';
import { parseRegexp } from './parse.ts';
import { compileProgram, type Program } from './program.ts';
import { StateCache } from './state-cache.ts';

export { type Match, RegexpBudgetExceeded, type StepBudget } from './match.ts';

/**
 * A regular expression in Go's dialect (RE2), as CRD patterns and CEL use it. Matching takes time linear in the text
 * whatever the pattern, so that no user-supplied expression can stall the process. A long pattern on a long text, or on very
 * many, still adds up: give a budget where a client brings both, and RegexpBudgetExceeded is thrown when it is used up.
 */
export class GoRegexp {
  readonly source: string;
  readonly #program: Program;
  readonly #states: StateCache | undefined;

  /** Throws RegexpSyntaxError when `source` is not valid in Go. */
  constructor(source: string) {
    this.source = source;
    this.#program = compileProgram(parseRegexp(source), source);
    this.#states = this.#program.needsContext ? undefined : new StateCache(this.#program);
  }

  /** whether any part of the text matches */
  test(text: string, budget?: StepBudget): boolean {
    return this.#states ? this.#states.test(text, budget) : findMatch(this.#program, text, 0, budget) !== undefined;
  }

  /** number of capture groups */
  get captures(): number {
    return this.#program.captures;
  }

  /** the leftmost match at or after `from`, as string offsets */
  find(text: string, from = 0, budget?: StepBudget): Match | undefined {
    return findMatch(this.#program, text, from, budget);
  }

  /** successive matches that do not overlap, at most `limit` of them */
  *findAll(text: string, limit: number = Number.POSITIVE_INFINITY, budget?: StepBudget): Generator<Match> {
    let at = 0;
    let previousEnd = -1;
    for (let count = 0; count < limit && at <= text.length; ) {
      const match = this.find(text, at, budget);
      if (!match) return;
      const [start = 0, end = 0] = match;
      // Go drops an empty match right after the previous one
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

/** Compiles once per distinct source. Returns the error's message when the pattern is not valid. */
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

/** What is wrong with a pattern in the words of Go, undefined when it is valid. */
export function validatePattern(source: string): string | undefined {
  const compiled = goRegexp(source);
  return typeof compiled === 'string' ? compiled : undefined;
}
