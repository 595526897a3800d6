import type { Random } from '../../machinery/index.ts';

/** Milliseconds: exactly so many, or anything between two bounds. */
export type Timing = number | readonly [min: number, max: number];

export interface TimingOptions {
  /** named steps that take another time than they do by default */
  readonly timings?: Readonly<Record<string, Timing>>;
  /** multiplies every duration; 0 makes every step as quick as the clock allows */
  readonly timeScale?: number;
}

/** How long the cloud takes for its asynchronous steps, as data. */
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

  /** Declares steps and how long they take on a usual cloud. */
  declare(defaults: Readonly<Record<string, Timing>>): void {
    for (const [name, timing] of Object.entries(defaults)) this.#defaults.set(name, timing);
  }

  /** How long the step takes this time. */
  sample(name: string): number {
    const timing = this.#overrides.get(name) ?? this.#defaults.get(name);
    if (timing === undefined) throw new Error(`step ${name} has no timing`);
    if (typeof timing === 'number') return timing * this.#scale;
    return Math.round((timing[0] + this.#random.next() * (timing[1] - timing[0])) * this.#scale);
  }

  /** Every step with the time it takes now. */
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
