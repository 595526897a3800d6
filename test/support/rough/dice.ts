import { type Random, seededRandom } from '../../../src/machinery/index.ts';

/** Random choices, reproducible from a seed. */
export interface Dice {
  readonly random: Random;
  /** integer in [low, high] */
  between(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** calls one of the functions, chosen by weight */
  weighted<T>(choices: readonly (readonly [weight: number, make: () => T])[]): T;
  bytes(length: number): Buffer;
  /** random characters, including problematic ones */
  weirdText(maxLength: number): string;
}

const ranges: readonly (readonly [number, number])[] = [
  [0x20, 0x7e],
  [0x20, 0x7e],
  [0x61, 0x7a],
  [0x00, 0x1f],
  [0x80, 0x24f],
  [0x2000, 0x206f],
  [0xfe00, 0xffff],
  [0x1f300, 0x1f5ff],
];

export function dice(seed: number): Dice {
  const random = seededRandom(seed);
  const between = (low: number, high: number): number => low + Math.floor(random.next() * (high - low + 1));
  const pick = <T>(items: readonly T[]): T => items[between(0, items.length - 1)]!;
  return {
    random,
    between,
    pick,
    chance: (probability) => random.next() < probability,
    weighted(choices) {
      let total = 0;
      for (const [weight] of choices) total += weight;
      let left = random.next() * total;
      for (const [weight, make] of choices) {
        left -= weight;
        if (left < 0) return make();
      }
      return choices.at(-1)![1]();
    },
    bytes: (length) => Buffer.from(Array.from({ length }, () => between(0, 255))),
    weirdText(maxLength) {
      let text = '';
      for (let i = between(0, maxLength); i > 0; i--) text += String.fromCodePoint(between(...pick(ranges)));
      return text;
    },
  };
}

/** Combines a run's seed with an index, so that each index can be replayed on its own. */
export function seedAt(seed: number, position: number): number {
  return (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(position + 1, 0xc2b2ae35)) >>> 0;
}
