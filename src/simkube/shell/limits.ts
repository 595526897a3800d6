import type { ShellHost } from './host.ts';

/** Limits of one script. Realistic scripts need a fraction of them. */
export const shellLimits: {
  /** nested functions, substitutions and scripts */
  readonly nesting: number;
  /** characters of a script that is parsed at once */
  readonly script: number;
  /** characters of a text that is built: a word, or output captured for another command */
  readonly text: number;
  /** characters of all variables */
  readonly variables: number;
  /** words of one command */
  readonly words: number;
  readonly functions: number;
  /** concurrent background commands */
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

/** A script exceeded a limit. It ends at once. */
export class ShellLimitError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ShellLimitError';
  }
}

const freeSteps = 1_000;
const sliceSteps = 200;
const sliceRestMs = 20;

/** Divides the time of the process between all its shells: the more are busy, the longer each one rests. */
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

/** Resources used by a script and everything it starts. A step is about the cost of one plain command. */
export class ShellUse {
  /** background commands */
  jobs = 0;
  #spent = -freeSteps;

  spend(steps: number): void {
    this.#spent += steps;
  }

  /** Adds the cost of copied or scanned characters. */
  spendText(length: number): void {
    this.#spent += length / 4096;
  }

  /** Must be awaited between units of work, because a script that never waits would block the event loop. */
  async breathe(host: ShellHost): Promise<void> {
    if (this.#spent < sliceSteps) return;
    const steps = this.#spent;
    this.#spent = 0;
    await host.pace.rest(host, steps);
  }
}

/** Variables of a shell, with a limit for their total size. */
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

/** Collects text in pieces, up to a limit. */
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
    // Many small pieces take more memory than their text.
    if (this.#pieces.length >= 4096) this.#pieces.splice(0, this.#pieces.length, this.#pieces.join(''));
  }

  text(): string {
    return this.#pieces.join('');
  }
}
