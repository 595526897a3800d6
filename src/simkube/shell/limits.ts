import type { ShellHost } from './host.ts';

/** What one script may have; a script of a person needs a fraction of it. */
export const shellLimits: {
  /** functions, substitutions and scripts within each other */
  readonly nesting: number;
  /** characters of a script that is read at once */
  readonly script: number;
  /** characters of a text that is put together: a word, what a command writes for another one */
  readonly text: number;
  /** characters of all variables */
  readonly variables: number;
  /** words of one command */
  readonly words: number;
  readonly functions: number;
  /** commands in the background at the same time */
  readonly jobs: number;
} = {
  nesting: 100,
  script: 512 * 1024,
  text: 2 * 1024 * 1024,
  variables: 1024 * 1024,
  words: 50_000,
  functions: 1_000,
  jobs: 32,
};

/** A script wants more than it may have. It ends with this, whatever it is in the middle of. */
export class ShellLimitError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ShellLimitError';
  }
}

const freeSteps = 1_000;
const sliceSteps = 200;
const sliceRestMs = 20;

/** Shares the time of the process among all shells in it: the more of them are busy, the longer each one rests. */
export class ShellPace {
  #resting = 0;

  async rest(host: ShellHost, steps: number): Promise<void> {
    this.#resting++;
    try {
      await host.pass(Math.ceil(steps / sliceSteps) * sliceRestMs * this.#resting);
    } finally {
      this.#resting--;
    }
  }
}

/** What a script and all it starts have used up. A step is about what one plain command costs. */
export class ShellUse {
  /** commands in the background */
  jobs = 0;
  #spent = -freeSteps;

  spend(steps: number): void {
    this.#spent += steps;
  }

  /** characters that were copied or looked at */
  spendText(length: number): void {
    this.#spent += length / 4096;
  }

  /** To be awaited between pieces of work: a script that never waits would keep everybody else from their turn. */
  async breathe(host: ShellHost): Promise<void> {
    if (this.#spent < sliceSteps) return;
    const steps = this.#spent;
    this.#spent = 0;
    await host.pace.rest(host, steps);
  }
}

/** The variables of a shell, which together have an end. */
export class ShellVariables extends Map<string, string> {
  #size = 0;

  constructor(entries: Iterable<readonly [string, string]> = []) {
    super();
    for (const [name, value] of entries) this.set(name, value);
  }

  override set(name: string, value: string): this {
    this.#size += cost(name, value) - this.#costOf(name);
    if (this.#size > shellLimits.variables) throw new ShellLimitError('cannot allocate memory');
    return super.set(name, value);
  }

  override delete(name: string): boolean {
    this.#size -= this.#costOf(name);
    return super.delete(name);
  }

  override clear(): void {
    this.#size = 0;
    super.clear();
  }

  #costOf(name: string): number {
    const value = this.get(name);
    return value === undefined ? 0 : cost(name, value);
  }
}

function cost(name: string, value: string): number {
  return name.length + value.length + 64;
}

/** Text that is gathered piece by piece, up to a limit. */
export class Gathered {
  readonly #pieces: string[] = [];
  #length: number;

  constructor(start = '') {
    if (start !== '') this.#pieces.push(start);
    this.#length = start.length;
  }

  add(text: string): void {
    if (text === '') return;
    this.#length += text.length;
    if (this.#length > shellLimits.text) throw new ShellLimitError('cannot allocate memory');
    this.#pieces.push(text);
    // Many small pieces weigh more than their text.
    if (this.#pieces.length >= 4096) this.#pieces.splice(0, this.#pieces.length, this.#pieces.join(''));
  }

  text(): string {
    return this.#pieces.join('');
  }
}
