import type { Random } from '../../machinery/index.ts';

/** Duration in milliseconds: exact, or random between two bounds. */
export type Timing = number | readonly [min: number, max: number];

export interface TimingOptions {
  /** durations of named steps that override the defaults */
  readonly timings?: Readonly<Record<string, Timing>>;
  /** factor of all durations; 0 makes all steps as fast as the clock allows */
  readonly timeScale?: number;
}

/** Durations of the cloud's asynchronous steps, as data. */
export class Timings {
  readonly #random: Random;
  readonly #defaults = new Map<string, Timing>();
  readonly #overrides = new Map<string, Timing>();
  #scale: number;

  constructor(random: Random, options: TimingOptions = {}) {
    this.#random = random;
    this.#scale = options.timeScale ?? 1;
    for (const [name, timing] of Object.entries(options.timings ?? {})) this.#overrides.set(name, timing);
  }

  /** Declares steps with their default durations, typical of real clouds. */
  declare(defaults: Readonly<Record<string, Timing>>): void {
    for (const [name, timing] of Object.entries(defaults)) this.#defaults.set(name, timing);
  }

  /** Returns a duration of the step. */
  sample(name: string): number {
    const timing = this.#overrides.get(name) ?? this.#defaults.get(name);
    if (timing === undefined) throw new Error(`step ${name} has no timing`);
    if (typeof timing === 'number') return timing * this.#scale;
    return Math.round((timing[0] + this.#random.next() * (timing[1] - timing[0])) * this.#scale);
  }

  /** Lists all steps with their current durations. */
  list(): Record<string, Timing> {
    return Object.fromEntries([...this.#defaults, ...this.#overrides]);
  }

  change(options: TimingOptions): void {
    for (const name of Object.keys(options.timings ?? {})) {
      if (!this.#defaults.has(name)) throw new RangeError(`there is no step "${name}"`);
    }
    for (const [name, timing] of Object.entries(options.timings ?? {})) this.#overrides.set(name, timing);
    if (options.timeScale !== undefined) this.#scale = options.timeScale;
  }

  get scale(): number {
    return this.#scale;
  }
}
