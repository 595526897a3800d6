import type { StepBudget } from '../machinery/index.ts';
import { LimitError } from './errors.ts';
import type { PrintBudget } from './format/index.ts';

/** Limits of one rendering. They do not depend on time, so the same template and data always stop at the same point. */
export interface Limits {
  /** commands, statements, loop iterations, elements processed by functions */
  readonly steps: number;
  /** nesting of blocks, parentheses and templates */
  readonly depth: number;
  /** characters of the output and of any intermediate string */
  readonly outputCharacters: number;
}

export const defaultLimits: Limits = { steps: 2_000_000, depth: 300, outputCharacters: 16 * 1024 * 1024 };

/** Number of copied characters per step. */
const charactersPerStep = 64;
/** Steps of a regular expression per template step, because they are cheaper. */
const regexpStepsPerStep = 20;

/** Counts the use of a rendering. Throws LimitError. */
export class Budget implements PrintBudget {
  readonly limits: Limits;
  readonly #account: StepBudget | undefined;
  #steps = 0;
  #depth = 0;
  #written = 0;

  /** `account` is a budget shared with other renderings. */
  constructor(limits: Limits, account?: StepBudget) {
    this.limits = limits;
    this.#account = account;
  }

  spend(steps: number): void {
    this.#take(steps);
    if (this.#steps > this.limits.steps) throw new LimitError(`more than ${this.limits.steps} steps`);
    if (this.#account && this.#account.left < 0) throw new LimitError('more steps than are left for all together');
  }

  #take(steps: number): void {
    this.#steps += steps;
    if (this.#account) this.#account.left -= steps;
  }

  reserve(characters: number): void {
    if (characters > this.limits.outputCharacters) {
      throw new LimitError(`a text of more than ${this.limits.outputCharacters} characters`);
    }
    if (characters >= charactersPerStep) this.spend(Math.ceil(characters / charactersPerStep));
  }

  wrote(characters: number): void {
    this.#written += characters;
    if (this.#written > this.limits.outputCharacters) {
      throw new LimitError(`more than ${this.limits.outputCharacters} characters of output`);
    }
  }

  enter(): void {
    if (++this.#depth > this.limits.depth) throw new LimitError(`nested more than ${this.limits.depth} levels deep`);
  }

  leave(): void {
    this.#depth--;
  }

  /** Charges a regular expression to this rendering. */
  matching<T>(match: (budget: StepBudget) => T): T {
    const left = Math.min(this.limits.steps - this.#steps, this.#account?.left ?? Number.POSITIVE_INFINITY);
    const available = Math.max(0, left) * regexpStepsPerStep;
    const budget: StepBudget = { left: available };
    try {
      return match(budget);
    } finally {
      this.#take(Math.ceil((available - Math.max(0, budget.left)) / regexpStepsPerStep));
    }
  }
}
